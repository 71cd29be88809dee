import { describe, expect, test } from 'vitest';
import { contentStoreState, findProblems, type HealthFacts } from '../../src/reports/health-findings.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const MINUTE_MS = 60_000;
const ago = (ms: number) => new Date(NOW.getTime() - ms);

const WORKER = {
  ...{ identity: '1@host', startedAt: ago(MINUTE_MS), seenAt: NOW, openFetches: 0, waitingFetches: 0 },
  ...{ eventLoopLagMs: 20, unavailable: [] as string[], clockOffsetMs: 2 },
};
const CRAWL = {
  ...{
    id: 'news',
    status: 'Running' as const,
    open: 400,
    due: 312,
    lastDoneAt: ago(MINUTE_MS),
    waitsFor: null,
    asOrdered: false,
  },
};
const WELL: HealthFacts = {
  ...{ postgresError: null, temporalError: null, clockOffsetMs: 5, databaseBytes: 1e6 },
  contentStore: { name: '/content', isBucket: false, error: null, freeBytes: 50e9, sizeBytes: 100e9 },
  workers: [WORKER],
  backlog: [{ queue: 'amble', tasks: 3, oldestMs: 100 }],
  crawls: [CRAWL],
  stop: null,
};

const found = (facts: Partial<HealthFacts>) => findProblems({ ...WELL, ...facts }, NOW);

test('nothing is wrong with an installation that is well', () => {
  expect(found({})).toEqual([]);
});

describe('a crawl without a page for 20 minutes', () => {
  const silent = { ...CRAWL, lastDoneAt: ago(20 * MINUTE_MS) };

  test('is stalled while pages are due', () => {
    expect(found({ crawls: [silent] })).toMatchObject([
      { level: 'bad', what: 'news is stalled: no page for 20 min while 312 pages are due.' },
    ]);
  });

  test('is not stalled while everything is stopped, which is said instead', () => {
    const stop = { channel: 'cli', by: 'anna', reason: 'an attack' } as const;
    expect(found({ crawls: [silent], stop })).toMatchObject([
      { level: 'warn', what: 'Everything is stopped by anna (cli): an attack.' },
    ]);
  });

  test.each([
    ['2 domains down', false, 'bad'],
    ['1 domain in a Retry-After', false, 'bad'],
    ['3 domains paused', true, 'warn'],
  ] as const)('that waits for %s: as ordered: %s, is %s', (waitsFor, asOrdered, level) => {
    const [finding] = found({ crawls: [{ ...silent, waitsFor, asOrdered }] });
    expect(finding).toMatchObject({ level, what: expect.stringContaining(`are due; ${waitsFor}.`) });
  });

  test.each([
    ['that is paused', { status: 'Paused' as const }],
    ['whose pages all wait for a retry', { due: 0 }],
  ])('%s is not stalled', (_which, change) => {
    expect(found({ crawls: [{ ...silent, ...change }] })).toEqual([]);
  });
});

test.each<[string, Partial<HealthFacts>, RegExp]>([
  [
    'Postgres',
    { postgresError: 'refused', workers: null, crawls: null },
    /^Postgres is unavailable: refused/,
  ],
  ['Temporal', { temporalError: 'refused', backlog: null }, /^Temporal is unavailable/],
  ['no worker', { workers: [] }, /^No worker is running/],
  [
    'a worker without Postgres',
    { workers: [{ ...WORKER, unavailable: ['Postgres'] }] },
    /cannot reach: Postgres/,
  ],
  ['a full disk', { contentStore: { ...WELL.contentStore, freeBytes: 1e6 } }, /has 1 MiB left/],
  ['a store', { contentStore: { ...WELL.contentStore, error: 'read-only' } }, /cannot be written: read-only/],
])('%s is a problem with a cure', (_what, facts, what) => {
  expect(found(facts)).toMatchObject([
    { level: 'bad', what: expect.stringMatching(what), cure: expect.stringMatching(/\.$/) },
  ]);
});

test.each<[string, Partial<HealthFacts>, RegExp]>([
  ['a clock', { clockOffsetMs: -15_000 }, /15 s behind Postgres's/],
  ['a blocked event loop', { workers: [{ ...WORKER, eventLoopLagMs: 3_000 }] }, /was blocked for 3 s/],
  [
    'a backlog',
    { backlog: [{ queue: 'amble', tasks: 9, oldestMs: 2 * MINUTE_MS }] },
    /9 tasks of the queue amble/,
  ],
  ['a disk that fills', { contentStore: { ...WELL.contentStore, freeBytes: 900e6 } }, /left/],
])('%s is worth a look', (_what, facts, what) => {
  expect(found(facts)).toMatchObject([{ level: 'warn', what: expect.stringMatching(what) }]);
});

test('nobody needs a worker if no crawl is open', () => {
  expect(found({ workers: [], crawls: [] })).toEqual([]);
});

test('only workers know whether a bucket is available', () => {
  const stateWith = (workers: HealthFacts['workers'], change = {}) =>
    contentStoreState({ workers, contentStore: { ...WELL.contentStore, isBucket: true, ...change } });
  expect(stateWith([])).toBe('not known');
  expect(stateWith([WORKER])).toBe('available');
  expect(stateWith([WORKER, { ...WORKER, unavailable: ['Content store'] }])).toBe('unavailable');
  expect(stateWith([], { isBucket: false })).toBe('available');
});
