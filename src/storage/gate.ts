/**
 * The gate of a domain in its row. Every change is computed from the row as read and written only if no other write came first, so
 * the rules stay in one place, in src/throttle/gate.ts, and no lock is held in between.
 */

import {
  type Entry,
  type EntryEnd,
  type EntryVerdict,
  enter,
  type Gate,
  type GateRules,
  leave,
  started,
} from '../core/gate.ts';
import type { OriginOutage } from '../core/slot-protocol.ts';
import type { Database } from './database.ts';

/** Writers of one domain are few, and each is done in a moment. */
const MAX_TRIES = 20;

export type PassResult =
  /** `now`: a time on Postgres's clock while the gate was asked. */
  { kind: 'go'; gapMs: number; now: number } | Exclude<EntryVerdict, { kind: 'go' }>;

const NOT_ON_RECORD = { kind: 'void', reason: 'the domain is not on record' } as const;

/** `onRead`: called when `now` has just been read. */
export async function passGate(
  db: Database,
  domain: string,
  entry: Entry,
  onRead: () => void = () => {},
): Promise<PassResult> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const row = await readGate(db, domain);
    onRead();
    if (row === null) return NOT_ON_RECORD;
    const verdict = enter(row.gate, row.rules, entry, row.now);
    if (verdict.kind !== 'go') return verdict;
    if (await writeGate(db, domain, row.revision, verdict.gate))
      return { kind: 'go', gapMs: verdict.gapMs, now: row.now };
  }
  return { kind: 'busy' };
}

/** `agoMs` must be known before this is called: time that passes later makes the start look later, never earlier. */
export function recordStarted(db: Database, domain: string, leaseId: string, agoMs: number): Promise<void> {
  return changeGate(db, domain, (gate, now) => started(gate, leaseId, agoMs, now));
}

export function leaveGate(db: Database, domain: string, leaseId: string, end: EntryEnd): Promise<void> {
  return changeGate(db, domain, (gate, now) => leave(gate, leaseId, end, now));
}

async function changeGate(
  db: Database,
  domain: string,
  change: (gate: Gate, now: number) => Gate,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const row = await readGate(db, domain);
    if (row === null) return;
    const changed = change(row.gate, row.now);
    if (changed === row.gate || (await writeGate(db, domain, row.revision, changed))) return;
  }
  throw new Error(`The row of ${domain} changed ${MAX_TRIES} times while it was being written.`);
}

interface GateRow {
  gate: Gate;
  rules: GateRules;
  revision: number;
  now: number;
}

async function readGate(db: Database, domain: string): Promise<GateRow | null> {
  const [row] = await db.$queryRaw<
    Array<{
      gate: Gate;
      paused: boolean;
      min_gap_ms: number;
      valid_from: number;
      outages: Record<string, OriginOutage>;
      revision: number;
      now: number;
    }>
  >`SELECT gate, paused, min_gap_ms, valid_from, outages, revision,
           (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
    FROM domains WHERE name = ${domain}`;
  if (row === undefined) return null;
  const { gate, paused, min_gap_ms: minGapMs, valid_from: validFrom, outages, revision, now } = row;
  const originsValidFrom = Object.fromEntries(
    Object.entries(outages).map(([origin, outage]) => [origin, outage.validFrom]),
  );
  return { gate, rules: { paused, minGapMs, validFrom, originsValidFrom }, revision, now };
}

async function writeGate(db: Database, domain: string, revision: number, gate: Gate): Promise<boolean> {
  const written = await db.$executeRaw`
    UPDATE domains SET gate = ${gate}::jsonb, revision = revision + 1
    WHERE name = ${domain} AND revision = ${revision}`;
  return written === 1;
}
