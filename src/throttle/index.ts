/**
 * The throttle of one domain: which page may send a request to it, and when. Plain functions on a plain JSON state, with
 * time and randomness passed in. The workflow around them only carries messages and timers.
 *
 * `newThrottle` queues asks, but grants nothing until its row of `domains` has been read (`open`). A page that asks (`ask`) is
 * granted a lease at once or waits in the queue; `tick` grants what has become due. A lease ends by `release`, or it
 * expires. `idleAt` returns when the throttle may end, `toStoredDomain` what it leaves for its next execution.
 *
 * To find out why a page waits, start with `minDelayFor` in gap.ts (the gap), nextInQueue in queue.ts (the order) and
 * `grantableAt` in grant.ts (everything else that may prevent a grant).
 */

export type * from '../core/slot-protocol.ts';
export { ask, withdraw } from './ask.ts';
export type { GapReason, ThrottleGap } from './gap.ts';
export { minDelayFor } from './gap.ts';
export {
  beginPersist,
  boundsTooNarrow,
  boundsToPersist,
  close,
  endPersist,
  idleAt,
  isIdle,
  mayEnd,
  open,
  toStoredDomain,
} from './lifecycle.ts';
export { pause, reset, resume, setDelay } from './operator.ts';
export { type QueuePosition, queuePositionOf } from './queue-position.ts';
export { expire, release, reportStarted, reportUndelivered } from './release.ts';
export { newThrottle, type ThrottleState } from './state.ts';
export { type Tick, tick } from './tick.ts';
export { parseOperatorDelay, validateAsk } from './validation.ts';
export { type ThrottleView, view } from './view.ts';
