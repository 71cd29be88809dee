/** What is shown of one domain: its last requests, its robots.txt, the proof, and what is left to do. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { proveDomain } from '../../src/reports/domain-proof.ts';
import { readRemaining } from '../../src/storage/reports/remaining.ts';
import { readRequestHistory } from '../../src/storage/reports/request-history.ts';
import { readRobotsVersions } from '../../src/storage/reports/robots-versions.ts';
import { numbered, SETTINGS, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();
const START = new Date('2026-01-01T00:00:00Z');

/** Of robots.txt, which may always be requested, so that no rules are needed. */
async function addRequests(domain: string, startsMs: readonly number[], minGapMs = 1_000): Promise<void> {
  await db().request.createMany({
    data: startsMs.map((ms) => ({
      ...{ leaseId: randomUUID(), domain, crawlId: 'any', pageId: 1n, purpose: 'robots' as const },
      ...{ url: `http://${domain}/robots.txt`, startedErrorMs: 0, minGapMs, durationMs: 20, statusCode: 200 },
      ...{ startedAt: new Date(START.getTime() + ms), sentAt: new Date(START.getTime() + ms) },
      ...{ address: '192.0.2.1', addressBlock: '192.0.2.1' },
    })),
  });
}

const period = (fromMs: number, untilMs: number) => ({
  from: new Date(START.getTime() + fromMs),
  until: new Date(START.getTime() + untilMs),
});

test('the history of a domain has the last requests in order, each with the gap before it', async () => {
  await addRequests('history.test', [0, 1_000, 2_500, 5_000]);
  expect((await readRequestHistory(db(), 'history.test', 10)).map(({ gapMs }) => gapMs)).toEqual([
    null,
    1_000,
    1_500,
    2_500,
  ]);
  const lastTwo = await readRequestHistory(db(), 'history.test', 2);
  expect(lastTwo).toMatchObject([{ gapMs: 1_500 }, { gapMs: 2_500, requiredMs: 1_000, statusCode: 200 }]);
});

describe('the proof of a domain', () => {
  test('judges the requests of the period, whatever crawl sent them, and no others', async () => {
    await addRequests('proof.test', [0, 100, 5_000, 6_000, 7_000]);
    const all = await proveDomain(db(), 'proof.test', period(-1, 10_000));
    expect(all.proof).toMatchObject({
      requests: 5,
      violationCount: 1,
      violations: [{ kind: 'gap', gapMs: 100 }],
    });
    const later = await proveDomain(db(), 'proof.test', period(4_000, 6_500));
    expect(later.proof).toMatchObject({ requests: 2, violationCount: 0 });
    expect(later.coversFrom).toBeNull();
  });

  test('is made once for all who ask for it at the same time', async () => {
    const [one, other] = [period(0, 1_000), period(0, 1_000)].map((asked) =>
      proveDomain(db(), 'proof.test', asked),
    );
    expect(await one).toBe(await other);
    expect(await proveDomain(db(), 'proof.test', period(0, 1_000))).not.toBe(await one);
  });

  test('of very many requests covers the last ones, and says since when', async () => {
    await db().$executeRaw`
      INSERT INTO requests (lease_id, domain, crawl_id, page_id, purpose, url, started_at, started_error_ms, min_gap_ms, duration_ms,
                            address, address_block, sent_at)
      SELECT 'many/' || n, 'many.test', 'many', 1, 'robots', 'http://many.test/robots.txt',
             ${START}::timestamptz + n * interval '1 second', 1, 1000, 1, '192.0.2.1', '192.0.2.1', ${START}::timestamptz
      FROM generate_series(1, 6000) n`;
    const { coversFrom, proof } = await proveDomain(db(), 'many.test', period(0, 7_000_000));
    expect(coversFrom).toEqual(new Date(START.getTime() + 1_000_000));
    expect(proof).toMatchObject({ requests: 5_001, violationCount: 0 });
  });
});

test('the versions of a robots.txt are listed, the latest first', async () => {
  await db().robots.create({
    data: { origin: 'http://robots.test', domain: 'robots.test', statusCode: 200 },
  });
  for (const body of ['Disallow: /a', 'Disallow: /b'])
    await db().robotsRules.create({ data: { origin: 'http://robots.test', body, maxCrawlDelayMs: 1 } });
  expect(await readRobotsVersions(db(), 'robots.test')).toMatchObject([
    { origin: 'http://robots.test', versions: [{ body: 'Disallow: /b' }, { body: 'Disallow: /a' }] },
  ]);
});

test('what is left of a crawl takes the longest gap that applies to each domain', async () => {
  const settings = {
    ...SETTINGS,
    delay: { minMs: 1_000, maxMs: 3_000 },
    domains: { 'rule.test': { delay: { minMs: 7_000, maxMs: 7_000 } } },
  };
  const crawl = await startCrawl(db(), settings);
  await crawl.add(...numbered(3, 'plain.test'), ...numbered(2, 'rule.test'), ...numbered(1, 'slow.test'));
  await db().domain.create({ data: { name: 'slow.test', minGapMs: 30_000, paused: true } });
  const remaining = await readRemaining(db(), crawl.id, settings);
  expect(remaining.sort((one, other) => one.gapMs - other.gapMs)).toMatchObject([
    { domain: 'plain.test', open: 3, gapMs: 2_000, paused: false },
    { domain: 'rule.test', open: 2, gapMs: 7_000 },
    { domain: 'slow.test', open: 1, gapMs: 30_000, paused: true },
  ]);
});
