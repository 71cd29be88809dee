/** A page asks for a slot and is answered at once. Asking again with the same ticket changes nothing. */

import type { Ask, SlotAnswer } from '../core/slot-protocol.ts';
import { drawOnce } from './gap.ts';
import { grant, grantableAt } from './grant.ts';
import { downAnswer, eligible } from './origin-outage.ts';
import { nextInQueue } from './queue.ts';
import { currentPosition, expectedAt, retryAt } from './queue-position.ts';
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

  const ticket = joinQueue(state, asked, now);
  if (!ticket) return { kind: 'full', retryAt: retryAt(state, asked, now), now };

  if (nextInQueue(eligible(state, now)) === ticket) {
    drawOnce(state, random);
    const at = grantableAt(state, ticket);
    if (at !== null && at <= now) {
      return { kind: 'granted', lease: grant(state, ticket, now, { answered: true }), now };
    }
  }
  const position = currentPosition(state, ticket, now);
  return { kind: 'queued', position, expectedAt: expectedAt(state, ticket, position, now), now };
}

/** The page wants the slot no longer. If the ticket was granted already, its lease was not passed on, so it is unused. */
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

/** null: the queue is full. */
function joinQueue({ queue, config }: ThrottleState, asked: Ask, now: number): QueuedTicket | null {
  const known = queue.waiting.find(({ ticket }) => ticket === asked.ticket);
  if (known) {
    known.atFront ||= asked.atFront;
    return known;
  }
  if (queue.waiting.length >= config.queueLimit) return null;
  const ticket: QueuedTicket = { ...asked, askedAt: now };
  queue.waiting.push(ticket);
  return ticket;
}
