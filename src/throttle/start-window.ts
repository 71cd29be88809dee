/** How long a lease may wait for its request to start. */
import { movingAverage } from './average.ts';
import type { ThrottleState } from './state.ts';

/** Room for a start that takes longer than usual. */
const MARGIN = 4;
const PARALLEL_MARGIN = 2;

/**
 * Too short, leases die in busy workers' queues and their refusals add to the load; too long, a lost one holds its domain
 * up for that time. With concurrency, an unreported start holds up the next lease even when all is well: then it is short.
 */
export function startWindowFor(state: ThrottleState, concurrency: number): number {
  const wanted = concurrency > 1 ? parallelWindowMs(state) : aloneWindowMs(state);
  return Math.min(wanted, state.persistedBounds.maxStartWindowMs);
}

/** What starts of late would need, in company or not, whatever the row assures. */
export function wantedStartWindowMs(state: ThrottleState): number {
  return Math.max(aloneWindowMs(state), parallelWindowMs(state));
}

function aloneWindowMs({ config, grantToStartMs }: ThrottleState): number {
  const usual = Math.ceil(MARGIN * (grantToStartMs ?? 0));
  return Math.min(config.maxStartWindowMs, Math.max(config.startWindowMs, usual));
}

/** A request starts when its connection stands: one that did not grow would never let a site be fetched that is slow in that. */
function parallelWindowMs({ config, grantToStartMs }: ThrottleState): number {
  const { parallelStartWindowMs, maxStartWindowMs } = config;
  const usual = Math.ceil(PARALLEL_MARGIN * (grantToStartMs ?? 0));
  return Math.max(parallelStartWindowMs, Math.min(maxStartWindowMs, usual));
}

/** Also told of leases that came too late to be used: it is they that show that the window is too short. */
export function learnGrantToStart(state: ThrottleState, durationMs: number): void {
  state.grantToStartMs = movingAverage(state.grantToStartMs, durationMs);
}
