import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CrawlDetails, renderCrawl, renderCrawls, renderSummary } from '../../src/cli/render/crawl.ts';
import { RUNNING } from './support.ts';

beforeEach(() => {
  vi.stubEnv('npm_lifecycle_event', undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const NOW = new Date(2026, 0, 31, 14, 0, 0);
const NO_WORKER = { active: false, reason: 'no worker is running' } as const;

const details: CrawlDetails = {
  progress: RUNNING,
  work: { active: true },
  domains: [{ domain: 'example.org', found: 1_040, fetched: 36, failed: 2, open: 1_000, paused: false }],
  open: [],
};

test('the summary states how the crawl ended, and its counts add up to the pages found', () => {
  const pages = { ...RUNNING.pages, Pending: 0, Queued: 0, Waiting: 0 };
  expect(renderSummary({ ...RUNNING, status: 'Completed', found: 40, pages, cooling: [] })).toEqual([
    'Crawl example completed in 20 s: 40 pages found.',
    '',
    '  Pages       Count',
    '  ----------  -----',
    '  Fetched        36',
    '  Redirected      1',
    '  Blocked         1',
    '  Failed          2',
    '  total          40',
    '',
    '  Attempts       Count',
    '  -------------  -----',
    '  Success           37',
    '  Blocked4xx         2',
    '  Blocked5xx         1',
    '  BlockedRobots      1',
    '  total             41',
  ]);
});

test('the summary of a cancelled crawl gives the reason', () => {
  const [headline] = renderSummary({ ...RUNNING, status: 'Cancelled', reason: 'cancelled on request' });
  expect(headline).toBe(
    'Crawl example was cancelled after 20 s: 1,040 pages found. Reason: cancelled on request.',
  );
});

describe('a crawl in detail', () => {
  const firstLines = (changes: Partial<CrawlDetails>) =>
    renderCrawl({ ...details, ...changes }, { home: 'here' }, NOW).slice(0, 3);

  test('starts with its state and its counts', () => {
    expect(firstLines({})).toEqual([
      'Crawl example is running, started 20 s ago: 1,040 pages found, 1,000 pages still open.',
      '',
      '  Pages       Count',
    ]);
  });

  test('shows how to continue it if no worker is running', () => {
    expect(firstLines({ work: NO_WORKER })).toEqual([
      'Crawl example is unfinished (Running), started 20 s ago: 1,040 pages found, 1,000 pages still open.',
      'It is stalled: no worker is running. To continue it: amble crawl --id example --home here',
      '',
    ]);
  });

  test('shows how to resume it if it is paused', () => {
    const progress = { ...RUNNING, status: 'Paused' } as const;
    expect(firstLines({ progress })).toEqual([
      'Crawl example is paused, started 20 s ago: 1,040 pages found, 1,000 pages still open.',
      'To resume it: amble resume example --home here',
      '',
    ]);
  });

  test('lists open pages with their next step and the reason', () => {
    const open = [
      { url: 'http://a.test/1', status: 'Queued', attempts: 0, nextAttemptAt: null, reason: null },
      {
        url: 'http://a.test/2',
        status: 'Waiting',
        attempts: 1,
        nextAttemptAt: new Date(NOW.getTime() + 300_000),
        reason: 'Status 503.',
      },
    ] as const;
    expect(renderCrawl({ ...details, open }, {}, NOW).slice(-4)).toEqual([
      '  Open page        Status   Attempts  Next                        Reason',
      '  ---------------  -------  --------  --------------------------  -----------',
      '  http://a.test/1  Queued          0  when its domain has a slot',
      '  http://a.test/2  Waiting         1  in 5 min                    Status 503.',
    ]);
  });
});

test('the table of crawls marks stalled ones, but not ended ones', () => {
  const ended = { ...RUNNING, crawl: 'old', status: 'Completed' } as const;
  const lines = renderCrawls([
    { progress: RUNNING, work: NO_WORKER },
    { progress: ended, work: { active: false, reason: 'it has ended' } },
  ]);
  expect(lines.map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
    ['Crawl', 'Status'],
    ['-------', '-----------------'],
    ['example', 'Running (stalled)'],
    ['old', 'Completed'],
  ]);
});
