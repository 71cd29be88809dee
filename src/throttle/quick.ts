/** Whether a request may be sent within a workflow task of its page: that saves a task, but the task must not take long. */
import type { ThrottleState } from './state.ts';

/** Of the average response. */
const MAX_DURATION_MS = 500;

/** With shorter gaps, the gate would have to remember many leases until their tasks can no longer be repeated. */
const MIN_GAP_MS = 1_000;

export function isQuick({ stats }: ThrottleState, gapMs: number): boolean {
  const { averageDurationMs, recentResponses } = stats;
  const last = recentResponses.at(-1);
  const isHealthy = last === 'ok' || last === 'not-found';
  return (
    gapMs >= MIN_GAP_MS && isHealthy && averageDurationMs !== null && averageDurationMs <= MAX_DURATION_MS
  );
}
