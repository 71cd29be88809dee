import { expect, test } from 'vitest';
import { openDomain } from '../../src/storage/domains.ts';
import { readGate } from '../../src/storage/gate.ts';
import { readFetchContext } from '../../src/storage/pages/fetch-context.ts';
import { lookUpRobots, readRobotsRow, saveRobotsRules } from '../../src/storage/robots.ts';
import { giveOrder, HOUR_MS, startCrawl, success, useDatabase } from './support.ts';

const db = useDatabase();
const reader = { domain: 'a.test', agent: 'Amble' };
const read = (crawlId: string, url: string, pageId = '0') =>
  readFetchContext(db(), { crawlId, pageId, url, reader });

test('a fetch learns whether its crawl is running, paused or unknown', async () => {
  const crawl = await startCrawl(db());
  expect(await read(crawl.id, 'http://new.test/')).toEqual({
    crawlStatus: 'Running',
    isOpen: false,
    excludedBy: null,
    robots: null,
    copy: null,
    gate: null,
  });
  await giveOrder(db(), crawl.id, 'pause');
  expect(await read(crawl.id, 'http://new.test/')).toMatchObject({ crawlStatus: 'Paused' });
  expect(await read('nobody', 'http://new.test/')).toMatchObject({ crawlStatus: 'unknown' });
});

test('a fetch learns whether its page has ended', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.admitted('http://a.test/');
  expect(await read(crawl.id, page.url, page.pageId)).toMatchObject({ isOpen: true });
  await crawl.record(page);
  expect(await read(crawl.id, page.url, page.pageId)).toMatchObject({ isOpen: false });
});

test('a fetch learns the state of the gate of its domain', async () => {
  const crawl = await startCrawl(db());
  await openDomain(db(), reader.domain);
  const { gate } = await read(crawl.id, 'http://a.test/');
  const now = expect.any(Number);
  expect({ ...gate, now }).toEqual({ ...(await readGate(db(), reader.domain)), now });
  expect(gate?.now).toBeGreaterThan(Date.now() - HOUR_MS);
});

test('a fetch learns the state of the robots.txt of its origin', async () => {
  const crawl = await startCrawl(db());
  const origin = 'http://a.test';
  await lookUpRobots(db(), { origin, ...reader, claimMs: 60_000 }, null);
  const body = 'User-agent: *\nDisallow: /';
  const rules = { body, statusCode: 200, freshMs: HOUR_MS, maxCrawlDelayMs: 0 };
  await saveRobotsRules(db(), origin, { ...reader, ...rules });
  const { robots } = await read(crawl.id, `${origin}/page`);
  expect(robots).toEqual(await readRobotsRow(db(), origin, reader));
  expect(robots).toMatchObject({ fresh: true, has_text: true });
});

test('the cached copy is the newest one with a validator, from any crawl', async () => {
  const url = 'http://validated.test/';
  const visit = async (contentHash: string, etag: string | null, finishedAt: number) => {
    const crawl = await startCrawl(db());
    const found = {
      kind: 'document',
      contentHash,
      contentType: 'text/html; charset=utf-8',
      bytes: 10,
      etag,
      lastModified: null,
      contentLanguage: null,
      directives: { noindex: false, nofollow: false },
    } as const;
    await crawl.record(await crawl.admitted(url), { report: { ...success(), finishedAt, found } });
    return crawl.id;
  };
  const crawlId = await visit('f0', null, 4_000);
  expect(await read(crawlId, url)).toMatchObject({ copy: null });
  await visit('f1', '"1"', 2_000);
  await visit('f2', '"2"', 3_000);
  await visit('f3', '"3"', 1_000);
  expect((await read(crawlId, url)).copy).toEqual({
    contentHash: 'f2',
    contentType: 'text/html; charset=utf-8',
    type: 'text/html',
    bytes: 10,
    etag: '"2"',
    lastModified: null,
    noindex: false,
    nofollow: false,
  });
  expect(await read(crawlId, 'http://never-seen.test/')).toMatchObject({ copy: null });
});
