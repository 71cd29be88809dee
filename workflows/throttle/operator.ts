/** A person's hand on the domain while it runs. Effective with the next grant, for the page already waiting too. */
import type { ThrottleState } from './state.ts';
import type { DelayRange } from './types.ts';

/** null: the domain has no delay of its own any more; the crawls' delays alone count. */
export function setDelay(state: ThrottleState, delay: DelayRange | null): void {
  state.operatorDelay = delay;
  saidBeforeOpening(state, 'delay');
}

export function pause(state: ThrottleState): void {
  state.paused = true;
  saidBeforeOpening(state, 'paused');
}

export function resume(state: ThrottleState): void {
  state.paused = false;
  saidBeforeOpening(state, 'paused');
}

/** Forgets that the site asked for patience: backoff and Retry-After. */
export function reset(state: ThrottleState): void {
  state.backoffMs = 0;
  state.blockedUntil = null;
  saidBeforeOpening(state, 'backoff');
}

function saidBeforeOpening(state: ThrottleState, what: ThrottleState['saidBeforeOpening'][number]): void {
  if (state.openedAt === null && !state.saidBeforeOpening.includes(what)) {
    state.saidBeforeOpening.push(what);
  }
}
