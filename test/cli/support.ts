/** A crawl in progress, a page, an attempt and a request, as commands read them. */
import type { PageReport } from '../../src/storage/reports/page-report.ts';
import type { Progress } from '../../src/storage/reports/progress.ts';
import type { RecordedRequest } from '../../src/verify/index.ts';

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

type Changes = Omit<Partial<PageReport>, 'page' | 'crawl'> & {
  page?: Partial<PageReport['page']>;
  crawl?: Partial<PageReport['crawl']>;
};

/** A pending page; `page` and `crawl` replace single columns. */
export function aPage({ page, crawl, ...rest }: Changes): PageReport {
  return {
    crawl: {
      id: 'example',
      status: 'Running',
      maximumAttempts: 3,
      window: 100,
      warmup: null,
      budget: null,
      ...crawl,
    },
    alsoIn: [],
    attempts: [],
    before: null,
    robotsFailure: null,
    chain: [],
    page: {
      id: 1n,
      crawlId: 'example',
      url: 'https://example.org/about',
      urlHash: new Uint8Array(),
      domain: 'example.org',
      kind: 'page',
      status: 'Pending',
      reason: null,
      depth: 1,
      priority: 5,
      rank: 0,
      isSeed: false,
      attempts: 0,
      attemptsBefore: 0,
      nextAttemptAt: null,
      redirectTo: null,
      statusCode: null,
      title: null,
      fetchedAt: null,
      ...page,
    },
    ...rest,
  };
}

type Attempt = PageReport['attempts'][number];

/** A first attempt that failed. */
export function anAttempt(at: Date, changes: Partial<Attempt>): Attempt {
  return {
    id: 1n,
    pageId: 1n,
    attempt: 1,
    outcome: 'Failed',
    statusCode: null,
    errorKind: null,
    error: null,
    priority: 5,
    startedAt: at,
    finishedAt: at,
    slotWaitMs: 0,
    latencyMs: null,
    bytes: null,
    nextAttemptAt: null,
    createdAt: at,
    ...changes,
  };
}

/** A request to the root of the domain, one second after which the next one may start. */
export function aRequest(domain: string, startedAtMs: number, url = `http://${domain}/`): RecordedRequest {
  return {
    leaseId: `${domain} ${startedAtMs}`,
    domain,
    crawlId: 'example',
    url,
    isRobots: false,
    startedAtMs,
    startedErrorMs: 0,
    minGapMs: 1_000,
    allowedBy: null,
  };
}
