import { expect, test } from 'vitest';
import { type HeldBackCrawl, summariseOpenDomains, whatHoldsBack } from '../../src/server/what-holds-back.ts';

const WAITING = {
  paused: 0,
  down: 0,
  blocked: 0,
  slowest: { domain: 'example.org', pages: 12_400, gapMs: 10_000 },
};

const CRAWL: HeldBackCrawl = { status: 'Running', open: 13_000, waiting: WAITING };

const RUNNING = { active: true } as const;
const TERMINATED = { active: false, reason: 'its workflow is terminated' } as const;

test.each([
  [{}, RUNNING, 'example.org sets the pace: 12,400 pages at 10 s.'],
  [{}, null, 'example.org sets the pace: 12,400 pages at 10 s.'],
  [{}, TERMINATED, 'It is stalled: its workflow is terminated.'],
  [{ status: 'Cancelling' }, TERMINATED, 'It is stalled: its workflow is terminated.'],
  [{ status: 'Paused' }, TERMINATED, 'Paused by an operator.'],
  [
    { waiting: { ...WAITING, down: 3, paused: 1 } },
    RUNNING,
    'example.org sets the pace: 12,400 pages at 10 s; 1 domain paused by an operator, 3 sites down.',
  ],
  [{ waiting: { ...WAITING, slowest: null, paused: 2 } }, RUNNING, '2 domains paused by an operator.'],
  [{ waiting: { ...WAITING, slowest: null } }, RUNNING, 'Its next pages are about to start.'],
  [{ open: 0 }, RUNNING, 'All pages found so far are done; it ends at the next sweep.'],
  [{ waiting: null, status: 'Completed' }, TERMINATED, null],
] as const)('one sentence says what holds a crawl back: %o, %o', (change, work, sentence) => {
  expect(whatHoldsBack({ ...CRAWL, ...change }, work, { pausedBy: null, stop: null })).toBe(sentence);
});

test('while everything is stopped, that is what holds back every crawl that would run', () => {
  const stop = { channel: 'cli', by: 'anna', reason: 'an attack' } as const;
  const sentenceOf = (change: Partial<HeldBackCrawl>) =>
    whatHoldsBack({ ...CRAWL, ...change }, RUNNING, { pausedBy: null, stop });
  expect(sentenceOf({})).toBe('Everything is stopped by anna (cli): an attack.');
  expect(sentenceOf({ status: 'Paused' })).toBe('Paused by an operator.');
});

test('a domain that cannot be worked on does not set the pace', () => {
  const domain = { found: 9, open: 9, gapMs: 1_000, siteGapMs: 0, remainingMs: 9_000, atHalfMs: 4_500 };
  const able = { paused: false, down: false, blockedUntil: null };
  const open = summariseOpenDomains([
    { ...domain, ...able, domain: 'down.test', down: true },
    { ...domain, ...able, domain: 'blocked.test', blockedUntil: new Date() },
    { ...domain, ...able, domain: 'able.test' },
    { ...domain, ...able, domain: 'paused.test', paused: true, down: true, remainingMs: null },
  ]);
  const slowest = { domain: 'able.test', pages: 9, gapMs: 1_000 };
  expect(open).toEqual({ paused: 1, blocked: 1, down: 1, slowest });
});
