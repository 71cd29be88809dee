import { expect, test } from 'vitest';
import { secondsLeft, whatHoldsBack } from '../../src/server/what-holds-back.ts';
import type { CrawlOverview } from '../../src/storage/reports/overview.ts';

const WAITING = {
  paused: 0,
  down: 0,
  blocked: 0,
  slowest: { domain: 'example.org', pages: 12_400, gapMs: 10_000 },
};

const CRAWL: CrawlOverview = {
  id: 'one',
  status: 'Running',
  reason: null,
  createdAt: new Date(0),
  finishedAt: null,
  found: 20_000,
  done: 7_000,
  open: 13_000,
  pages: {},
  pagesPerSecond: 0.5,
  samples: [],
  waiting: WAITING,
};

test.each([
  [{}, 'running', 'example.org sets the pace: 12,400 pages at 10 s.'],
  [{}, 'unknown', 'example.org sets the pace: 12,400 pages at 10 s.'],
  [{}, 'none', 'No worker is running.'],
  [{ status: 'Paused' }, 'none', 'It is paused by an operator.'],
  [
    { waiting: { ...WAITING, down: 3, paused: 1 } },
    'running',
    'example.org sets the pace: 12,400 pages at 10 s; 1 domain paused by an operator, 3 sites down.',
  ],
  [{ waiting: { ...WAITING, slowest: null, paused: 2 } }, 'running', '2 domains paused by an operator.'],
  [{ open: 0 }, 'running', 'All pages found so far are done; it ends at the next sweep.'],
  [{ waiting: null, status: 'Completed' }, 'none', null],
] as const)('one sentence says what holds a crawl back: %o, workers %s', (change, workers, sentence) => {
  expect(whatHoldsBack({ ...CRAWL, ...change }, workers, { pausedBy: null, stop: null })).toBe(sentence);
});

test('while everything is stopped, that is what holds back every crawl that would run', () => {
  const stop = { channel: 'cli', by: 'anna', reason: 'an attack' } as const;
  const sentenceOf = (change: Partial<CrawlOverview>) =>
    whatHoldsBack({ ...CRAWL, ...change }, 'running', { pausedBy: null, stop });
  expect(sentenceOf({})).toBe('Everything is stopped by anna (cli): an attack.');
  expect(sentenceOf({ status: 'Paused' })).toBe('It is paused by an operator.');
});

test('a crawl ends no sooner than its slowest domain, and no faster than it has been lately', () => {
  expect(secondsLeft(CRAWL)).toBe(124_000);
  expect(secondsLeft({ ...CRAWL, pagesPerSecond: 0.01 })).toBe(1_300_000);
  expect(secondsLeft({ ...CRAWL, pagesPerSecond: 0 })).toBe(124_000);
  expect(secondsLeft({ ...CRAWL, status: 'Paused' })).toBeNull();
});
