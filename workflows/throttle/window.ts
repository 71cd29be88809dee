/** How long a lease may wait for its request to start. */
import { movingAverage } from './average.ts';
import type { ThrottleState } from './state.ts';

/** Room for a start that takes longer than usual. */
const MARGIN = 4;

/**
 * Too short, leases die in busy workers' queues and their refusals add to the load; too long, a lost one holds its domain
 * up for that time. With concurrency, an unreported start holds up the next lease even when all is well: then it is short.
 */
export function startWindowMs({ config, grantToStartMs }: ThrottleState, concurrency: number): number {
  if (concurrency > 1) return config.parallelStartWindowMs;
  const usual = Math.ceil(MARGIN * (grantToStartMs ?? 0));
  return Math.min(config.maxStartWindowMs, Math.max(config.startWindowMs, usual));
}

/** No lease, of this life or a former one, has a longer window. */
export function longestStartWindowMs({ config }: ThrottleState): number {
  return Math.max(config.maxStartWindowMs, config.startWindowMs, config.parallelStartWindowMs);
}

/** Also told of leases that came too late to be used: it is they that show that the window is too short. */
export function learnGrantToStart(state: ThrottleState, tookMs: number): void {
  state.grantToStartMs = movingAverage(state.grantToStartMs, tookMs);
}
