/** A crawl in progress, as commands read it. */
import type { Progress } from '../../src/storage/reports/progress.ts';

export const RUNNING: Progress = {
  crawl: 'example',
  status: 'Running',
  reason: null,
  found: 1_040,
  pages: {
    Pending: 900,
    Queued: 99,
    Waiting: 1,
    Fetched: 36,
    Redirected: 1,
    Rejected: 0,
    Blocked: 1,
    Failed: 2,
    Cancelled: 0,
  },
  sitemaps: {
    Pending: 0,
    Queued: 0,
    Waiting: 0,
    Fetched: 0,
    Redirected: 0,
    Rejected: 0,
    Blocked: 0,
    Failed: 0,
    Cancelled: 0,
  },
  attempts: {
    Success: 37,
    Rejected: 0,
    Blocked4xx: 2,
    Blocked5xx: 1,
    BlockedRobots: 1,
    Failed: 0,
    Timeout: 0,
  },
  seconds: 20,
  skipped: {},
  cooling: [{ domain: 'example.org', readyInMs: 3_200 }],
};
