import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { OperatorOrder } from '../../src/core/order.ts';
import { endCrawl } from '../../src/storage/crawls.ts';
import { excludedBy } from '../../src/storage/excluded-by.ts';
import {
  addExcluded,
  MAX_EXCLUDED,
  previewExclude,
  rejectPending,
} from '../../src/storage/frontier/exclude.ts';
import { Prisma } from '../../src/storage/generated/client.ts';
import { listOrders } from '../../src/storage/orders.ts';
import { readFetchContext } from '../../src/storage/pages/fetch-context.ts';
import { touchPage } from '../../src/storage/pages/touch-page.ts';
import { matchesPattern } from '../../src/urls/pattern.ts';
import {
  failure,
  giveOrder,
  inOneHour,
  linksTo,
  numbered,
  redirectTo,
  startCrawl,
  type TestCrawl,
  useDatabase,
} from './support.ts';

const db = useDatabase();

function newOrder(): OperatorOrder {
  return { id: randomUUID(), kind: 'exclude', origin: { channel: 'cli', by: 'anna', reason: null } };
}

async function exclude(crawl: TestCrawl, pattern: string): Promise<number> {
  const order = newOrder();
  expect(await addExcluded(db(), crawl.id, order, pattern)).toBe('excluded');
  return rejectPending(db(), crawl.id, order, pattern);
}

test('Postgres matches patterns as the crawler does', async () => {
  const piece = fc.constantFrom('a', 'b', '/', '?', '%', '_', '\\', '*', '%5C', 'http://', 'é');
  const pattern = fc
    .tuple(fc.constantFrom('/', '*', 'http:', 'https://a'), fc.array(piece, { maxLength: 5 }))
    .map(([first, rest]) => [first, ...rest].join(''));
  const url = fc
    .tuple(fc.constantFrom('http://a/', 'https://a.b/', 'http://a:80/'), fc.array(piece, { maxLength: 6 }))
    .map(([first, rest]) => [first, ...rest].join('').replaceAll('*', '+'));
  const cases = fc.sample(fc.tuple(pattern, url), { numRuns: 3_000, seed: 7 });
  const rows = await db().$queryRaw<{ pattern: string; url: string; excluded: boolean }[]>`
    SELECT pattern, url, ${excludedBy(Prisma.sql`url`, Prisma.sql`ARRAY[pattern]`)} IS NOT NULL AS excluded
    FROM unnest(${cases.map(([one]) => one)}::text[], ${cases.map(([, one]) => one)}::text[]) AS compared (pattern, url)`;
  const differences = rows.filter((row) => row.excluded !== matchesPattern(row.pattern, row.url));
  expect(differences).toEqual([]);
  const matching = rows.filter((row) => row.excluded).length;
  expect(matching).toBeGreaterThan(100);
  expect(rows.length - matching).toBeGreaterThan(100);
});

describe('an excluded pattern', () => {
  it('rejects the pending pages that match, those that wait for a retry too, with the reason', async () => {
    const crawl = await startCrawl(db(), { window: 2, maxWaiting: 0 });
    await crawl.add('http://a.test/x/retried', 'http://a.test/x/running');
    const [retried, running] = await crawl.admit();
    await crawl.record(retried, { report: failure(), retryAt: inOneHour() });
    await crawl.add(...numbered(3, 'b.test/x'), ...numbered(3, 'b.test/y'), ...numbered(1, 'c.test/x'));
    expect(await previewExclude(db(), crawl.id, '/x/*')).toEqual({
      ...{ matching: 5, compared: 8, pending: 8 },
      examples: expect.arrayContaining(['http://a.test/x/retried', 'http://c.test/x/0']),
    });

    expect(await exclude(crawl, '/x/*')).toBe(5);
    expect(await crawl.statuses()).toEqual({ Queued: 1, Pending: 3, Rejected: 5 });
    expect(await crawl.page('http://b.test/x/0')).toMatchObject({
      ...{ reason: 'excluded by an operator: /x/*', errorKind: 'excluded' },
    });
    expect(await listOrders(db(), { crawlId: crawl.id }, 5)).toMatchObject([
      { kind: 'exclude', effect: '/x/* excluded, 5 pending pages rejected' },
    ]);
    expect(running).toBeDefined();
  });

  it('stops pages in progress before their next request, and returns their share of the budget', async () => {
    const crawl = await startCrawl(db(), { window: 5, maxPages: 10 });
    await crawl.add('http://a.test/x', 'http://a.test/y');
    const pages = await crawl.admit();
    expect(await exclude(crawl, '*/x')).toBe(0);
    const reader = { domain: 'a.test', agent: 'amble' };
    const contexts = pages.map(({ pageId, url }) =>
      readFetchContext(db(), { crawlId: crawl.id, pageId, url, reader }),
    );
    expect((await Promise.all(contexts)).map(({ excludedBy }) => excludedBy).sort()).toEqual(['*/x', null]);
    const touched = await Promise.all(pages.map(({ pageId }) => touchPage(db(), pageId, 1_000)));
    expect(touched).toEqual(
      pages.map(({ url }) =>
        url.endsWith('x') ? { continues: false, crawlOver: false } : { continues: true },
      ),
    );
    expect(await crawl.statuses()).toEqual({ Queued: 1, Rejected: 1 });
    expect(await crawl.reserved()).toBe(1);
  });

  it('skips links and redirects that match, and counts them', async () => {
    const crawl = await startCrawl(db(), { window: 5 });
    const page = await crawl.admitted('http://a.test/');
    const moved = await crawl.admitted('http://a.test/moved');
    await exclude(crawl, '/x*');
    await crawl.record(page, { parsed: linksTo('http://a.test/x1', 'http://a.test/x2', 'http://a.test/y') });
    await crawl.record(moved, { report: redirectTo('http://a.test/x3') });
    expect(await crawl.urls()).toEqual(['http://a.test/', 'http://a.test/moved', 'http://a.test/y']);
    expect((await crawl.page('http://a.test/')).linksSkipped).toEqual({ excluded: 2 });
    expect((await crawl.page('http://a.test/moved')).reason).toBe('not followed: excluded');
  });

  it('leaves other crawls alone', async () => {
    const [one, other] = [await startCrawl(db()), await startCrawl(db())];
    for (const crawl of [one, other]) await crawl.add('http://a.test/x');
    await exclude(one, '/x');
    expect(await other.statuses()).toEqual({ Pending: 1 });
  });

  it('is looked for in all of many pages, once', async () => {
    const crawl = await startCrawl(db());
    await crawl.add(...numbered(6_000, 'a.test/x'), ...numbered(6_000, 'b.test/y'));
    expect(await exclude(crawl, '/x/*7')).toBe(600);
    expect(await exclude(crawl, '/*')).toBe(11_400);
    expect(await crawl.statuses()).toEqual({ Rejected: 12_000 });
  });
});

test('a crawl that has ended, is being cancelled or does not exist refuses, and so does one with too many patterns', async () => {
  const crawl = await startCrawl(db());
  await db().crawl.update({
    where: { id: crawl.id },
    data: { excluded: Array.from({ length: MAX_EXCLUDED }, (_, n) => `/${n}`) },
  });
  expect(await addExcluded(db(), crawl.id, newOrder(), '/x')).toBe('too-many');
  expect(await addExcluded(db(), crawl.id, newOrder(), '/7')).toBe('excluded');
  await giveOrder(db(), crawl.id, 'cancel');
  expect(await addExcluded(db(), crawl.id, newOrder(), '/7')).toBe('ended');
  await endCrawl(db(), crawl.id, 'Cancelled', null);
  expect(await addExcluded(db(), crawl.id, newOrder(), '/7')).toBe('ended');
  expect(await addExcluded(db(), 'nobody', newOrder(), '/7')).toBe('unknown-crawl');
});
