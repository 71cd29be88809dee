/** Random sequences of operations on a frontier, some of them concurrent, checked against its invariants. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOpen, OUTCOMES } from '../../src/core/outcome.ts';
import { isRetryable } from '../../src/core/retry-policy.ts';
import { foldChanges } from '../../src/storage/counts.ts';
import { readCrawl } from '../../src/storage/crawls.ts';
import { cancelIdlePages } from '../../src/storage/frontier/cancel.ts';
import { admitDue, cancelBeyondBudget, findStalled } from '../../src/storage/frontier/sweep.ts';
import type { Page } from '../../src/storage/generated/client.ts';
import { deferWithoutAttempt } from '../../src/storage/pages/defer-page.ts';
import { closePage } from '../../src/storage/pages/record-attempt.ts';
import { touchPage } from '../../src/storage/pages/touch-page.ts';
import { countPages } from '../../src/storage/reports/counts.ts';
import {
  failure,
  giveOrder,
  HOUR_MS,
  linksTo,
  numbered,
  redirectTo,
  SETTINGS,
  startCrawl,
  type TestCrawl,
  useDatabase,
} from './support.ts';

const db = useDatabase();

/** All URLs of these tests. The last host is out of scope. */
const WEB = [
  ...numbered(8, 'a.com'),
  ...numbered(8, 'www.a.com'),
  ...['1.a.com', '2.a.com', '3.a.com', 'a.com:1', 'a.com:2', 'a.com:3'].flatMap((host) => numbered(2, host)),
  ...numbered(4, 'elsewhere.org'),
];
const FAILURES = OUTCOMES.filter((outcome) => outcome !== 'Success');

const steps = fc.record({
  /** An operation that is listed more often happens more often. */
  kind: fc.constantFrom(
    ...(['admit', 'admit', 'succeed', 'succeed', 'fail', 'fail', 'redirect'] as const),
    ...(['wait', 'end', 'wake', 'ask', 'sweep', 'pause', 'resume'] as const),
  ),
  nth: fc.nat(50),
  urls: fc.subarray(WEB, { minLength: 1 }),
  outcome: fc.constantFrom(...FAILURES),
  longWait: fc.boolean(),
  /** Repeated by a worker that did not see its own success. */
  twice: fc.boolean(),
});
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never;

const scenarios = fc.record({
  maxPages: fc.option(fc.integer({ min: 1, max: 10 })),
  window: fc.integer({ min: 1, max: 4 }),
  maxWaiting: fc.nat(2),
  order: fc.constantFrom('first-come', 'shuffled'),
  warmup: fc.record({ pending: fc.nat(8), atMostMs: fc.constant(HOUR_MS) }),
  limits: fc.record({
    maxHostsPerSite: fc.option(fc.nat(3)),
    maxPortsPerHost: fc.option(fc.nat(2)),
  }),
  rounds: fc.array(
    fc.record({ atOnce: fc.array(steps, { minLength: 1, maxLength: 4 }), hourPasses: fc.boolean() }),
    { minLength: 5, maxLength: 20 },
  ),
  cancelled: fc.boolean(),
});

test('whatever happens, no page is lost or entered twice, the counts add up, and window, budget and host limits hold', async () => {
  await fc.assert(
    fc.asyncProperty(scenarios, async ({ rounds, cancelled, limits, ...settings }) => {
      const traps = { ...SETTINGS.traps, ...limits };
      const crawl = await startCrawl(db(), { ...settings, traps, scope: 'site', seeds: WEB.slice(0, 3) });
      let before = await crawl.pages();
      for (const { atOnce, hourPasses } of rounds) {
        const pages = before;
        const stands =
          (await readCrawl(db(), crawl.id)).status === 'Paused' &&
          atOnce.every(({ kind }) => kind !== 'resume');
        await Promise.all(atOnce.map((step) => perform(crawl, pages, step)));
        const after = await crawl.pages();
        expectNothingLost(before, after);
        expectRoom(crawl, before, after, atOnce.filter(({ kind }) => kind === 'wake').length);
        if (stands) expectNoneBegun(before, after);
        await expectBalance(crawl, after);
        expectHostBounds(crawl, after);
        if (hourPasses) await crawl.letTimePass(HOUR_MS);
        before = await crawl.pages();
      }
      await (cancelled ? cancel(crawl) : fetchTheRest(crawl));
      const end = await crawl.pages();
      expectNothingLost(before, end);
      await expectBalance(crawl, end);
      expect(end.filter(({ status }) => isOpen(status))).toEqual([]);
    }),
    { numRuns: 30, interruptAfterTimeLimit: 10_000 },
  );
});

async function perform(crawl: TestCrawl, pages: readonly Page[], step: Step): Promise<void> {
  const by = `${crawl.id}:${step.nth % 3}`;
  if (step.kind === 'admit') {
    await crawl.admit(by);
    return;
  }
  if (step.kind === 'pause' || step.kind === 'resume') {
    expect(await giveOrder(db(), crawl.id, step.kind)).toBe(true);
    return;
  }
  if (step.kind === 'sweep') {
    await admitDue(db(), crawl.id, crawl.settings, by);
    await findStalled(db(), crawl.id, async () => step.longWait);
    await cancelBeyondBudget(db(), crawl.id);
    await foldChanges(db(), crawl.id);
    return;
  }
  const candidates = pages.filter(({ status }) => status === (step.kind === 'wake' ? 'Waiting' : 'Queued'));
  const page = candidates[step.nth % Math.max(1, candidates.length)];
  if (page === undefined) return;
  await Promise.all(Array.from({ length: step.twice ? 2 : 1 }, () => visit(crawl, page, step)));
}

/** What the workflow of an admitted page may do. */
async function visit(crawl: TestCrawl, page: Page, step: Step): Promise<unknown> {
  const pageId = String(page.id);
  const attempt = page.attempts + 1;
  const until = Date.now() + (step.longWait ? HOUR_MS : 1_000);
  switch (step.kind) {
    case 'succeed':
      return crawl.record({ pageId }, { attempt, parsed: linksTo(...step.urls) });
    case 'fail': {
      const again = isRetryable(step.outcome) && attempt < crawl.settings.retry.maximumAttempts;
      return crawl.record(
        { pageId },
        { attempt, report: failure(step.outcome), retryAt: again ? until : null },
      );
    }
    case 'redirect':
      return crawl.record({ pageId }, { attempt, report: redirectTo(step.urls[0] ?? page.url) });
    case 'wait':
      return deferWithoutAttempt(db(), crawl.settings, pageId, {
        until,
        reason: 'robots.txt is unavailable',
      });
    case 'end':
      return closePage(db(), pageId, { status: 'Cancelled', reason: 'the page was cancelled' });
    case 'wake':
    case 'ask':
      return touchPage(db(), pageId, HOUR_MS);
    default:
      return undefined;
  }
}

function expectNothingLost(before: readonly Page[], after: readonly Page[]): void {
  expect(new Set(after.map(({ url }) => url)).size).toBe(after.length);
  const now = new Map(after.map((page) => [page.url, page.status]));
  for (const { url, status } of before) {
    expect(now.has(url)).toBe(true);
    if (!isOpen(status)) expect(now.get(url)).toBe(status);
  }
}

/** No page starts or wakes up in a paused crawl: it returns to the frontier. */
function expectNoneBegun(before: readonly Page[], after: readonly Page[]): void {
  const queuedBefore = new Set(before.filter(({ status }) => status === 'Queued').map(({ url }) => url));
  expect(after.filter(({ url, status }) => status === 'Queued' && !queuedBefore.has(url))).toEqual([]);
}

/** Admission never exceeds the window. Only pages whose wait is over may. */
function expectRoom(crawl: TestCrawl, before: readonly Page[], after: readonly Page[], woken: number): void {
  const queued = (pages: readonly Page[], domain: string) =>
    pages.filter((page) => page.domain === domain && page.status === 'Queued').length;
  for (const domain of new Set(after.map((page) => page.domain))) {
    const most = Math.max(crawl.settings.window, queued(before, domain)) + woken;
    expect(queued(after, domain)).toBeLessThanOrEqual(most);
  }
}

/** Seeds and their redirect targets are not counted, so their hosts and ports are let in beside the limit. */
function expectHostBounds({ settings: { traps } }: TestCrawl, pages: readonly Page[]): void {
  const inScope = pages
    .map(({ url, isSeed }) => ({ host: new URL(url).hostname, port: new URL(url).port, isSeed }))
    .filter(({ host }) => host.endsWith('a.com'));
  const beside = (part: 'host' | 'port') => {
    const asked = new Set(inScope.filter(({ isSeed }) => isSeed).map((page) => page[part]));
    return new Set(inScope.map((page) => page[part]).filter((name) => !asked.has(name))).size;
  };
  if (traps.maxHostsPerSite !== null) expect(beside('host')).toBeLessThanOrEqual(traps.maxHostsPerSite);
  if (traps.maxPortsPerHost !== null) expect(beside('port')).toBeLessThanOrEqual(traps.maxPortsPerHost);
}

async function expectBalance(crawl: TestCrawl, pages: readonly Page[]): Promise<void> {
  const { pages: byStatus, found } = await countPages(db(), crawl.id);
  expect(found).toBe(pages.length);
  for (const [status, count] of Object.entries(byStatus))
    expect(count).toBe(pages.filter((page) => page.status === status).length);
  expect(Object.values(byStatus).reduce((sum, count) => sum + count, 0)).toBe(found);

  const { Queued = 0, Waiting = 0, Fetched = 0 } = byStatus;
  const { maxPages } = crawl.settings;
  expect(await crawl.reserved()).toBe(maxPages === null ? 0 : Queued + Waiting + Fetched);
  if (maxPages !== null) expect(Queued + Waiting + Fetched).toBeLessThanOrEqual(maxPages);

  const attempts = await db().pageCrawl.count({ where: { page: { crawlId: crawl.id } } });
  expect(attempts).toBe(pages.reduce((sum, page) => sum + page.attempts, 0));
}

async function cancel(crawl: TestCrawl): Promise<void> {
  await giveOrder(db(), crawl.id, 'cancel');
  expect(await cancelIdlePages(db(), crawl.id, async () => false)).toBe(0);
}

/** If every page succeeds from now on, the crawl ends. */
async function fetchTheRest(crawl: TestCrawl): Promise<void> {
  expect(await giveOrder(db(), crawl.id, 'resume')).toBe(true);
  for (let round = 0; round < WEB.length; round += 1) {
    await crawl.letTimePass(2 * HOUR_MS);
    await admitDue(db(), crawl.id, crawl.settings, `${crawl.id}:rest:${round}`);
    const underWay = (await crawl.pages()).filter(
      ({ status }) => status === 'Queued' || status === 'Waiting',
    );
    for (const page of underWay) {
      await touchPage(db(), String(page.id), HOUR_MS);
      await crawl.record({ pageId: String(page.id) }, { attempt: page.attempts + 1 });
    }
    await cancelBeyondBudget(db(), crawl.id);
  }
}
