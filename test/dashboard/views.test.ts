/** Views on a real crawl, as programs and browsers without a script get them. */
import { createHash } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { OPEN_STATUSES } from '../../src/core/outcome.ts';
import { resumeAll, stopAll } from '../../src/operator/stop-orders.ts';
import { createApp } from '../../src/server/app.tsx';
import { LiveFeeds } from '../../src/server/live.ts';
import { VIEWS } from '../../src/server/views/index.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createInterceptors } from '../../src/temporal/connection.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb } from '../support/web.ts';
import { type Dashboard, openDashboard } from './support.ts';

const PAGES = 12;

const NowJson = z.object({
  crawls: z.array(
    z.object({
      id: z.string(),
      status: z.string(),
      found: z.number(),
      done: z.number(),
      open: z.number(),
      pages: z.record(z.string(), z.number()),
      heldBackBy: z.string().nullable(),
    }),
  ),
});

const sha256 = (text: string) => createHash('sha256').update(text).digest();

let amble: Amble;
let dashboard: Dashboard;
let web: Awaited<ReturnType<typeof startWeb>>;

beforeAll(async () => {
  amble = await startAmble();
  dashboard = openDashboard(amble);
  web = await startWeb({ site: flatSite(PAGES), patient: flatSite(PAGES) });
  await amble.start({ seeds: [web.url('site', '/')], ...web.network, delay: '1s' }, 'views-slow');
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

async function readNow(on = dashboard) {
  return NowJson.parse(await (await on.get('/now.json')).json()).crawls;
}

test('Now has every crawl, with numbers that add up and a sentence on what holds it back', async () => {
  await expect.poll(async () => (await readNow())[0]?.done, { timeout: 20_000 }).toBeGreaterThan(1);
  const [crawl] = await readNow();
  if (!crawl) throw new Error('There is no crawl.');
  expect(crawl.found).toBe(crawl.done + crawl.open);
  expect(crawl.found).toBe(Object.values(crawl.pages).reduce((sum, count) => sum + count, 0));
  expect(crawl.heldBackBy).toMatch(new RegExp(`^${web.name('site')} sets the pace: \\d+ pages? at 1 s\\.$`));
  const page = await (await dashboard.get('/now')).text();
  expect(page).toContain('href="/crawls/views-slow"');
  expect(page).toContain('sets the pace');
});

test.each(VIEWS.filter(({ path }) => !path.includes(':')).map(({ path }) => path))(
  '%s is a page and has a twin in JSON',
  async (path) => {
    const page = await dashboard.get(path);
    expect(page.headers.get('Content-Type')).toContain('text/html');
    const twin = await dashboard.get(`${path}.json`);
    expect(twin.headers.get('Content-Type')).toContain('application/json');
    if (page.status === 200) expect(await twin.json()).toBeTypeOf('object');
  },
);

test('an open page is sent again as the crawl goes on', async () => {
  const response = await dashboard.get('/now', { Accept: 'text/event-stream' });
  const sent = new Set<string>();
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; sent.size < 2; ) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error('The stream ended.');
    text += value;
    for (const [, done = ''] of text.matchAll(/aria-label="(\d+ of \d+ pages are done)"/g)) sent.add(done);
  }
  await reader?.cancel();
});

test('fifty open pages cost one set of queries per tick', async () => {
  let loads = 0;
  const db = openDatabase(amble.databaseUrl, {
    forReports: true,
    onStatement: ({ text }) => {
      if (text.includes('FROM crawls WHERE true')) loads += 1;
    },
  });
  const { services } = openDashboard(amble, { db });
  const log = (line: string) => {
    throw new Error(line);
  };
  // So long that the test ends before the second tick.
  const app = createApp({ services, hosts: [], token: null, log, feeds: new LiveFeeds(600_000) });
  const open = async () => {
    const headers = { Host: 'localhost', Accept: 'text/event-stream' };
    const reader = (await app.request('/now', { headers })).body?.getReader();
    if (reader === undefined) throw new Error('The response has no body.');
    return { reader, first: await reader.read() };
  };
  const streams = await Promise.all(Array.from({ length: 50 }, open));
  expect(streams.filter(({ first }) => !first.done)).toHaveLength(50);
  expect(loads).toBe(1);
  await Promise.all(streams.map(({ reader }) => reader.cancel()));
  await db.$disconnect();
});

test('without Postgres a page shows what was known, and says what is missing', async () => {
  const gone = openDatabase('postgresql://nobody@127.0.0.1:1/none');
  try {
    const other = openDashboard(amble);
    expect((await other.get('/now')).status).toBe(200);
    Object.assign(other.services, { db: gone });
    const page = await other.get('/now');
    expect(page.status).toBe(200);
    const text = await page.text();
    expect(text).toContain('Postgres has been unavailable since');
    expect(text).toContain('href="/crawls/views-slow"');
    expect((await other.get('/domains')).status).toBe(503);
    Object.assign(other.services, { db: amble.db });
    expect(await (await other.get('/now')).text()).not.toContain('unavailable');
  } finally {
    await gone.$disconnect();
  }
});

test('without Postgres, Health says so, and a form that needs nothing of it is shown', async () => {
  const gone = openDatabase('postgresql://nobody@127.0.0.1:1/none');
  try {
    const other = openDashboard(amble);
    for (const path of ['/health', '/start']) expect((await other.get(path)).status).toBe(200);
    Object.assign(other.services, { db: gone });
    const health = await other.get('/health');
    expect(health.status).toBe(200);
    const text = await health.text();
    expect(text).toContain('Postgres is unavailable: ');
    expect(text).toContain('Not known: Postgres is unavailable.');
    expect(text).toContain('Postgres has been unavailable since');
    expect(text).not.toContain('This page shows what was known');
    const twin = await other.get('/health.json');
    expect(await twin.json()).toMatchObject({ postgresError: expect.any(String), workers: null });
    expect((await other.get('/start')).status).toBe(200);
  } finally {
    await gone.$disconnect();
  }
});

test('a page without Postgres still says that everything is stopped', async () => {
  const gone = openDatabase('postgresql://nobody@127.0.0.1:1/none');
  const { db, client, config } = amble;
  const other = openDashboard(amble);
  await stopAll({ db, config }, { channel: 'cli', by: 'Anna', reason: 'a test' });
  try {
    expect(await (await other.get('/start')).text()).toContain('Everything is stopped');
    Object.assign(other.services, { db: gone });
    for (const path of ['/health', '/domains', '/nothing'])
      expect(await (await other.get(path)).text()).toContain('Everything is stopped');
  } finally {
    await resumeAll({ db, client }, { channel: 'cli', by: 'Anna', reason: null });
    await gone.$disconnect();
  }
});

test('the preview of an exclusion, which reads many pages, is not sent again', async () => {
  const address = '/crawls/views-slow/exclude?pattern=/x*';
  const preview = await dashboard.get(address, { Accept: 'text/event-stream' });
  expect(preview.headers.get('Content-Type')).toContain('text/html');
  expect(await preview.text()).not.toContain('data-live');
});

test.each([
  ['HEAD', {}],
  ['GET', { 'Sec-Fetch-Site': 'cross-site' }],
  ['GET', { 'Sec-Fetch-Site': 'same-site' }],
])('%s with %o opens no stream', async (method, site) => {
  const feeds = new LiveFeeds(600_000);
  const log = (line: string) => {
    throw new Error(line);
  };
  const app = createApp({ services: dashboard.services, hosts: [], token: null, log, feeds });
  const headers = { Host: 'localhost', Accept: 'text/event-stream', ...site };
  const response = await app.request('/now', { method, headers });
  expect(response.headers.get('Content-Type')).toContain('text/html');
  expect(feeds.followers).toBe(0);
});

test('without Temporal a page shows what Postgres knows, and says what is missing', async () => {
  const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: createInterceptors() });
  try {
    const other = openDashboard(amble, { client: new Client({ connection }) });
    const page = await other.get('/now');
    expect(page.status).toBe(200);
    const text = await page.text();
    expect(text).toContain('Temporal has been unavailable since');
    expect(text).toContain('href="/crawls/views-slow"');
  } finally {
    await connection.close();
  }
});

test('a crawl says what holds it back, and a page that everything is stopped', async () => {
  const { db, client, config } = amble;
  await amble.start({ seeds: [web.url('patient', '/')], ...web.network, delay: '20s' }, 'views-patient');
  const open = { crawlId: 'views-patient', status: { in: [...OPEN_STATUSES] } };
  await expect.poll(() => db.page.count({ where: open }), { timeout: 20_000 }).toBe(1);
  expect(await (await dashboard.get('/crawls/views-patient')).text()).toContain('sets the pace');
  const page = await db.page.findFirstOrThrow({ where: open });
  await stopAll({ db, config }, { channel: 'cli', by: 'Anna', reason: 'a test' });
  try {
    const html = await (await dashboard.get(`/page?url=${encodeURIComponent(page.url)}`)).text();
    expect(html).toContain('Everything is stopped by Anna (cli): a test.</bdi></p>');
  } finally {
    await resumeAll({ db, client }, { channel: 'cli', by: 'Anna', reason: null });
  }
});

test('a crawl whose only domain is paused says so, also before anything was counted', async () => {
  const { db } = amble;
  const crawl = await db.crawl.findUniqueOrThrow({ where: { id: 'views-slow' } });
  await db.crawl.create({
    data: { id: 'views-held', seeds: [], settings: crawl.settings ?? {}, scopeHosts: [] },
  });
  await db.domain.create({ data: { name: 'held.test', paused: true } });
  const unreachable = Connection.lazy({ address: '127.0.0.1:1', interceptors: createInterceptors() });
  await amble.client.workflow.start('Crawl', { taskQueue: 'nobody', args: [], workflowId: 'views-held' });
  try {
    const url = 'http://held.test/';
    await db.page.create({
      data: { crawlId: 'views-held', url, urlHash: sha256(url), domain: 'held.test' },
    });
    await db.order.create({
      data: { id: 'held', kind: 'pause', domain: 'held.test', channel: 'cli', givenBy: 'Anna', effect: 'x' },
    });
    const path = `/page?url=${encodeURIComponent(url)}`;
    const withoutTemporal = openDashboard(amble, { client: new Client({ connection: unreachable }) });
    for (const one of [dashboard, withoutTemporal])
      expect(await (await one.get(path)).text()).toContain('the domain is paused by Anna (cli).');
    const heldBackBy = async () => (await readNow()).find(({ id }) => id === 'views-held')?.heldBackBy;
    expect(await heldBackBy()).toBe('1 domain paused by an operator.');
    await amble.client.workflow.getHandle('views-held').terminate();
    expect(await heldBackBy()).toBe('It is stalled: its workflow is terminated.');
    expect(await (await dashboard.get('/crawls/views-held')).text()).toContain('It is stalled');
  } finally {
    await unreachable.close();
    await db.crawl.delete({ where: { id: 'views-held' } });
  }
});

test('a small domain with a long gap sets the pace, and Now and the crawl expect the same end', async () => {
  const { db } = amble;
  const crawl = await db.crawl.findUniqueOrThrow({ where: { id: 'views-slow' } });
  const id = 'views-broad';
  await db.crawl.create({ data: { id, seeds: [], settings: crawl.settings ?? {}, scopeHosts: [] } });
  await db.domain.create({ data: { name: 'd0.broad.test', minGapMs: 3_600_000 } });
  await amble.client.workflow.start('Crawl', {
    taskQueue: 'nobody',
    args: [],
    workflowId: id,
  });
  try {
    await db.$executeRaw`
      INSERT INTO pages (crawl_id, url, url_hash, domain)
      SELECT ${id}, url, sha256(convert_to(url, 'UTF8')), domain
      FROM (SELECT 'd' || domain || '.broad.test' AS domain, 'http://d' || domain || '.broad.test/' || page AS url
            FROM generate_series(0, 200) AS domain, generate_series(1, least(1 + domain, 2)) AS page) AS found`;
    const now = (await readNow()).find((one) => one.id === id);
    expect(now?.heldBackBy).toBe('d0.broad.test sets the pace: 1 page at 1 h.');
    expect(await (await dashboard.get('/now')).text()).toContain('about 1 h');
    expect(await (await dashboard.get(`/crawls/${id}`)).text()).toContain('about 1 h');
  } finally {
    await amble.client.workflow.getHandle(id).terminate();
    await db.crawl.delete({ where: { id } });
  }
});

test('what does not exist is not found', async () => {
  expect((await dashboard.get('/nothing')).status).toBe(404);
  const twin = await dashboard.get('/crawls/nobody.json');
  expect([twin.status, twin.headers.get('Content-Type')]).toEqual([404, 'application/problem+json']);
});
