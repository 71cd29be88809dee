/** Time has passed or something has changed: end what is overdue, grant what may go, say when to look again. */
import { drawOnce } from './gap.ts';
import { grant, grantableAt } from './grant.ts';
import { nextInLine } from './line.ts';
import { expire } from './release.ts';
import type { ThrottleState } from './state.ts';
import type { Grant } from './types.ts';

export interface Tick {
  grants: Grant[];
  /** null: only a message can change anything. */
  wakeAt: number | null;
}

export function tick(state: ThrottleState, now: number, random: () => number): Tick {
  expire(state, now);
  const grants: Grant[] = [];
  for (;;) {
    const next = nextInLine(state.line);
    if (next) drawOnce(state, random);
    const at = next ? grantableAt(state, next) : null;
    if (!next || at === null || at > now) return { grants, wakeAt: earlierOf(at, nextExpiry(state)) };
    grants.push({ workflowId: next.workflowId, lease: grant(state, next, now, { answered: false }) });
  }
}

function nextExpiry({ leases }: ThrottleState): number | null {
  return leases.length === 0 ? null : Math.min(...leases.map(({ lease }) => lease.expiresAt));
}

function earlierOf(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
