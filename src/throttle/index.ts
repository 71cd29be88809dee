/**
 * The throttle of one domain: who may send a request to it, and when. Plain functions on a plain JSON state, with the time
 * and the randomness passed in; the workflow around them only carries messages and timers.
 *
 * A life: `newThrottle` takes asks but grants nothing until its row of `domains` was read (`opened`). Pages `ask` and are
 * granted a lease at once or stand in the queue; `tick` grants what has come due. A lease ends by `release`, or expires.
 * `idleAt` says when the throttle may end, and `toStored` what it leaves behind for its next life.
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
export { ignoreInFlight, pause, reset, resume, setDelay } from './operator.ts';
export { type QueuePosition, queuePositionOf } from './queue-position.ts';
export { parseOperatorDelay, validateAsk } from './refusal.ts';
export { expire, release, reportStarted, reportUndelivered } from './release.ts';
export { newThrottle, type ThrottleState } from './state.ts';
export { type Tick, tick } from './tick.ts';
export { type ThrottleView, view } from './view.ts';
