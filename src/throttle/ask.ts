/** A page asks for a slot and is answered at once. Asking again with the same ticket changes nothing. */

import type { Ask, Lease, SlotAnswer } from '../core/slot-protocol.ts';
import { minDelayFor } from './gap.ts';
import { downAnswer, isBeingProbed } from './origin-outage.ts';
import { earlyMsOf, nextSlot, spacingFor } from './plan.ts';
import { isQuick } from './quick.ts';
import { expire } from './release.ts';
import type { ThrottleState } from './state.ts';

/** A page that did not return by then is forgotten: those behind it must not wait for it. */
const RETURN_GRACE_MS = 10_000;
/** Even if slots take no time. */
const MIN_RETRY_MS = 1_000;
/** A probe takes as long as connecting, or failing to. */
const PROBE_RETRY_MS = 5_000;

export function ask(state: ThrottleState, asked: Ask, now: number, random: () => number): SlotAnswer {
  expire(state, now);
  const held = state.leases.find(({ lease }) => lease.ticket === asked.ticket);
  if (held) return { kind: 'granted', lease: held.lease };

  const down = downAnswer(state, asked, now, random);
  if (down) {
    forget(state, asked.ticket);
    return down;
  }
  if (state.paused) return wait(state, asked, now, now + state.config.pauseRetryMs, 'the domain is paused');
  if (isBeingProbed(state, asked.origin)) {
    return wait(state, asked, now, now + PROBE_RETRY_MS, 'another page tries to reach the site');
  }
  const openForMs = busyForMs(state, asked, now);
  if (openForMs !== null) {
    const retryAt = now + Math.max(MIN_RETRY_MS, openForMs);
    return wait(state, asked, now, retryAt, 'another request is still open');
  }
  const gapMs = minDelayFor(state, asked, random()).ms;
  const notBefore = nextSlot(state, asked, gapMs, now);
  const spacingMs = spacingFor(state, asked, gapMs);
  const places = placesLeft(state, asked, { notBefore, spacingMs, now });
  const ahead = pagesAhead(state, asked.ticket, now);
  if (ahead < places || asked.atFront) {
    forget(state, asked.ticket);
    return { kind: 'granted', lease: grant(state, asked, notBefore, gapMs, now) };
  }
  const isDueAt = notBefore + ahead * spacingMs;
  const retryAt = Math.max(
    now + MIN_RETRY_MS,
    now + (ahead + 1) * spacingMs,
    isDueAt - state.config.horizonMs,
  );
  return wait(state, asked, now, retryAt, 'the next slots are reserved');
}

/**
 * For how long the requests have been open that leave no room for another one; null: there may be room. They may well take as long
 * again: pages that came earlier would be refused at the gate time after time, each time at the cost of a fetch.
 */
function busyForMs({ leases, busyAt }: ThrottleState, { concurrency }: Ask, now: number): number | null {
  const open = leases.map(({ lease }) => lease.notBefore).filter((notBefore) => notBefore <= busyAt);
  const last = open.toSorted((one, other) => one - other)[concurrency - 1];
  return last === undefined ? null : now - last;
}

/** How many more slots may be reserved now. If none is, the next one may be, however far ahead it is. */
function placesLeft(
  { leases, config }: ThrottleState,
  { concurrency }: Ask,
  { notBefore, spacingMs, now }: { notBefore: number; spacingMs: number; now: number },
): number {
  const aheadMs = now + config.horizonMs - notBefore;
  const inTime = spacingMs > 0 ? 1 + Math.floor(aheadMs / spacingMs) : Infinity;
  const places = Math.min(config.maxReserved + concurrency - leases.length, inTime);
  return leases.length === 0 ? Math.max(1, places) : Math.max(0, places);
}

/** Pages that asked earlier and were told to return. First come, first served: otherwise new pages could always overtake them. */
function pagesAhead(state: ThrottleState, ticket: string, now: number): number {
  state.waiting = state.waiting.filter(({ retryAt }) => retryAt + RETURN_GRACE_MS > now);
  const position = state.waiting.findIndex((page) => page.ticket === ticket);
  return position === -1 ? state.waiting.length : position;
}

function forget(state: ThrottleState, ticket: string): void {
  state.waiting = state.waiting.filter((page) => page.ticket !== ticket);
}

function wait(
  state: ThrottleState,
  { ticket, workflowId, crawlId }: Ask,
  now: number,
  at: number,
  reason: string,
): SlotAnswer {
  const retryAt = Math.ceil(at);
  const known = state.waiting.find((page) => page.ticket === ticket);
  if (known) known.retryAt = retryAt;
  else if (state.waiting.length < state.config.maxWaiting) {
    state.waiting.push({ ticket, workflowId, crawlId, askedAt: now, retryAt });
  }
  return { kind: 'later', retryAt, reason };
}

function grant(state: ThrottleState, asked: Ask, notBefore: number, minGapMs: number, now: number): Lease {
  state.stats.granted += 1;
  const number = state.stats.granted;
  const lease: Lease = {
    // Unique over all domains and executions, because requests are recorded under it.
    id: `${state.domain}/${(state.openedAt ?? now).toString(36)}/${number}`,
    ticket: asked.ticket,
    version: state.version,
    notBefore,
    earlyMs: earlyMsOf(state, notBefore, minGapMs, now),
    startBy: notBefore + state.config.startWindowMs,
    minGapMs,
    quick: isQuick(state, minGapMs),
  };
  state.leases.push({ lease, number, ask: asked, grantedAt: now });
  state.stats.active = state.leases.length;
  return lease;
}
