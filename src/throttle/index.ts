/**
 * The throttle of one domain: which page may send a request to it, and when. Plain functions on a plain JSON state, with
 * time and randomness passed in. The workflow around them only carries messages and timers.
 *
 * A page that asks (`ask`) is answered with a lease: a slot reserved for it, which may lie in the future. A lease ends by
 * `release`, or it expires. `idleAt` returns when the throttle may end, `toStoredDomain` what it leaves for its next execution.
 * The gate (gate.ts), in a row that all workers share, decides when a request really starts.
 *
 * To find out why a page waits, start with `minDelayFor` in gap.ts (the gap), `nextSlot` in plan.ts (the order) and
 * `ask` in ask.ts (everything else that may prevent a grant).
 */

export type * from '../core/slot-protocol.ts';
export { ask } from './ask.ts';
export type { GapReason, ThrottleGap } from './gap.ts';
export { minDelayFor } from './gap.ts';
export { idleAt, isIdle, open, rulesOf, toStoredDomain } from './lifecycle.ts';
export { describeChange, pause, replan, reset, resume, setDelay } from './operator.ts';
export { expire, release } from './release.ts';
export { newThrottle, type ThrottleState } from './state.ts';
export { parseOperatorDelay, validateAsks } from './validation.ts';
export { type PageSlot, slotOf, type ThrottleView, view } from './view.ts';
