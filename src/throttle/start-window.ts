/** How long after `notBefore` a request may still start. */
import { movingAverage } from './numbers.ts';
import type { ThrottleState } from './state.ts';

/** Multiples of the usual time from grant to start, to leave room for slow starts. */
const MARGIN = 4;
const PARALLEL_MARGIN = 2;

/**
 * If the window is too short, leases run out in the queues of busy workers, and asking again adds to the load. If it is too
 * long, a lost lease blocks the domain for that time. With concurrency above 1 every start that is not reported yet delays the
 * next lease, so the window is shorter.
 */
export function startWindowFor(state: ThrottleState, concurrency: number): number {
  const wanted = concurrency > 1 ? parallelWindowMs(state) : singleWindowMs(state);
  return Math.min(wanted, state.persistedBounds.maxStartWindowMs);
}

/** The window that recent starts need at any concurrency, regardless of the persisted bounds. */
export function wantedStartWindowMs(state: ThrottleState): number {
  return Math.max(singleWindowMs(state), parallelWindowMs(state));
}

function singleWindowMs({ config, grantToStartMs }: ThrottleState): number {
  const usual = Math.ceil(MARGIN * (grantToStartMs ?? 0));
  return Math.min(config.maxStartWindowMs, Math.max(config.startWindowMs, usual));
}

/** A request starts once it is connected. The window must grow, or a site that is slow to connect to could never be fetched. */
function parallelWindowMs({ config, grantToStartMs }: ThrottleState): number {
  const { parallelStartWindowMs, maxStartWindowMs } = config;
  const usual = Math.ceil(PARALLEL_MARGIN * (grantToStartMs ?? 0));
  return Math.max(parallelStartWindowMs, Math.min(maxStartWindowMs, usual));
}

/** Also called for leases that ran out before their request started: they show that the window is too short. */
export function learnGrantToStart(state: ThrottleState, durationMs: number): void {
  state.grantToStartMs = movingAverage(state.grantToStartMs, durationMs);
}
