/** The outcome of one attempt and what it means for its page; the statuses of pages and crawls. */

export const OUTCOMES = [
  'Success',
  'Rejected',
  'Blocked4xx',
  'Blocked5xx',
  'BlockedRobots',
  'Failed',
  'Timeout',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const OPEN_STATUSES = ['Pending', 'Queued', 'Waiting'] as const;
export const FINAL_STATUSES = [
  'Fetched',
  'Redirected',
  'Rejected',
  'Blocked',
  'Failed',
  'Cancelled',
] as const;
export type OpenStatus = (typeof OPEN_STATUSES)[number];
export type FinalStatus = (typeof FINAL_STATUSES)[number];
export type PageStatus = OpenStatus | FinalStatus;

export function isOpen(status: PageStatus): status is OpenStatus {
  return OPEN_STATUSES.some((open) => open === status);
}

export type CrawlStatus = 'Running' | 'Paused' | 'Cancelling' | 'Completed' | 'Cancelled' | 'Failed';

/** The status of a page whose last attempt had this outcome. */
export function finalStatusOf(outcome: Outcome): FinalStatus {
  switch (outcome) {
    case 'Success':
      return 'Fetched';
    case 'Rejected':
      return 'Rejected';
    case 'BlockedRobots':
      return 'Blocked';
    case 'Blocked4xx':
    case 'Blocked5xx':
    case 'Failed':
    case 'Timeout':
      return 'Failed';
  }
}
