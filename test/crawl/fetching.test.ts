import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { objectName } from '../../src/worker/content-store.ts';
import { openContentStore } from '../../src/worker/open-content-store.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, type Site, startWeb, type TestWeb } from '../support/web.ts';

let amble: Amble;
let web: TestWeb;
beforeAll(async () => {
  amble = await startAmble({ contact: 'https://example.org/bot', from: 'crawl@example.org' });
});
afterAll(() => amble?.stop());
afterEach(() => web?.stop());

async function crawl(sites: Record<string, Site>, input: Record<string, unknown> = {}) {
  web = await startWeb(sites);
  const seeds = [web.url(Object.keys(sites)[0] ?? '')];
  return amble.crawl({ seeds, ...web.network, ...input });
}

const pageAt = (crawlId: string, url: string) =>
  amble.db.page.findFirstOrThrow({ where: { crawlId, url }, include: { attempted: true } });

it('every request, also for robots.txt, says who sends it and how to reach them', async () => {
  const seen: unknown[] = [];
  await crawl({
    site: (path, { headers }) => {
      seen.push([path, headers['user-agent'], headers.from]);
      return path === '/' ? { body: 'hello' } : undefined;
    },
  });
  const agent = expect.stringMatching(/^Amble\/\d+\.\d+\.\d+ \(\+https:\/\/example\.org\/bot\)$/);
  expect(seen).toEqual([
    ['/robots.txt', agent, 'crawl@example.org'],
    ['/', agent, 'crawl@example.org'],
  ]);
});

it('a later crawl sends conditional requests; "not modified" is recorded, and the copy is parsed again', async () => {
  const asked: unknown[] = [];
  const site: Site = (path, { headers }) => {
    if (path === '/child') return { body: 'child' };
    if (path !== '/') return undefined;
    asked.push([headers['if-none-match'], headers['if-modified-since']]);
    const validators = { etag: '"v1"', 'last-modified': 'Sun, 01 Mar 2026 12:00:00 GMT' };
    if (headers['if-none-match'] === '"v1"') return { status: 304, headers: validators };
    return { headers: validators, body: `<title>Kept</title>${links('/child')}` };
  };
  const first = await crawl({ site });
  const again = await amble.crawl({ seeds: [web.url('site')], ...web.network });
  expect(again.pages).toEqual({ Fetched: 2 });
  expect(asked).toEqual([
    [undefined, undefined],
    ['"v1"', 'Sun, 01 Mar 2026 12:00:00 GMT'],
  ]);
  const [before, after] = await Promise.all(
    [first, again].map(({ crawlId }) => pageAt(crawlId, web.url('site'))),
  );
  expect(after).toMatchObject({
    statusCode: 304,
    title: 'Kept',
    contentHash: before?.contentHash,
    contentType: before?.contentType,
    etag: '"v1"',
    attempted: [{ outcome: 'Success', statusCode: 304, bytes: 0, errorKind: null }],
  });
});

it('a copy that the content store no longer has is not confirmed, but fetched and stored again', async () => {
  const site: Site = (path, { headers }) => {
    if (path !== '/') return undefined;
    if (headers['if-none-match'] === '"v1"') return { status: 304 };
    return { headers: { etag: '"v1"' }, body: 'lost with the disk' };
  };
  const { crawlId } = await crawl({ site });
  const { contentHash } = await pageAt(crawlId, web.url('site'));
  const { contentStore } = amble.config;
  if (contentHash === null || contentStore.kind !== 'directory') throw new Error('Nothing was stored.');
  await rm(join(contentStore.path, objectName(contentHash)));
  const again = await amble.crawl({ seeds: [web.url('site')], ...web.network });
  expect(await pageAt(again.crawlId, web.url('site'))).toMatchObject({ status: 'Fetched', statusCode: 200 });
  expect(await openContentStore(contentStore).has(contentHash)).toBe(true);
});

it('"not modified" without the nofollow header of the copy still means nofollow', async () => {
  const site: Site = (path, { headers }) => {
    if (path !== '/') return undefined;
    if (headers['if-none-match'] === '"v1"') return { status: 304 };
    return { headers: { etag: '"v1"', 'x-robots-tag': 'none' }, body: links('/child') };
  };
  expect((await crawl({ site })).pages).toEqual({ Fetched: 1 });
  const input = { seeds: [web.url('site')], ...web.network };
  // A third crawl learns it from the second.
  for (const again of [await amble.crawl(input), await amble.crawl(input)]) {
    expect(again.pages).toEqual({ Fetched: 1 });
    expect(await pageAt(again.crawlId, web.url('site'))).toMatchObject({ statusCode: 304, noindex: true });
  }
  expect(web.arrivalsAt('site', '/child')).toEqual([]);
});

it('the same body at two URLs is stored once and marked', async () => {
  const { crawlId } = await crawl({
    site: (path) => {
      if (path === '/') return { body: links('/one', '/two') };
      return path === '/robots.txt' ? undefined : { body: 'the very same' };
    },
  });
  const one = await pageAt(crawlId, web.url('site', '/one'));
  const two = await pageAt(crawlId, web.url('site', '/two'));
  expect(two.contentHash).toBe(one.contentHash);
  const [original, duplicate] = one.duplicateOfId === null ? [one, two] : [two, one];
  expect(original.duplicateOfId).toBeNull();
  expect(duplicate.duplicateOfId).toBe(original.id);
});

it('types to keep are stored without being parsed', async () => {
  const { crawlId, pages } = await crawl(
    {
      site: (path) => {
        if (path === '/') return { body: links('/a.pdf', '/b.css') };
        if (path === '/a.pdf')
          return { headers: { 'content-type': 'application/pdf' }, body: '%PDF <a href="/no">no</a>' };
        return path === '/b.css' ? { headers: { 'content-type': 'text/css' }, body: 'a {}' } : undefined;
      },
    },
    { keepTypes: ['application/pdf'] },
  );
  expect(pages).toEqual({ Fetched: 2, Rejected: 1 });
  const { contentHash, contentType, linksFound } = await pageAt(crawlId, web.url('site', '/a.pdf'));
  expect({ contentType, linksFound }).toEqual({ contentType: 'application/pdf', linksFound: 0 });
  const stored = await openContentStore(amble.config.contentStore).get(contentHash ?? '');
  expect(stored.toString()).toBe('%PDF <a href="/no">no</a>');
});

it('credentials in a link or a redirect are neither sent nor stored', async () => {
  const authorizations: unknown[] = [];
  const { crawlId } = await crawl({
    site: (path, { headers }) => {
      authorizations.push(headers.authorization);
      if (path === '/') return { body: `<a href="//me:secret@${headers.host}/linked">in</a>` };
      if (path === '/linked')
        return { status: 302, headers: { location: `http://me:secret@${headers.host}/moved` } };
      return path === '/moved' ? { body: 'here' } : undefined;
    },
  });
  const rows = await amble.db.page.findMany({
    where: { crawlId },
    orderBy: { id: 'asc' },
    include: { attempted: true, links: true },
  });
  expect(rows.map((row) => [new URL(row.url).pathname, row.status])).toEqual([
    ['/', 'Fetched'],
    ['/linked', 'Redirected'],
    ['/moved', 'Fetched'],
  ]);
  const stored = JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  expect(stored).not.toContain('secret');
  expect(authorizations.filter((authorization) => authorization !== undefined)).toEqual([]);
});

it('a seed that moved to another host takes the crawl along', async () => {
  const { pages } = await crawl(
    {
      old: (path) => (path === '/' ? { status: 301, headers: { location: web.url('new') } } : undefined),
      new: (path) => {
        if (path === '/') return { body: links('/more') };
        return path === '/more' ? { body: 'more' } : undefined;
      },
    },
    { scope: 'host' },
  );
  expect(pages).toEqual({ Redirected: 1, Fetched: 2 });
});
