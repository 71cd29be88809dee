/** What an operator can change about a domain, and how its row shows that the change is stored. */
import type { UpdateDefinition } from '@temporalio/common';
import { pauseUpdate, resetUpdate, resumeUpdate } from '../../workflows/messages.ts';
import { BadInput } from '../config/index.ts';
import { parseDelayRange } from '../core/duration.ts';
import type { StoredDomain } from '../core/slot-protocol.ts';
import type { ThrottleView } from '../throttle/view.ts';

export interface DomainChange {
  update: UpdateDefinition<ThrottleView, []> | { delay: string | null };
  isStored(stored: StoredDomain): boolean;
  /** Predicate of a sentence about the domain. */
  confirmation: string;
}

export const PAUSE: DomainChange = {
  update: pauseUpdate,
  isStored: ({ paused }) => paused,
  confirmation: 'is paused. No requests are sent to it until you resume it, even after a restart.',
};

export const RESUME: DomainChange = {
  update: resumeUpdate,
  isStored: ({ paused }) => !paused,
  confirmation: 'is resumed.',
};

export const RESET: DomainChange = {
  update: resetUpdate,
  isStored: ({ paused, delay, backoffMs, blockedUntil, outages }) =>
    !paused &&
    delay === null &&
    backoffMs === 0 &&
    blockedUntil === null &&
    Object.keys(outages).length === 0,
  confirmation: 'is reset: no pause, no delay of its own, no backoff, no outage.',
};

export function delayChange(time: string): DomainChange {
  const wanted = time === 'none' ? null : parseDelayRange(time);
  if (wanted === undefined) {
    throw new BadInput(
      `Invalid delay ${JSON.stringify(time)}: give a time such as 30s, a range such as 5s-15s (at most 24h), or none.`,
    );
  }
  return {
    update: { delay: wanted === null ? null : time },
    isStored: ({ delay }) => delay?.minMs === wanted?.minMs && delay?.maxMs === wanted?.maxMs,
    confirmation:
      wanted === null
        ? 'no longer has a delay of its own.'
        : `now has a minimum gap of ${time}, starting with the next request.`,
  };
}
