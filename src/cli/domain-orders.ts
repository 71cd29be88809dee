/** What an operator can tell a domain, and what its row says once that has been written down. */
import type { UpdateDefinition } from '@temporalio/common';
import { pauseUpdate, resetUpdate, resumeUpdate } from '../../workflows/messages.ts';
import { BadInput, parseDelayRange } from '../config/index.ts';
import type { StoredDomain } from '../core/slot-protocol.ts';
import type { ThrottleView } from '../throttle/view.ts';

export interface DomainOrder {
  update: UpdateDefinition<ThrottleView, []> | { delay: string | null };
  isWritten(stored: StoredDomain): boolean;
  /** To be said of the domain. */
  done: string;
}

export const PAUSE: DomainOrder = {
  update: pauseUpdate,
  isWritten: ({ paused }) => paused,
  done: 'is paused: nothing more is asked of it, whatever ends or restarts, until it is resumed.',
};

export const RESUME: DomainOrder = {
  update: resumeUpdate,
  isWritten: ({ paused }) => !paused,
  done: 'is resumed.',
};

export const RESET: DomainOrder = {
  update: resetUpdate,
  isWritten: ({ paused, delay, backoffMs, blockedUntil, outages }) =>
    !paused &&
    delay === null &&
    backoffMs === 0 &&
    blockedUntil === null &&
    Object.keys(outages).length === 0,
  done: 'is treated as though it were new: no delay of its own, no pause, no backoff, no outage.',
};

export function delayOrder(time: string): DomainOrder {
  const wanted = time === 'none' ? null : parseDelayRange(time);
  if (wanted === undefined) {
    throw new BadInput(
      `The delay ${JSON.stringify(time)} is refused: give a time such as 30s, a range such as 5s-15s, at most 24h, or none.`,
    );
  }
  return {
    update: { delay: wanted === null ? null : time },
    isWritten: ({ delay }) => delay?.minMs === wanted?.minMs && delay?.maxMs === wanted?.maxMs,
    done:
      wanted === null
        ? 'has no delay of its own any more.'
        : `is asked at most every ${time}, from the next slot on.`,
  };
}
