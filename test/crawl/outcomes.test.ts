import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';

/** Longer than an id or a summary may be in Temporal. */
const LONG_PATH = `/${'long-'.repeat(300)}`;

/** One site with a page for every way a page can end. */
describe('a crawl of one site', () => {
  let amble: Amble;
  let web: TestWeb;
  let crawlId: string;

  beforeAll(async () => {
    // The site's 5xx and timeouts must not slow the test down; backoff is tested elsewhere.
    amble = await startAmble({ tuning: { throttle: { maxBackoffMs: 10 } } });
    web = await startWeb({
      site: (path, { count }) => {
        switch (path) {
          case '/robots.txt':
            return { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /private' };
          case '/':
            return {
              headers: { etag: '"v1"' },
              body: `<html lang="en"><title>Front</title>${links('/ok', '/ok#again', '/gone', '/flaky', '/dead', '/moved', '/file.pdf', '/private/x', '/slow', LONG_PATH)}`,
            };
          case '/ok':
            return {
              headers: { 'content-language': 'is' },
              body: `<title>Fine</title>${links('/', '/ok')}`,
            };
          case '/flaky':
            return count < 3 ? { status: 503 } : { body: '<title>At last</title>' };
          case '/dead':
            return { status: 500 };
          case '/moved':
            return { status: 301, headers: { location: '/new' } };
          case '/new':
            return { body: '<title>New home</title>' };
          case '/file.pdf':
            return { headers: { 'content-type': 'application/pdf' }, body: '%PDF' };
          case '/slow':
            return { body: 'never seen', afterMs: 60_000 };
          default:
            return undefined;
        }
      },
    });
    const result = await amble.crawl({
      seeds: [web.url('site')],
      ...web.network,
      fetch: { headersTimeout: '500ms' },
    });
    crawlId = result.crawlId;
  });
  afterAll(async () => {
    await amble?.stop();
    await web?.stop();
  });

  const page = async (path: string) =>
    amble.db.page.findFirstOrThrow({
      where: { crawlId, url: web.url('site', path) },
      include: { attempted: { orderBy: { attempt: 'asc' } } },
    });

  it('reads the language of a page from its document, or else from the header', async () => {
    expect((await page('/')).language).toBe('en');
    expect((await page('/ok')).language).toBe('is');
  });

  it('gives every page it found exactly one final status, and the counts add up', async () => {
    const rows = await amble.db.page.findMany({ where: { crawlId } });
    const statuses = Object.fromEntries(rows.map((row) => [new URL(row.url).pathname, row.status]));
    expect(statuses).toEqual({
      '/': 'Fetched',
      '/ok': 'Fetched',
      '/gone': 'Failed',
      '/flaky': 'Fetched',
      '/dead': 'Failed',
      '/moved': 'Redirected',
      '/new': 'Fetched',
      '/file.pdf': 'Rejected',
      '/private/x': 'Blocked',
      '/slow': 'Failed',
      [LONG_PATH]: 'Failed',
    });
    const crawl = await amble.db.crawl.findUniqueOrThrow({ where: { id: crawlId } });
    expect(crawl.status).toBe('Completed');
  });

  it('stores the title, language, etag and body of a fetched page', async () => {
    expect(await page('/')).toMatchObject({
      title: 'Front',
      language: 'en',
      etag: '"v1"',
      statusCode: 200,
      depth: 0,
    });
    const { contentHash, fetchedAt } = await page('/ok');
    expect(contentHash).toMatch(/^[0-9a-f]{64}$/);
    expect(fetchedAt).not.toBeNull();
  });

  it('retries a 503 until it succeeds; each attempt has a row and a request of its own', async () => {
    const { attempted, attempts } = await page('/flaky');
    expect(attempted.map((a) => [a.attempt, a.outcome, a.statusCode])).toEqual([
      [1, 'Blocked5xx', 503],
      [2, 'Blocked5xx', 503],
      [3, 'Success', 200],
    ]);
    expect(attempts).toBe(3);
    expect(attempted[0]?.nextAttemptAt).not.toBeNull();
    expect(attempted[2]?.nextAttemptAt).toBeNull();
    expect(web.arrivalsAt('site', '/flaky')).toHaveLength(3);
  });

  it('gives up a page after three attempts and records when and why', async () => {
    const dead = await page('/dead');
    expect(dead.attempted.map((a) => a.outcome)).toEqual(['Blocked5xx', 'Blocked5xx', 'Blocked5xx']);
    expect(dead).toMatchObject({ status: 'Failed', reason: 'Status 500.', statusCode: 500 });
    expect(dead.failedAt).not.toBeNull();
    const slow = await page('/slow');
    expect(slow.attempted.map((a) => [a.outcome, a.errorKind])).toEqual([
      ['Timeout', 'first-byte-timeout'],
      ['Timeout', 'first-byte-timeout'],
      ['Timeout', 'first-byte-timeout'],
    ]);
  });

  it('does not retry a 404, a rejected type, or a page that robots.txt disallows', async () => {
    expect((await page('/gone')).attempted.map((a) => a.outcome)).toEqual(['Blocked4xx']);
    expect((await page('/file.pdf')).attempted.map((a) => a.outcome)).toEqual(['Rejected']);
    expect((await page('/private/x')).attempted.map((a) => a.outcome)).toEqual(['BlockedRobots']);
  });

  it('never requests a disallowed path, and reads robots.txt once and first', () => {
    expect(web.arrivalsAt('site', '/private/x')).toHaveLength(0);
    expect(web.arrivalsAt('site', '/robots.txt')).toHaveLength(1);
    expect(web.arrivals[0]?.path).toBe('/robots.txt');
  });

  it('ends a redirected page with its target, which becomes a page of its own at the same depth', async () => {
    expect(await page('/moved')).toMatchObject({
      status: 'Redirected',
      redirectTo: web.url('site', '/new'),
      depth: 1,
    });
    expect(await page('/new')).toMatchObject({ depth: 1, redirectCount: 1, title: 'New home' });
  });

  it('registers every outbound link', async () => {
    const front = await page('/');
    const stored = await amble.db.link.findMany({ where: { pageId: front.id } });
    expect(stored).toHaveLength(9);
  });

  it('records every request that reached the site, and each kept its gap', async () => {
    const requests = await amble.db.request.findMany({ where: { crawlId }, orderBy: { startedAt: 'asc' } });
    expect(requests).toHaveLength(web.arrivals.length);
    requests.slice(1).forEach((request, i) => {
      const gap = request.startedAt.getTime() - (requests[i]?.startedAt.getTime() ?? 0);
      expect(gap).toBeGreaterThanOrEqual(request.minGapMs);
      expect(request.minGapMs).toBeGreaterThanOrEqual(50);
    });
  });
});
