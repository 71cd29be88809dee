/** A crawl, a domain and a page in detail, with what hostile sites write. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { periodOf } from '../../src/server/views/proof.tsx';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';
import { type Dashboard, openDashboard } from './support.ts';

const HOSTILE = '</title><script>alert(1)</script>\u202Eright to left\u0007';
const ROBOTS = 'User-agent: *\nDisallow: /private\nCrawl-delay: 0.2\n# <script>alert(2)</script>\u202E\n';

/** In windows-1251, with the ends of lines and the tabs that hand-written pages have. */
const CYRILLIC = Buffer.concat([
  Buffer.from(`<title>${HOSTILE.replaceAll('<', '&lt;')}</title>\r\n<p>\r\n\t`),
  Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]),
  Buffer.from(`\tx\r\n</p><!--${'x'.repeat(20_000)}-->`),
]);

function site(path: string) {
  if (path === '/robots.txt') return { body: ROBOTS };
  if (path === '/') return { body: links('/1', '/old', '/gone', '/private', 'http://elsewhere.test/') };
  if (path === '/old') return { status: 301, headers: { location: '/1' } };
  if (path === '/gone') return { status: 404 };
  if (path === '/1')
    return { headers: { 'content-type': 'text/html; charset=windows-1251' }, body: CYRILLIC };
  return { body: `<title>${HOSTILE.replaceAll('<', '&lt;')}${'x'.repeat(10_000)}</title><p>${HOSTILE}</p>` };
}

/** A page or a link for each reason not to crawl it. */
function ledger(path: string) {
  if (path === '/robots.txt') return { body: ROBOTS };
  if (path === '/1') return { body: links('/deep') };
  if (path !== '/') return { body: path };
  return {
    body: links('/private', '/1', '/2', '/3', '/4', '/x/1', 'http://elsewhere.test/', '/a/a/a/a/a/a'),
  };
}

const CrawlJson = z.object({
  progress: z.object({ found: z.number(), pages: z.record(z.string(), z.number()) }),
  done: z.number(),
  open: z.number(),
  samples: z.array(z.object({ found: z.number(), done: z.number() })),
  causes: z.object({ causes: z.array(z.object({ pages: z.number() })), others: z.number() }),
  ledger: z.object({
    found: z.number(),
    followed: z.number(),
    skipped: z.array(z.object({ reason: z.string(), links: z.number() })),
  }),
});

const Ledgers = CrawlJson.pick({ ledger: true }).extend({ pageLedger: z.record(z.string(), z.number()) });

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

let amble: Amble;
let dashboard: Dashboard;
let web: TestWeb;
let url: (path: string) => string;

beforeAll(async () => {
  amble = await startAmble();
  dashboard = openDashboard(amble, { temporalUi: 'http://localhost:8233' });
  web = await startWeb({ site, ledger });
  url = (path) => web.url('site', path);
  const crawl = { seeds: [url('/')], ...web.network, delay: '100ms', scope: 'host' };
  const result = await amble.crawl(crawl);
  expect(result.pages).toEqual({ Fetched: 2, Redirected: 1, Failed: 1, Blocked: 1 });
  crawlId = result.crawlId;
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});
let crawlId: string;

async function read(path: string): Promise<string> {
  const response = await dashboard.get(path);
  expect(response.status).toBe(200);
  return response.text();
}

/** No script of a site, no character that changes the direction of the text, nothing of ten thousand characters. */
function expectHarmless(html: string): void {
  expect(html).not.toMatch(/<script>alert/);
  expect(html).not.toContain('\u202E');
  expect(html).not.toContain('x'.repeat(3_000));
}

describe('a crawl', () => {
  test('has numbers that add up', async () => {
    const crawl = CrawlJson.parse(await (await dashboard.get(`/crawls/${crawlId}.json`)).json());
    const { progress, done, open, causes, ledger } = crawl;
    expect(progress.found).toBe(done + open);
    expect(progress.found).toBe(sum(Object.values(progress.pages)));
    expect(ledger.found).toBe(ledger.followed + sum(ledger.skipped.map((row) => row.links)));
    expect(ledger).toMatchObject({ found: 5, skipped: [{ reason: 'out of scope', links: 1 }] });
    const withoutContent = ['Failed', 'Rejected', 'Blocked'].map((status) => progress.pages[status] ?? 0);
    expect(sum(causes.causes.map(({ pages }) => pages)) + causes.others).toBe(sum(withoutContent));
    expect(crawl.samples.at(-1)).toMatchObject({ found: 5, done: 5 });
  });

  test('accounts for every link and every page that was not crawled', async () => {
    const rules = { maxDepth: 1, maxPages: 3, exclude: ['/x/*'], delay: '1ms' };
    const crawl = { seeds: [web.url('ledger', '/')], ...web.network, ...rules };
    const { crawlId: id } = await amble.crawl(crawl);
    const { ledger, pageLedger } = Ledgers.parse(await (await dashboard.get(`/crawls/${id}.json`)).json());
    const reasons = ledger.skipped.map(({ reason }) => reason).sort();
    expect(reasons).toEqual(['beyond max-depth', 'excluded', 'out of scope', 'repeated segments']);
    expect(ledger.found).toBe(ledger.followed + sum(ledger.skipped.map(({ links }) => links)));
    expect(pageLedger).toEqual({
      ...{ found: 6, crawled: 3, open: 0, robots: 1, excluded: 0, rejected: 0, cancelled: 2 },
    });
    const html = (await read(`/crawls/${id}`)).replaceAll(/<[^>]+>/g, ' ');
    for (const { reason } of ledger.skipped) expect(html).toContain(`not followed: ${reason}`);
    for (const shown of [
      'disallowed by robots.txt',
      'cancelled, or beyond the limit',
      'pages found, the sum',
    ])
      expect(html).toContain(shown);
  });

  test('shows causes, links and settings, and a picture with a text for it', async () => {
    const html = await read(`/crawls/${crawlId}`);
    for (const shown of [
      'not crawled: disallowed by robots.txt',
      'status 404',
      'disallowed by robots.txt',
      'out of scope',
      'smallweb',
    ])
      expect(html).toContain(shown);
    expect(html).toMatch(/<svg class="chart"[^>]* role="img" aria-label="5 pages found and 5 done in [^"]+"/);
    expect((await dashboard.get('/crawls/nobody')).status).toBe(404);
  });
});

describe('a domain', () => {
  test('shows its gap, robots.txt and a proof that can be sent to its owner', async () => {
    const html = await read(`/domains/${web.name('site')}`);
    expect(html).toContain('Crawl-delay in robots.txt');
    expect(html).toContain('Disallow: /private');
    expect(html).toContain('Polite: of 5 requests');
    expect(html).toContain(`<a href="/bot?host=${web.name('site')}&amp;from=`);
    expectHarmless(html);
    const config = { ...amble.config, publicBotUrl: 'https://crawler.example/bot' };
    const open = openDashboard({ ...amble, config });
    const proof = await (await open.get(`/domains/${web.name('site')}`)).text();
    expect(proof).toContain(`<a href="https://crawler.example/bot?host=${web.name('site')}&amp;from=`);
  });

  test('is found by a part of its name', async () => {
    expect(await read('/domains?find=SITE-')).toContain(`/domains/${web.name('site')}`);
    expect(await read('/domains?find=_')).toContain('No domain has &quot;_&quot; in its name.');
  });

  test('lists what was impolite, the worst first', async () => {
    const start = Date.now() - 60_000;
    const request = (ms: number) => ({
      ...{ leaseId: `rude/${ms}`, domain: 'rude.test', crawlId, pageId: 1n, purpose: 'robots' as const },
      ...{
        url: `http://rude.test/${ms}`,
        startedErrorMs: 0,
        minGapMs: 1_000,
        durationMs: 20,
        statusCode: 200,
      },
      ...{ startedAt: new Date(start + ms), sentAt: new Date(start + ms) },
      ...{ address: '192.0.2.1', addressBlock: '192.0.2.1' },
    });
    await amble.db.domain.create({ data: { name: 'rude.test' } });
    await amble.db.request.createMany({ data: [0, 900, 1_200].map(request) });
    const html = await read('/domains/rude.test');
    expect(html).toContain('Not polite: 2 violations');
    expect(html).toMatch(/rude\.test: 0\.300 s, but 1\.000 s was required[\s\S]*0\.900 s/);
    expect(html).toMatch(
      /role="img" aria-label="The gaps before the last 3 requests; 2 shorter than required."/,
    );
  });

  test('with a single failure is not shown as down', async () => {
    const outage = { since: Date.now(), until: Date.now() + 60_000, error: 'refused', validFrom: 0 };
    const outages = (failures: number) => ({ 'http://once.test': { ...outage, failures } });
    // A page waits for Temporal for only 150 ms; what it answers later is shown by the next page.
    const expectState = (path: string, badge: string) =>
      expect.poll(() => read(path), { timeout: 20_000 }).toContain(badge);
    await amble.db.domain.create({ data: { name: 'once.test', outages: outages(0) } });
    for (const path of ['/domains?find=once', '/domains/once.test'])
      await expectState(path, '<span class="badge quiet">idle</span>');
    await amble.db.domain.update({ where: { name: 'once.test' }, data: { outages: outages(2) } });
    for (const path of ['/domains?find=once', '/domains/once.test'])
      await expectState(path, '<span class="badge bad">down until');
  });

  test('shows how its robots.txt changed', async () => {
    const origin = new URL(url('/')).origin;
    const body = ROBOTS.replace('/private', '/secret');
    await amble.db.robotsRules.create({ data: { origin, body, maxCrawlDelayMs: 1 } });
    const html = await read(`/domains/${web.name('site')}`);
    expect(html).toMatch(/class="removed">[^<]*<bdi class="web">Disallow: \/private/);
    expect(html).toMatch(/class="added">[^<]*<bdi class="web">Disallow: \/secret/);
  });
});

test('a domain, a retry and an exclusion have twins in JSON', async () => {
  const twin = async (path: string): Promise<unknown> => JSON.parse(await read(path));
  expect(await twin(`/domains/${web.name('site')}.json`)).toMatchObject({
    domain: web.name('site'),
    proof: { requests: 5, violationCount: 0 },
    violations: [],
  });
  const preview = { pages: 1, samples: [{ url: url('/gone') }] };
  expect(await twin(`/crawls/${crawlId}/retry.json?cause=status%2F404`)).toMatchObject({ preview });
  expect(await twin(`/crawls/${crawlId}/exclude.json?pattern=%2F1`)).toMatchObject({
    pattern: '/1',
    preview: { examples: [] },
  });
});

describe('a page', () => {
  const find = (path: string) => read(`/page?url=${encodeURIComponent(url(path))}`);

  test('shows its attempts, where it was found, its workflow, and its body as text', async () => {
    const html = await find('/1');
    expect(html).toContain('1 of 3');
    expect(html).toContain('first on');
    expect(html).toContain(`http://localhost:8233/namespaces/default/workflows/page%3A${crawlId}%3A`);
    expect(html).toContain('Stored body as text');
    // The start page and a page that redirects to it both lead here; only the former links.
    expect(html).toMatch(/Links to it[\s\S]*<a href="[^"]*">.*<bdi class="web">http[^<]*\/<\/bdi>/);
    expect(html).toContain('&lt;/title&gt;&lt;script&gt;alert(1)');
    expectHarmless(html);
  });

  test('shows its body in its own encoding, line by line, with its tabs as spaces', async () => {
    const html = await find('/1');
    expect(html).toContain('<bdi class="web">&lt;p&gt;</bdi>\n<bdi class="web">    Привет  x</bdi>\n');
    expect(html).toContain('first 16 KiB');
    expect(html).not.toMatch(/\\u000[9ad]/);
  });

  test('shows its redirects and why it failed', async () => {
    expect(await find('/old')).toContain('Redirects');
    expect(await find('/gone')).toContain('This was attempt 1 of 3');
    expect(await find('/private')).toContain('Disallowed by');
  });

  test('that no crawl has found is reported as such, and bad input is refused', async () => {
    expect(await find('/nowhere')).toContain('No crawl on record has found');
    expect((await dashboard.get('/page?url=nonsense')).status).toBe(400);
    expect(await read('/page')).toContain('Find a page');
  });
});

test('the proof of a day includes the whole of it, as far as it has passed', () => {
  const period = (query: string) => periodOf(new URLSearchParams(query), new Date('2026-03-10T12:00:00Z'));
  expect(period('from=2026-03-01&until=2026-03-02')).toEqual({
    from: new Date('2026-03-01T00:00:00Z'),
    until: new Date('2026-03-02T23:59:59.999Z'),
  });
  expect(period('until=2026-03-10').until).toEqual(new Date('2026-03-10T12:00:00Z'));
});

test('Health lists the worker, the task queues and what they depend on', async () => {
  const Health = z.object({
    findings: z.array(z.unknown()),
    workers: z.array(z.object({ identity: z.string() })),
    backlog: z.array(z.object({ queue: z.string() })),
  });
  const health = Health.parse(await (await dashboard.get('/health.json')).json());
  expect(health.workers).toMatchObject([{ identity: expect.stringMatching(`^${process.pid}@`) }]);
  expect(health.backlog).toHaveLength(3);
  expect(await read('/health')).toContain('Content store');
});

test('Health names a crawl that is stalled, and that its domain is paused', async () => {
  const { db } = amble;
  const settings = await db.crawl.findUniqueOrThrow({ where: { id: crawlId }, select: { settings: true } });
  const createdAt = new Date(Date.now() - 25 * 60_000);
  const silent = { id: 'silent', seeds: [], settings: settings.settings ?? {}, scopeHosts: [], createdAt };
  await db.crawl.create({ data: silent });
  try {
    const url = 'http://silent.test/';
    await db.page.create({
      data: { crawlId: 'silent', url, urlHash: Buffer.from(url), domain: 'silent.test' },
    });
    const stalled = 'silent is stalled: no page for 25 min while 1 page is due';
    expect(await read('/health')).toContain(stalled);
    await db.page.updateMany({ where: { crawlId: 'silent' }, data: { status: 'Queued' } });
    expect(await read('/health')).toContain(stalled);
    await db.domain.create({ data: { name: 'silent.test', paused: true } });
    expect(await read('/health')).toMatch(/silent is stalled: [^.]* due; 1 domain paused\./);
  } finally {
    await db.crawl.delete({ where: { id: 'silent' } });
  }
});
