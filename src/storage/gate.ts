/**
 * The gate of a domain in its row. Every change is computed from the row as read and written only if no other write came first, so
 * the rules stay in one place, in src/core/gate.ts, and no lock is held in between.
 */

import {
  type Entry,
  type EntryEnd,
  type EntryVerdict,
  enter,
  type Gate,
  type GateRules,
  leave,
  openedBy,
  type Reporter,
  started,
} from '../core/gate.ts';
import type { OriginOutage } from '../core/slot-protocol.ts';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import { IS_STOPPED } from './stop.ts';

/** Writers of one domain are few, and each is done in a moment. */
const MAX_TRIES = 20;

/** A local clock that was set, or a long request, makes it worth asking Postgres for the time. */
const MAX_CLOCK_ERROR_MS = 100;

/** The row of a domain, as it was at some time. */
export interface GateRow {
  gate: Gate;
  rules: GateRules;
  stopped: boolean;
  revision: number;
  /** Postgres's clock when it was read. */
  now: number;
}

/** A row that may be outdated. A change computed from it is written only if it is not. */
export interface GateReading {
  row: GateRow;
  /** What Postgres's clock shows now, as this process can tell by its own clocks. */
  clock: { atLeast(): number; atMost(): number };
}

export type PassResult =
  /** `openedAt`: on Postgres's clock. The request must not start before. */
  | { kind: 'go'; gapMs: number; openedAt: number; reading: GateReading }
  | (Exclude<EntryVerdict, { kind: 'go' }> & { reading: GateReading | null });

const STOPPED = { kind: 'void', reason: 'everything is stopped' } as const;

/** `known` saves reading the row if nobody has changed it since. */
export async function passGate(
  db: Database,
  domain: string,
  entry: Entry,
  known: GateReading | null = null,
  read: () => Promise<GateReading | null> = async () => asRead(await readGate(db, domain)),
): Promise<PassResult> {
  let reading = known;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    reading ??= await read();
    if (reading === null) {
      await putOnRecord(db, domain);
      continue;
    }
    const { row } = reading;
    const verdict = row.stopped ? STOPPED : enter(row.gate, row.rules, entry, reading.clock.atLeast());
    if (verdict.kind === 'go') {
      // The row may be outdated: an order to stop counts from the moment it is given.
      if (await writeGate(db, domain, row.revision, verdict.gate, Prisma.sql`AND NOT ${IS_STOPPED}`)) {
        const written = { ...row, gate: verdict.gate, revision: row.revision + 1 };
        const { gapMs, openedAt } = verdict;
        return { kind: 'go', gapMs, openedAt, reading: { ...reading, row: written } };
      }
    } else if (reading !== known || verdict.kind === 'wait') return { ...verdict, reading };
    reading = null;
  }
  return { kind: 'busy', reading: null };
}

/** Its throttle has granted the lease, so there was a row: it is missing since an older database was restored. */
async function putOnRecord(db: Database, domain: string): Promise<void> {
  await db.$executeRaw`INSERT INTO domains (name) VALUES (${domain}) ON CONFLICT DO NOTHING`;
}

/** `agoMs` must be known before this is called: time that passes later makes the start look later, never earlier. */
export function recordStarted(
  db: Database,
  domain: string,
  reporter: Reporter,
  agoMs: number,
): Promise<void> {
  return changeGate(db, domain, null, (gate, now) => started(gate, reporter, agoMs, now));
}

/** Returns whether the request had been let through. */
export async function leaveGate(
  db: Database,
  domain: string,
  reporter: Reporter,
  end: EntryEnd,
  known: GateReading | null = null,
): Promise<boolean> {
  let wasOpen = false;
  await changeGate(db, domain, known, (gate, now) => {
    wasOpen = openedBy(gate, reporter) !== undefined;
    return leave(gate, reporter, end, now);
  });
  return wasOpen;
}

async function changeGate(
  db: Database,
  domain: string,
  known: GateReading | null,
  change: (gate: Gate, now: number) => Gate,
): Promise<void> {
  let reading = known && isExact(known) ? known : null;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    reading ??= asRead(await readGate(db, domain));
    if (reading === null) return;
    const { row } = reading;
    const changed = change(row.gate, reading.clock.atMost());
    const isUnchanged = changed === row.gate;
    if (isUnchanged ? reading !== known : await writeGate(db, domain, row.revision, changed)) return;
    reading = null;
  }
  throw new Error(`The row of ${domain} changed ${MAX_TRIES} times while it was being written.`);
}

function isExact({ clock }: GateReading): boolean {
  return clock.atMost() - clock.atLeast() <= MAX_CLOCK_ERROR_MS;
}

/** A row that was read just now. */
function asRead(row: GateRow | null): GateReading | null {
  return row && { row, clock: { atLeast: () => row.now, atMost: () => row.now } };
}

/** The columns of `domains` that make a GateRow. */
export interface GateColumns {
  gate: Gate;
  paused: boolean;
  min_gap_ms: number;
  valid_from: number;
  outages: Record<string, OriginOutage>;
  revision: number;
  stopped: boolean;
  now: number;
}

export const GATE_COLUMNS = Prisma.sql`
  domains.gate, domains.paused, domains.min_gap_ms, domains.valid_from, domains.outages, domains.revision,
  ${IS_STOPPED} AS stopped, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`;

export function toGateRow(columns: GateColumns): GateRow {
  const {
    gate,
    paused,
    min_gap_ms: minGapMs,
    valid_from: validFrom,
    outages,
    revision,
    stopped,
    now,
  } = columns;
  const originsValidFrom = Object.fromEntries(
    Object.entries(outages).map(([origin, outage]) => [origin, outage.validFrom]),
  );
  return { gate, rules: { paused, minGapMs, validFrom, originsValidFrom }, stopped, revision, now };
}

export async function readGate(db: Database, domain: string): Promise<GateRow | null> {
  const [row] = await db.$queryRaw<GateColumns[]>`SELECT ${GATE_COLUMNS} FROM domains WHERE name = ${domain}`;
  return row === undefined ? null : toGateRow(row);
}

async function writeGate(
  db: Database,
  domain: string,
  revision: number,
  gate: Gate,
  condition: Prisma.Sql = Prisma.empty,
): Promise<boolean> {
  const written = await db.$executeRaw`
    UPDATE domains SET gate = ${gate}::jsonb, revision = revision + 1
    WHERE name = ${domain} AND revision = ${revision} ${condition}`;
  return written === 1;
}
