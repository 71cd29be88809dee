/**
 * When the next slot is. A plan only: it spreads the pages over time, so that few of them meet at the gate. The gate keeps the gap,
 * whatever is planned here.
 */
import type { Ask } from '../core/slot-protocol.ts';
import type { ThrottleState } from './state.ts';

/** The first time that keeps its distance from all reserved slots. A slot that was returned leaves a place to fill. */
export function nextSlot(state: ThrottleState, next: Ask, gapMs: number, now: number): number {
  const { blockedUntil, lastStart } = state;
  const spacingMs = spacingFor(state, next, gapMs);
  const gapOver = lastStart ? lastStart.at + Math.max(gapMs, lastStart.delayAfter.minMs) : 0;
  let at = Math.max(now, blockedUntil ?? 0, gapOver);
  let gateOpensAt = gapOver;
  const reserved = state.leases
    .filter(({ ask }) => ask.atFront || !next.atFront)
    .toSorted((one, other) => one.lease.notBefore - other.lease.notBefore);
  for (const [index, { lease, ask }] of reserved.entries()) {
    // Of the slots whose time has passed without a report, the oldest are being used. The pages of the others wait at the gate, unless
    // so much time has passed that their requests have ended, and only the reports are still to come.
    const isAtGate =
      index >= next.concurrency &&
      lease.notBefore <= now &&
      now - lease.notBefore <= atGateMs(lease.minGapMs);
    // Every request starts a little after its slot. Slots that were planned without that would be ever further ahead of the gate.
    const isStillToStart = lastStart !== null && lease.notBefore > lastStart.at + lease.minGapMs / 2;
    const dueAt = isStillToStart ? Math.max(lease.notBefore, gateOpensAt) : lease.notBefore;
    const expectedAt = isAtGate ? at : dueAt;
    if (isStillToStart) gateOpensAt = expectedAt + Math.max(lease.minGapMs, ask.delay.minMs);
    const isRoomBefore = at + Math.max(spacingMs, lease.minGapMs) <= expectedAt;
    if (!isRoomBefore) at = Math.max(at, expectedAt + Math.max(spacingMs, ask.delay.minMs));
  }
  return at;
}

/**
 * A plan is never exact. A page that comes to the gate too early waits for it, and one that comes too late makes the gap longer, so
 * pages come a little early.
 */
const EARLY = { partOfGap: 0.1, maxMs: 100 };

/** How much before its slot a request may start if the gate is open: never before a Retry-After is over. */
export function earlyMsOf(
  { blockedUntil }: ThrottleState,
  notBefore: number,
  gapMs: number,
  now: number,
): number {
  const earlyMs = Math.min(EARLY.maxMs, Math.floor(EARLY.partOfGap * gapMs));
  return Math.min(earlyMs, notBefore - Math.max(now, blockedUntil ?? 0));
}

/** Longest time for which a page is expected at the gate after its slot. It waits there for two seconds, but it may come late. */
function atGateMs(gapMs: number): number {
  return Math.max(gapMs, 5_000);
}

/** Time between two slots: the gap, or the time of the fetches themselves if that is longer. */
export function spacingFor({ stats }: ThrottleState, { concurrency }: Ask, gapMs: number): number {
  return Math.max(gapMs, Math.ceil((stats.averageDurationMs ?? 0) / concurrency));
}
