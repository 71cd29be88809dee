/** Crawls that nobody will ever work on again. */
import type { Progress } from '../../storage/reports/progress.ts';

export function hasEnded({ status }: Pick<Progress, 'status'>): boolean {
  return status === 'Completed' || status === 'Cancelled' || status === 'Failed';
}
