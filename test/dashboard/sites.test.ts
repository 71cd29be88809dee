/** What the owner of a site is shown, and what operators are shown of domains and pages that no request was sent to. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../src/server/app.tsx';
import { throttleId } from '../../workflows/ids.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';
import { type Dashboard, openDashboard } from './support.ts';

const ROBOTS = 'User-agent: *\nDisallow: /private\nCrawl-delay: 0.2\n# <script>alert(2)</script>\u202E\n';

/** Longer than a page takes that does not wait for workflows, shorter than one that waits for one of them. */
const WITHOUT_WAITING_MS = 2_900;

function site(path: string) {
  if (path === '/robots.txt') return { body: ROBOTS };
  if (path === '/') return { body: links('/gone', '/private') };
  return { status: 404 };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

let amble: Amble;
let dashboard: Dashboard;
let web: TestWeb;
let crawlId: string;

beforeAll(async () => {
  amble = await startAmble();
  dashboard = openDashboard(amble);
  web = await startWeb({ site });
  ({ crawlId } = await amble.crawl({ seeds: [web.url('site', '/')], ...web.network, delay: '100ms' }));
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

async function read(path: string, on = dashboard): Promise<string> {
  const response = await on.get(path);
  expect(response.status).toBe(200);
  return response.text();
}

function expectHarmless(html: string): void {
  expect(html).not.toMatch(/<script>alert/);
  expect(html).not.toContain('\u202E');
}

describe('the page for owners of sites', () => {
  const siteOf = (json: unknown) => z.object({ site: z.record(z.string(), z.unknown()) }).parse(json).site;

  test('says who crawls and how to stop it', async () => {
    const html = await read('/bot');
    for (const ofOperators of ['href="/now"', 'href="/"', 'Find a URL', '<nav'])
      expect(html).not.toContain(ofOperators);
    expect(html).toContain(amble.config.userAgent);
    expect(html).toContain('User-agent: Amble\nDisallow: /');
  });

  test('shows how a site is treated, without the addresses of its pages', async () => {
    const address = `/bot?host=${web.name('site')}`;
    const html = await read(address);
    expect(html).toContain('at least 200 ms between two requests');
    expect(html).toContain('crawl-delay: 0.2');
    expect(html).toContain('Polite: of 3 requests');
    expectHarmless(html);
    const json = await read(address.replace('/bot', '/bot.json'));
    for (const text of [html, json]) expect(text).not.toMatch(/\/gone|crawl-[0-9a-f]{8}/);
    expect(siteOf(JSON.parse(json))).toMatchObject({ unknown: false, paused: false, gapMs: 200 });
  });

  test('says nothing about a site that was never requested, and refuses what is not a host', async () => {
    expect(await read('/bot?host=unknown.example')).toContain('has sent no request');
    expect((await dashboard.get('/bot?host=a/b')).status).toBe(400);
  });

  test.each([
    'from=-200000-01-01T00:00:00Z',
    'until=-271821-04-20T00:00:00Z',
    'from=%2B275760-09-13T00:00:00Z',
  ])('takes the period %s for one that Postgres knows', async (period) => {
    for (const form of ['/bot', '/bot.json'])
      expect(await read(`${form}?host=${web.name('site')}&${period}`)).toContain(web.name('site'));
  });

  test('is not kept open', async () => {
    const response = await dashboard.get('/bot', { Accept: 'text/event-stream' });
    expect(response.headers.get('Content-Type')).toContain('text/html');
    expect(await response.text()).not.toContain('data-live');
  });

  test('says that no contact is configured, unless there is an address', async () => {
    expect(await read('/bot')).toContain('<dt>Contact</dt><dd>None is configured.');
    const config = { ...amble.config, from: 'crawler@example.org' };
    const html = await read('/bot', openDashboard({ ...amble, config }));
    expect(html).not.toContain('<dt>Contact</dt>');
    expect(html).toContain('mailto:crawler@example.org');
  });

  test('shows the gap in force, not that of the last request', async () => {
    const name = web.name('site');
    await amble.db.domain.update({ where: { name }, data: { minGapMs: 600_000 } });
    expect(await read(`/bot?host=${name}`)).toContain('at least 10 min between two requests');
    await amble.db.domain.update({ where: { name }, data: { minGapMs: 200 } });
  });

  test('lists the requests to the host that was asked for, not to others of its site', async () => {
    const config = { ...amble.config, politenessKey: 'site' } as const;
    const bySite = openDashboard({ ...amble, config });
    const at = Date.now();
    const request = (host: string, n: number, statusCode: number) => ({
      ...{
        leaseId: `${host}/${n}`,
        domain: 'shared.org',
        crawlId,
        pageId: 1n,
        purpose: 'robots' as const,
      },
      ...{
        url: `http://${host}:8080/robots.txt`,
        startedErrorMs: 0,
        minGapMs: 100,
        durationMs: 20,
        statusCode,
      },
      ...{
        startedAt: new Date(at - n),
        sentAt: new Date(at - n),
        address: '192.0.2.1',
        addressBlock: '192.0.2.1',
      },
    });
    await amble.db.domain.create({ data: { name: 'shared.org' } });
    await amble.db.request.createMany({
      data: [request('a.shared.org', 3_000, 201), request('b.shared.org', 2_000, 404)],
    });
    const requestsOf = async (host: string) =>
      z
        .array(z.object({ statusCode: z.number() }))
        .parse(siteOf(JSON.parse(await read(`/bot.json?host=${host}`, bySite))).requests)
        .map(({ statusCode }) => statusCode);
    expect(await requestsOf('a.shared.org')).toEqual([201]);
    expect(await requestsOf('b.shared.org')).toEqual([404]);
    expect(await requestsOf('c.shared.org')).toEqual([]);
  });

  test('is limited in how often it may be read', async () => {
    const { get } = openDashboard(amble);
    const statuses: number[] = [];
    for (let n = 0; n < 31; n += 1) statuses.push((await get(n % 2 === 0 ? '/bot' : '/bot.json')).status);
    expect(statuses.slice(0, 30).every((status) => status === 200)).toBe(true);
    expect(statuses.at(-1)).toBe(429);
  });

  test('can be all that is served', async () => {
    const { services } = dashboard;
    const app = createApp({ services, hosts: null, token: null, botOnly: true, log: () => {} });
    const get = (path: string) => app.request(path, { headers: { Host: 'crawler.example' } });
    expect((await get('/bot')).status).toBe(200);
    for (const path of ['/now', '/domains', `/crawls/${crawlId}`, '/page', '/now.json', '/api/v1/crawls'])
      expect((await get(path)).status).toBe(404);
  });
});

describe('before any request', () => {
  test('a domain can be paused by its page, and has a page', async () => {
    const domain = 'never-requested.example';
    const html = await read(`/domains/${domain}`);
    expect(html).toContain('No crawl has requested anything from it yet');
    expect(html).toContain(`Pause ${domain}`);
    const paused = await dashboard.app.request('/orders', {
      method: 'POST',
      headers: { Host: 'localhost', Origin: 'http://localhost' },
      body: new URLSearchParams({ kind: 'pause', domain, back: `/domains/${domain}` }),
    });
    expect(paused.headers.get('Location')).toBe(`/domains/${domain}`);
    expect(await read(`/domains/${domain}`)).toContain(`Resume ${domain}`);
  });

  test('the search for a page says which rule of an open crawl would skip it', async () => {
    const { settings } = await amble.db.crawl.findUniqueOrThrow({ where: { id: crawlId } });
    const open = { seeds: [], settings: settings ?? {}, scopeHosts: ['scope.example'], excluded: ['/x*'] };
    await amble.db.crawl.create({ data: { id: 'sites-open', ...open } });
    const find = async (url: string) =>
      (await read(`/page?url=${encodeURIComponent(url)}`)).replaceAll(/<[^>]+>/g, '');
    expect(await find('http://other.example/')).toContain(
      'sites-open would not follow a link to it: out of scope.',
    );
    expect(await find('http://scope.example/x1')).toContain(
      'sites-open would not follow a link to it: excluded.',
    );
    expect(await find('http://scope.example/y')).toContain('sites-open would follow a link to it');
    await amble.db.crawl.delete({ where: { id: 'sites-open' } });
  });
});

test("a crawl says what half of an operator's delay would save", async () => {
  const { db } = amble;
  const { settings } = await db.crawl.findUniqueOrThrow({ where: { id: crawlId } });
  await db.crawl.create({ data: { id: 'sites-slow', seeds: [], settings: settings ?? {}, scopeHosts: [] } });
  const ordered = { delayMinMs: 600_000, delayMaxMs: 600_000, minGapMs: 600_000 };
  await db.domain.create({ data: { name: 'slow.example', ...ordered } });
  const urls = Array.from({ length: 12 }, (_, n) => `http://slow.example/${n}`);
  await db.page.createMany({
    data: urls.map((url) => ({ crawlId: 'sites-slow', url, urlHash: sha256(url), domain: 'slow.example' })),
  });
  const html = (await read('/crawls/sites-slow')).replaceAll(/<[^>]+>/g, ' ');
  expect(html).toContain(
    'A delay of 5 min instead of 10 min on slow.example would end the crawl 1 h earlier',
  );
  expect(html).toContain('1 h less');
  // What the site asks for is not ours to shorten.
  const crawlDelays = { 'http://slow.example': 600_000 };
  await db.domain.update({ where: { name: 'slow.example' }, data: { crawlDelays } });
  const asked = (await read('/crawls/sites-slow')).replaceAll(/<[^>]+>/g, ' ');
  expect(asked).not.toContain('would end the crawl');
  expect(asked).toContain('the same: the site asks for it');
  await db.crawl.delete({ where: { id: 'sites-slow' } });
});

describe('workflows that do not answer', () => {
  const name = 'silent.example';

  beforeAll(async () => {
    const { db, client } = amble;
    const { settings } = await db.crawl.findUniqueOrThrow({ where: { id: crawlId } });
    await db.crawl.create({
      data: { id: 'sites-silent', seeds: [], settings: settings ?? {}, scopeHosts: [] },
    });
    await db.domain.create({ data: { name } });
    const url = `http://${name}/`;
    await db.page.create({
      data: { crawlId: 'sites-silent', url, urlHash: sha256(url), domain: name, status: 'Queued' },
    });
    // Whoever asks it waits: no worker of its queue runs.
    for (const workflowId of ['sites-silent', throttleId(name)])
      await client.workflow.start('Anything', { taskQueue: 'sites-nobody', workflowId });
  });
  afterAll(async () => {
    for (const workflowId of ['sites-silent', throttleId(name)])
      await amble.client.workflow.getHandle(workflowId).terminate();
    await amble.db.crawl.delete({ where: { id: 'sites-silent' } });
  });

  test.each([`/domains/${name}`, `/page?url=${encodeURIComponent(`http://${name}/`)}`, '/domains'])(
    '%s does not wait for them',
    async (path) => {
      const html = await read(path);
      expect(html).toContain(name);
    },
    WITHOUT_WAITING_MS,
  );
});
