/** A page asks for a slot and is answered at once; asking again with the same ticket changes nothing. */

import type { Answer, Ask } from '../core/slot-protocol.ts';
import { askAgainAt, expectedAt } from './eta.ts';
import { drawOnce } from './gap.ts';
import { grant, grantableAt } from './grant.ts';
import { downAnswer, servable } from './origin-outage.ts';
import { nextInLine, placeOf } from './queue.ts';
import { endUnused, expire } from './release.ts';
import type { ThrottleState, Waiting } from './state.ts';

export function ask(state: ThrottleState, asked: Ask, now: number, random: () => number): Answer {
  expire(state, now);
  const held = state.leases.find((open) => open.lease.ticket === asked.ticket);
  if (held) {
    held.answered = true;
    return { kind: 'granted', lease: held.lease, now };
  }

  const down = downAnswer(state, asked, now, random);
  if (down) {
    leaveLine(state, asked.ticket);
    return down;
  }

  const waiting = joinLine(state, asked, now);
  if (!waiting) return { kind: 'full', askAgainAt: askAgainAt(state, asked, now), now };

  const line = servable(state, now);
  if (nextInLine(line) === waiting) {
    drawOnce(state, random);
    const at = grantableAt(state, waiting);
    if (at !== null && at <= now) {
      return { kind: 'granted', lease: grant(state, waiting, now, { answered: true }), now };
    }
  }
  const position = placeOf(line.waiting.includes(waiting) ? line : state.line, waiting);
  return { kind: 'queued', position, etaAt: expectedAt(state, waiting, position, now), now };
}

/** The page steps aside or ends, and passed no lease of this ticket on: one that it was granted is unused. */
export function withdraw(state: ThrottleState, ticket: string, now: number): void {
  expire(state, now);
  leaveLine(state, ticket);
  const held = state.leases.find(({ lease }) => lease.ticket === ticket);
  if (held) endUnused(state, held, now);
}

function leaveLine({ line, stats }: ThrottleState, ticket: string): void {
  const before = line.waiting.length;
  line.waiting = line.waiting.filter((waiting) => waiting.ticket !== ticket);
  stats.withdrawn += before - line.waiting.length;
}

function joinLine(state: ThrottleState, asked: Ask, now: number): Waiting | null {
  const { line, config } = state;
  const known = line.waiting.find((waiting) => waiting.ticket === asked.ticket);
  if (known) {
    known.front ||= asked.front;
    return known;
  }
  if (line.waiting.length >= config.queueLimit) return null;
  const waiting: Waiting = { ...asked, askedAt: now };
  line.waiting.push(waiting);
  return waiting;
}
