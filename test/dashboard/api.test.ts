/** The API on real crawls: what it starts, changes and returns. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import {
  CrawlDetailsSchema,
  CrawlSchema,
  DomainSchema,
  OrdersSchema,
  PagesSchema,
} from '../../src/server/api/schemas.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { type Dashboard, openDashboard } from './support.ts';

const PAGES = 30;

let amble: Amble;
let dashboard: Dashboard;
let web: TestWeb;

beforeAll(async () => {
  amble = await startAmble();
  dashboard = openDashboard(amble);
  web = await startWeb({ site: flatSite(PAGES) });
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

const get = (path: string) => dashboard.get(`/api/v1${path}`);

async function post(path: string, body: unknown = {}): Promise<Response> {
  return dashboard.app.request(`/api/v1${path}`, {
    method: 'POST',
    headers: { Host: 'localhost', 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

test('a crawl is started, listed, paused with a reason, resumed and cancelled', async () => {
  const started = await post('/crawls', {
    id: 'by-api',
    seeds: [web.url('site', '/')],
    ...web.network,
    preset: 'broad',
    delay: '300ms',
  });
  expect(started.status).toBe(201);
  expect(started.headers.get('Location')).toBe('/api/v1/crawls/by-api');
  await expect.poll(async () => (await get('/crawls/by-api')).status, { timeout: 20_000 }).toBe(200);
  const details = CrawlDetailsSchema.parse(await (await get('/crawls/by-api')).json());
  expect(details.settings).toMatchObject({ preset: 'broad', scope: 'any', delay: { minMs: 300 } });
  expect((await post('/crawls', { id: 'by-api', seeds: ['https://example.org/'] })).status).toBe(409);

  const paused = await post('/crawls/by-api/pause', { reason: 'lunch', by: 'Anna' });
  expect(CrawlSchema.parse(await paused.json())).toMatchObject({
    status: 'Paused',
    heldBackBy: 'Paused by Anna (api): lunch.',
  });
  expect(CrawlSchema.parse(await (await post('/crawls/by-api/resume')).json()).status).toBe('Running');
  expect((await post('/crawls/by-api/cancel')).status).toBe(200);
  await expect
    .poll(async () => CrawlDetailsSchema.parse(await (await get('/crawls/by-api')).json()).status, {
      timeout: 20_000,
    })
    .toBe('Cancelled');
  expect((await post('/crawls/by-api/pause')).status).toBe(409);
  const { crawls } = z.object({ crawls: z.array(CrawlSchema) }).parse(await (await get('/crawls')).json());
  expect(crawls.map(({ id }) => id)).toContain('by-api');
  const { orders } = OrdersSchema.parse(await (await get('/orders?crawl=by-api')).json());
  expect(orders.map(({ kind, channel, by }) => [kind, channel, by])).toEqual([
    ['cancel', 'api', null],
    ['resume', 'api', null],
    ['pause', 'api', 'Anna'],
  ]);
});

test('pages come in parts, each page once, with its attempts', async () => {
  await amble.crawl({ seeds: [web.url('site', '/')], ...web.network, delay: '1ms' }, 'api-parts');
  const urls: string[] = [];
  for (let after = ''; ; ) {
    const response = await get(`/crawls/api-parts/pages?limit=10${after}`);
    const { pages, next } = PagesSchema.parse(await response.json());
    expect(pages.every(({ attempts }) => attempts.length === 1)).toBe(true);
    urls.push(...pages.map(({ url }) => url));
    if (next === null) break;
    after = `&after=${next}`;
  }
  expect(urls).toHaveLength(PAGES + 1);
  expect(new Set(urls).size).toBe(urls.length);
  const page = await get(`/pages?url=${encodeURIComponent(urls[0] ?? '')}&crawl=api-parts`);
  expect(await page.json()).toMatchObject({ url: urls[0], status: 'Fetched', crawl: 'api-parts' });
  const tracked = await get(`/pages?url=${encodeURIComponent(`${urls[0]}?utm_source=chat`)}`);
  expect(await tracked.json()).toMatchObject({ url: urls[0] });
});

test('URLs are excluded after a preview, and failed pages retried by their cause', async () => {
  await amble.start({ seeds: [web.url('site', '/')], ...web.network, delay: '5s' }, 'api-exclude');
  const found = async () => (await get('/crawls/api-exclude')).json();
  await expect.poll(found, { timeout: 20_000 }).toMatchObject({ found: PAGES + 1 });
  const preview = await post('/crawls/api-exclude/exclude', { pattern: '/*', preview: true });
  expect(await preview.json()).toMatchObject({ pending: expect.any(Number), examples: expect.any(Array) });
  const excluded = await post('/crawls/api-exclude/exclude', { pattern: '/*', reason: 'too many' });
  const { rejected } = z.object({ rejected: z.number() }).parse(await excluded.json());
  expect(rejected).toBeGreaterThan(PAGES / 2);
  const retried = await post('/crawls/api-exclude/retry', { cause: 'timeout' });
  expect(await retried.json()).toMatchObject({ pages: 0 });
  expect((await post('/crawls/api-exclude/retry', { cause: 'no such!' })).status).toBe(400);
});

test('a domain is paused, slowed down and reset', async () => {
  const domain = web.name('site');
  const order = async (kind: string, body = {}) =>
    DomainSchema.parse(await (await post(`/domains/${domain}/${kind}`, body)).json());
  expect(await order('pause', { reason: 'asked by its owner' })).toMatchObject({ paused: true, live: true });
  expect(await order('resume')).toMatchObject({ paused: false });
  expect(await order('delay', { delay: '5s-15s' })).toMatchObject({ delay: { minMs: 5_000, maxMs: 15_000 } });
  expect(await order('reset')).toMatchObject({ delay: null });
  const ordered = await get(`/orders?domain=${domain.toUpperCase()}&limit=1`);
  expect(await ordered.json()).toMatchObject({ orders: [{ kind: 'reset', domain }] });
  expect(await (await dashboard.get(`/orders?domain=${domain.toUpperCase()}`)).text()).toContain(
    'asked by its owner',
  );
  expect(await (await get(`/domains/${domain}`)).json()).toMatchObject({ domain, live: true });
});

test.each([
  ['GET', '/crawls/none', 404, 'There is no crawl named none.'],
  ['GET', '/crawls?limit=0', 400, 'limit'],
  ['GET', '/crawls/..%2f', 400, 'crawl'],
  ['GET', '/domains/unseen.example', 404, 'No crawl has requested anything'],
  ['GET', '/domains/a%20b', 400, 'Invalid domain'],
  ['GET', '/pages?url=nothing', 400, 'Invalid URL'],
  ['GET', '/orders?after=x', 400, 'after'],
  ['GET', '/crawls?after=x', 400, 'after'],
  ['GET', '/orders?after=0000-01-01T00:00:00.000Z~x', 400, 'after'],
  ['GET', '/orders?domain=%00', 400, 'NUL'],
  ['GET', '/nothing', 404, 'There is nothing at /api/v1/nothing.'],
  ['POST', '/crawls', 400, 'seeds'],
  ['POST', '/crawls/none/pause', 404, 'There is no crawl named none.'],
  ['POST', '/domains/example.org/delay', 400, 'delay'],
  ['POST', '/crawls/none/pages', 405, '/api/v1/crawls/none/pages has no POST.'],
  ['GET', '/stop-all', 405, '/api/v1/stop-all has no GET.'],
])('%s %s is a problem with status %i and a sentence', async (method, path, status, detail) => {
  const response = await (method === 'GET' ? get(path) : post(path));
  expect(response.status).toBe(status);
  expect(response.headers.get('Content-Type')).toBe('application/problem+json');
  const problem = z
    .object({ status: z.number(), title: z.string(), detail: z.string() })
    .parse(await response.json());
  expect(problem.status).toBe(status);
  expect(problem.detail).toContain(detail);
});

test.each(['application/x-www-form-urlencoded', null])(
  'a body of type %s is refused, not taken for an order without limits',
  async (type) => {
    const response = await dashboard.app.request('/api/v1/crawls/by-api/retry', {
      method: 'POST',
      headers: { Host: 'localhost', ...(type !== null && { 'Content-Type': type }) },
      body: new TextEncoder().encode('{"cause":"timeout"}'),
    });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ status: 415 });
  },
);

test('a setting that makes no sense is refused with the sentence of the command line', async () => {
  const response = await post('/crawls', { seeds: ['https://example.org/'], delay: 'soon' });
  expect(await response.json()).toMatchObject({
    status: 400,
    detail: expect.stringContaining(`"delay" in the crawl's input is "soon", but must be`),
  });
});

test('the document describes the settings of a crawl as its schema does', async () => {
  const document = z
    .object({ components: z.object({ schemas: z.object({ NewCrawl: z.looseObject({}) }) }) })
    .parse(await (await get('/openapi.json')).json());
  expect(document.components.schemas.NewCrawl).toMatchObject({
    properties: {
      scope: { description: 'one of host, site, any' },
      maxPages: { description: 'a whole number of at least 1, or "none"' },
    },
  });
});

test('the document describes every route', async () => {
  const document = z
    .object({ openapi: z.literal('3.1.0'), paths: z.record(z.string(), z.unknown()) })
    .parse(await (await get('/openapi.json')).json());
  expect(Object.keys(document.paths).sort()).toEqual([
    '/crawls',
    '/crawls/{crawl}',
    '/crawls/{crawl}/cancel',
    '/crawls/{crawl}/exclude',
    '/crawls/{crawl}/pages',
    '/crawls/{crawl}/pause',
    '/crawls/{crawl}/resume',
    '/crawls/{crawl}/retry',
    '/domains',
    '/domains/{domain}',
    '/domains/{domain}/delay',
    '/domains/{domain}/pause',
    '/domains/{domain}/reset',
    '/domains/{domain}/resume',
    '/health',
    '/orders',
    '/pages',
    '/resume-all',
    '/stop-all',
  ]);
});

test('health says whether a worker is running, what is wrong, and whether everything is stopped', async () => {
  expect(await (await get('/health')).json()).toMatchObject({
    ok: true,
    postgres: true,
    temporal: true,
    worker: true,
    stopped: false,
    findings: [],
  });
  await post('/stop-all', { reason: 'a test' });
  const stopped = { ok: true, stopped: true, findings: [{ level: 'warn' }] };
  expect(await (await get('/health')).json()).toMatchObject(stopped);
  await post('/resume-all');
});

test('the form to start a crawl starts it, and shows the command that would', async () => {
  const fields = {
    seeds: web.url('site', '/'),
    id: 'api-form',
    preset: 'news',
    delay: '2s',
    exclude: '/a* /b*',
  };
  const page = await (await dashboard.get(`/start?${new URLSearchParams(fields)}`)).text();
  expect(page).toContain(
    `amble crawl ${web.url('site', '/')} --id api-form --preset news --delay 2s --exclude &#39;/a*&#39; --exclude &#39;/b*&#39;`,
  );
  const response = await dashboard.app.request('/start', {
    method: 'POST',
    headers: { Host: 'localhost', Origin: 'http://localhost' },
    body: new URLSearchParams(fields),
  });
  expect(response.headers.get('Location')).toBe('/crawls/api-form');
  const settings = async () => (await get('/crawls/api-form')).json();
  await expect.poll(settings, { timeout: 20_000 }).toMatchObject({
    settings: { preset: 'news', delay: { minMs: 2_000 }, exclude: ['/a*', '/b*'] },
  });
});

test('a form with a mistake comes back with what was typed, and says what is wrong', async () => {
  const fields = { seeds: web.url('site', '/'), id: 'api-mistake', delay: 'soon' };
  const response = await dashboard.app.request('/start', {
    method: 'POST',
    headers: { Host: 'localhost', Origin: 'http://localhost' },
    body: new URLSearchParams(fields),
  });
  expect(response.status).toBe(303);
  const form = await (await dashboard.get(response.headers.get('Location') ?? '')).text();
  expect(form).toMatch(/role="alert"><bdi class="web">[^<]*delay[^<]* is &quot;soon&quot;/);
  expect(form).toContain('value="api-mistake"');
  expect((await get('/crawls/api-mistake')).status).toBe(404);
});

test('a form of an order with a mistake leads back to its page', async () => {
  const response = await dashboard.app.request('/orders', {
    method: 'POST',
    headers: {
      ...{ Host: 'localhost', Origin: 'http://localhost' },
      Referer: 'http://localhost/domains/example.org?from=2026-01-01',
    },
    body: new URLSearchParams({ kind: 'delay', domain: 'example.org', delay: 'soon' }),
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('<a href="/domains/example.org?from=2026-01-01">Back</a>');
});

test('a form gives the same order as the API, for the record as one of the dashboard', async () => {
  await amble.start({ seeds: [web.url('site', '/')], ...web.network, delay: '5s' }, 'api-by-form');
  await expect.poll(async () => (await get('/crawls/api-by-form')).status, { timeout: 20_000 }).toBe(200);
  const send = (fields: Record<string, string>) =>
    dashboard.app.request('/orders', {
      method: 'POST',
      headers: { Host: 'localhost', Origin: 'http://localhost' },
      body: new URLSearchParams(fields),
    });
  const response = await send({ kind: 'pause', crawl: 'api-by-form', reason: 'tea', back: '/now' });
  expect([response.status, response.headers.get('Location')]).toEqual([303, '/now']);
  const { orders } = OrdersSchema.parse(await (await get('/orders?crawl=api-by-form')).json());
  expect(orders).toMatchObject([{ kind: 'pause', channel: 'dashboard', reason: 'tea' }]);
  const away = await send({ kind: 'resume', crawl: 'api-by-form', back: '//evil.example/' });
  expect(away.headers.get('Location')).toBe('/now');
  expect((await send({ kind: 'pause', crawl: 'none' })).status).toBe(404);
  expect((await send({ kind: 'pause', crawl: 'api\0' })).status).toBe(400);
  expect((await send({ kind: 'destroy', crawl: 'api-by-form' })).status).toBe(400);
});
