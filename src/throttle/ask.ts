/** A page asks for a slot and is answered at once; asking again with the same ticket changes nothing. */

import type { Ask, SlotAnswer } from '../core/slot-protocol.ts';
import { expectedAt, retryAt } from './eta.ts';
import { drawOnce } from './gap.ts';
import { grant, grantableAt } from './grant.ts';
import { downAnswer, eligible } from './origin-outage.ts';
import { nextInQueue, positionOf } from './queue.ts';
import { endUnused, expire } from './release.ts';
import type { QueuedTicket, ThrottleState } from './state.ts';

export function ask(state: ThrottleState, asked: Ask, now: number, random: () => number): SlotAnswer {
  expire(state, now);
  const held = state.leases.find((open) => open.lease.ticket === asked.ticket);
  if (held) {
    held.answered = true;
    return { kind: 'granted', lease: held.lease, now };
  }

  const down = downAnswer(state, asked, now, random);
  if (down) {
    leaveQueue(state, asked.ticket);
    return down;
  }

  const waiting = joinQueue(state, asked, now);
  if (!waiting) return { kind: 'full', retryAt: retryAt(state, asked, now), now };

  const queue = eligible(state, now);
  if (nextInQueue(queue) === waiting) {
    drawOnce(state, random);
    const at = grantableAt(state, waiting);
    if (at !== null && at <= now) {
      return { kind: 'granted', lease: grant(state, waiting, now, { answered: true }), now };
    }
  }
  const position = positionOf(queue.waiting.includes(waiting) ? queue : state.queue, waiting);
  return { kind: 'queued', position, expectedAt: expectedAt(state, waiting, position, now), now };
}

/** The page steps aside or ends, and passed no lease of this ticket on: one that it was granted is unused. */
export function withdraw(state: ThrottleState, ticket: string, now: number): void {
  expire(state, now);
  leaveQueue(state, ticket);
  const held = state.leases.find(({ lease }) => lease.ticket === ticket);
  if (held) endUnused(state, held, now);
}

function leaveQueue({ queue, stats }: ThrottleState, ticket: string): void {
  const before = queue.waiting.length;
  queue.waiting = queue.waiting.filter((waiting) => waiting.ticket !== ticket);
  stats.withdrawn += before - queue.waiting.length;
}

function joinQueue(state: ThrottleState, asked: Ask, now: number): QueuedTicket | null {
  const { queue, config } = state;
  const known = queue.waiting.find((waiting) => waiting.ticket === asked.ticket);
  if (known) {
    known.atFront ||= asked.atFront;
    return known;
  }
  if (queue.waiting.length >= config.queueLimit) return null;
  const waiting: QueuedTicket = { ...asked, askedAt: now };
  queue.waiting.push(waiting);
  return waiting;
}
