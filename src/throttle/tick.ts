/** Called when time has passed or something has changed: expires leases, grants what is due, and returns when to call again. */

import type { Grant } from '../core/slot-protocol.ts';
import { drawOnce } from './gap.ts';
import { grant, grantableAt } from './grant.ts';
import { eligible, nextProbeAt } from './origin-outage.ts';
import { nextInQueue } from './queue.ts';
import { expire } from './release.ts';
import type { ThrottleState } from './state.ts';

export interface Tick {
  grants: Grant[];
  /** null: only a message can change anything. */
  wakeAt: number | null;
}

export function tick(state: ThrottleState, now: number, random: () => number): Tick {
  expire(state, now);
  const grants: Grant[] = [];
  for (;;) {
    const next = nextInQueue(eligible(state, now));
    if (next) drawOnce(state, random);
    const at = next ? grantableAt(state, next) : null;
    if (!next || at === null || at > now) {
      return { grants, wakeAt: earliestOf(at, nextExpiry(state), nextProbeAt(state, now)) };
    }
    grants.push({ workflowId: next.workflowId, lease: grant(state, next, now, { answered: false }) });
  }
}

function nextExpiry({ leases }: ThrottleState): number | null {
  return leases.length === 0 ? null : Math.min(...leases.map(({ lease }) => lease.expiresAt));
}

function earliestOf(...times: Array<number | null>): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}
