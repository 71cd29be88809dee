/**
 * The gate of a domain: the last check before a request starts. Its state is one row in Postgres, which all workers share. A
 * lease says when a request is planned; the gate alone decides whether it may start now, so a late, lost or repeated lease
 * cannot make a gap shorter. Times are milliseconds on Postgres's clock: the gate knows no other.
 */

/** A request that was let through and has not been reported as finished. */
export interface OpenRequest {
  leaseId: string;
  passId: string;
  /** The earliest time at which it may start. */
  openedAt: number;
  /** The latest time at which it may start. */
  startBy: number;
  /** null: not reported yet. */
  startedAt: number | null;
  /** Without a report, it counts as finished after this time. */
  endsBy: number;
  /** The gap before it. */
  gapMs: number;
  /** Shortest delay of its crawl after it. */
  delayAfterMs: number;
  /** Concurrent fetches that its crawl allows, this one included. */
  concurrency: number;
  /** Another run of the same task may come with the same lease. */
  repeatable: boolean;
}

/** A lease that no longer counts, until nobody can come with it any more. */
interface SpentLease {
  leaseId: string;
  until: number;
}

export interface Gate {
  /** The latest time at which a finished request may have started. null: none yet. */
  lastStart: number | null;
  /** End of the delays after all finished requests. */
  delayUntil: number;
  open: OpenRequest[];
  /**
   * Leases that somebody may still come with: those of requests that have ended and whose task may be repeated, and those that their
   * pages gave up for lost. Used again, a page would be fetched twice.
   */
  spent: SpentLease[];
}

/** What the throttle has decided for its domain. It applies at once, also to leases that were granted before. */
export interface GateRules {
  paused: boolean;
  /** No gap is shorter. */
  minGapMs: number;
  /** Leases of an older version are void. */
  validFrom: number;
  /** The same, by origin. */
  originsValidFrom: Record<string, number>;
}

/** What a worker asks of the gate. */
export interface Entry {
  leaseId: string;
  /** Of this run of the fetch. A task that is repeated runs with the same lease, perhaps at the same time. */
  passId: string;
  origin: string;
  version: number;
  minGapMs: number;
  delayAfterMs: number;
  concurrency: number;
  /** The request starts within this time, or not at all. */
  startWithinMs: number;
  /** Once started, it ends within this time. */
  maxFetchMs: number;
  /** The task may be repeated, and come with the same lease within `REPEAT_WITHIN_MS` of its planned time. */
  repeatable: boolean;
}

/** Who reports on a request: the run of the fetch that made it, or its page, which knows only the lease (`passId` is null). */
export type Reporter = Pick<Entry, 'leaseId'> & { passId: string | null };

export type EntryVerdict =
  /** `gapMs`: the gap that is kept if the request does not start before `openedAt`. */
  | { kind: 'go'; gapMs: number; openedAt: number; gate: Gate }
  | { kind: 'wait'; ms: number }
  /** As many requests are open as the crawls allow, or it is not known yet when they started: a report may change that any time. */
  | { kind: 'busy' }
  /** The lease was used before, or given up. */
  | { kind: 'spent' }
  | { kind: 'void'; reason: string };

/**
 * How a request ended, as its worker knows it. `lost`: it may have started at any time up to `startBy`. `closeMs`: its response
 * changes the rules, so nothing passes for that long, until the throttle has written them.
 */
export type EntryEnd =
  | { kind: 'started'; agoMs: number; closeMs?: number }
  | { kind: 'unused' }
  | { kind: 'lost' };

/** Two requests reach a site at different speeds. On a calm network this much makes the site see the whole gap. */
const NETWORK_MARGIN_MS = 4;

/** So much before its time a request may be let through. Writing that takes some milliseconds, which would make every gap longer. */
const EARLY_MS = 50;

/** For people. */
export function lastStartOf({ lastStart, open }: Gate): number | null {
  const starts = [...(lastStart === null ? [] : [lastStart]), ...open.map(latestKnown)];
  return starts.length === 0 ? null : Math.max(...starts);
}

export const NEW_GATE: Gate = { lastStart: null, delayUntil: 0, open: [], spent: [] };

/** A workflow task that was lost is repeated after 10 s. */
export const REPEAT_WITHIN_MS = 15_000;

/** Longer than a lease may be used after its planned time, so that nobody comes with it after it is forgotten. */
const SPENT_MS = { ofRepeatable: REPEAT_WITHIN_MS + 5_000, ofLost: 70_000 };

/** Only so many are lost within that time if something else is wrong. */
const MAX_SPENT = 200;

export function enter(before: Gate, rules: GateRules, entry: Entry, now: number): EntryVerdict {
  if (isSpent(before, entry.leaseId)) return { kind: 'spent' };
  const reason = whyVoid(rules, entry);
  if (reason !== null) return { kind: 'void', reason };
  const gate = expire(before, now);
  const gapMs = Math.max(entry.minGapMs, rules.minGapMs);
  if (gate.open.length >= Math.min(entry.concurrency, ...gate.open.map(({ concurrency }) => concurrency)))
    return { kind: 'busy' };
  const openedAt = Math.max(now, earliestStart(gate, gapMs));
  if (openedAt - now > EARLY_MS) {
    const known = { ...gate, open: gate.open.filter(({ startedAt }) => startedAt !== null) };
    const waitMs = earliestStart(known, gapMs) - now;
    return waitMs > EARLY_MS ? { kind: 'wait', ms: Math.ceil(waitMs - EARLY_MS) } : { kind: 'busy' };
  }
  const { leaseId, passId, delayAfterMs, concurrency, repeatable } = entry;
  const startBy = openedAt + entry.startWithinMs;
  const endsBy = startBy + entry.maxFetchMs;
  const times = { openedAt, startBy, startedAt: null, endsBy };
  const opened = { leaseId, passId, ...times, gapMs, delayAfterMs, concurrency, repeatable };
  return { kind: 'go', gapMs, openedAt, gate: { ...gate, open: [...gate.open, opened] } };
}

/** The request has started: the next one need not wait for its `startBy`. */
export function started(gate: Gate, reporter: Reporter, agoMs: number, now: number): Gate {
  const open = gate.open.map((request) =>
    isOf(request, reporter) ? { ...request, startedAt: latestStart(request, agoMs, now) } : request,
  );
  return { ...gate, open };
}

/** A report that comes twice, or after the request counted as finished, changes no start. */
export function leave(gate: Gate, reporter: Reporter, end: EntryEnd, now: number): Gate {
  const { leaseId } = reporter;
  const request = openedBy(gate, reporter);
  if (request === undefined) return end.kind === 'lost' ? spend(gate, leaseId, now, SPENT_MS.ofLost) : gate;
  const closed = { ...gate, open: gate.open.filter((open) => open !== request) };
  // Only the run that was let through knows that it has sent nothing. A page whose lease was let through has lost it.
  if (end.kind === 'unused' && reporter.passId !== null) return closed;
  if (end.kind !== 'started')
    return recordStart(spend(closed, leaseId, now, SPENT_MS.ofLost), request, latestKnown(request));
  const rest = request.repeatable ? spend(closed, leaseId, now, SPENT_MS.ofRepeatable) : closed;
  const left = recordStart(rest, request, latestStart(request, end.agoMs, now));
  return { ...left, delayUntil: Math.max(left.delayUntil, now + (end.closeMs ?? 0)) };
}

/** The open request that this reporter speaks for. */
export function openedBy({ open }: Gate, reporter: Reporter): OpenRequest | undefined {
  return open.find((request) => isOf(request, reporter));
}

function isOf(request: OpenRequest, { leaseId, passId }: Reporter): boolean {
  return request.leaseId === leaseId && (passId === null || request.passId === passId);
}

function spend(gate: Gate, leaseId: string, now: number, ms: number): Gate {
  if (gate.spent.some((lease) => lease.leaseId === leaseId)) return gate;
  const others = gate.spent.filter(({ until }) => until > now);
  return { ...gate, spent: [...others, { leaseId, until: now + ms }].slice(-MAX_SPENT) };
}

function isSpent({ open, spent }: Gate, leaseId: string): boolean {
  return [...spent, ...open].some((known) => known.leaseId === leaseId);
}

function whyVoid(rules: GateRules, { origin, version }: Entry): string | null {
  if (rules.paused) return 'the domain is paused';
  return version < Math.max(rules.validFrom, rules.originsValidFrom[origin] ?? 0)
    ? 'the lease was granted under older rules'
    : null;
}

/** Requests without a report are over after their time. They may have started at the last moment. */
function expire(gate: Gate, now: number): Gate {
  const overdue = gate.open.filter(({ endsBy }) => endsBy <= now);
  if (overdue.length === 0) return gate;
  const rest = { ...gate, open: gate.open.filter((open) => !overdue.includes(open)) };
  return overdue.reduce(
    (state, request) =>
      recordStart(spend(state, request.leaseId, now, SPENT_MS.ofLost), request, latestKnown(request)),
    rest,
  );
}

function earliestStart({ lastStart, delayUntil, open }: Gate, gapMs: number): number {
  const afterLast = lastStart === null ? 0 : after(lastStart, Math.max(gapMs, delayUntil - lastStart));
  return Math.max(afterLast, ...open.map((request) => afterOpen(request, gapMs)));
}

/** Requests without a gap do not wait for each other: either may start first. */
function afterOpen(request: OpenRequest, gapMs: number): number {
  const delayMs = Math.max(gapMs, request.delayAfterMs);
  return delayMs > 0 || request.gapMs > 0 ? after(latestKnown(request), delayMs) : 0;
}

function after(start: number, delayMs: number): number {
  return start + delayMs + NETWORK_MARGIN_MS;
}

/** Without a report, the request may still start at the last moment. */
function latestKnown({ startedAt, startBy }: OpenRequest): number {
  return startedAt ?? startBy;
}

/** By the report, unless it cannot be true: before the request was let through, in the future, or not a number. */
function latestStart({ openedAt, startBy }: OpenRequest, agoMs: number, now: number): number {
  const at = now - agoMs;
  return at >= openedAt && at <= now ? Math.min(at, startBy) : startBy;
}

function recordStart(gate: Gate, { delayAfterMs }: OpenRequest, at: number): Gate {
  return {
    ...gate,
    lastStart: Math.max(at, gate.lastStart ?? at),
    delayUntil: Math.max(gate.delayUntil, at + delayAfterMs),
  };
}
