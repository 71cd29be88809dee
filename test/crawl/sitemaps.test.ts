import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pageWorkflowId } from '../../workflows/ids.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { type Answer, type Site, startWeb } from '../support/web.ts';

const xml = (body: string): Answer => ({ headers: { 'content-type': 'application/xml' }, body });
const text = (body: string): Answer => ({ headers: { 'content-type': 'text/plain' }, body });
const urlset = (...urls: string[]) =>
  `<urlset>${urls.map((url) => `<url><loc>${url}</loc><lastmod>2024-05-01</lastmod></url>`).join('')}</urlset>`;
const index = (...urls: string[]) =>
  `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;

/** Pages without a link on them. */
const pages: Site = (path) =>
  path.endsWith('.html') || path === '/' ? { body: '<title>A page</title>' } : undefined;

describe('sitemaps', () => {
  let amble: Amble;
  beforeAll(async () => {
    amble = await startAmble();
  });
  afterAll(() => amble?.stop());

  const rowsOf = async (crawlId: string) => {
    const rows = await amble.db.page.findMany({ where: { crawlId }, include: { attempted: true } });
    return new Map(rows.map((row) => [new URL(row.url).pathname, row]));
  };

  it('lead to pages without links to them: from robots.txt, an index, gzip, text and a redirect', async () => {
    const web = await startWeb({
      a: (path, visit) => {
        const at = (target: string) => web.url('a', target);
        switch (path) {
          case '/robots.txt':
            return text(`User-agent: *\nDisallow: /private\nSitemap: ${at('/index.xml')}`);
          case '/index.xml':
            return xml(
              index(...['/old.xml', '/list.txt', '/gone.xml', '/private.xml', '/soft-404.xml'].map(at)),
            );
          case '/old.xml':
            return { status: 301, headers: { location: '/packed.xml.gz' } };
          case '/packed.xml.gz':
            return {
              headers: { 'content-type': 'application/x-gzip' },
              body: gzipSync(urlset(at('/1.html'), at('/2.html'), 'http://elsewhere.test/')),
            };
          case '/list.txt':
            return text(`${at('/2.html')}\n${at('/3.html')}\n`);
          case '/soft-404.xml':
            return { body: '<html><title>Not found</title></html>' };
          default:
            return pages(path, visit);
        }
      },
    });
    try {
      const { pages, crawlId } = await amble.crawl({ seeds: [web.url('a')], sitemaps: true, ...web.network });
      expect(pages).toEqual({ Fetched: 4 });
      const rows = await rowsOf(crawlId);
      const statusOf = (path: string) => [rows.get(path)?.kind, rows.get(path)?.status];
      expect(statusOf('/index.xml')).toEqual(['sitemap', 'Fetched']);
      expect(statusOf('/old.xml')).toEqual(['sitemap', 'Redirected']);
      expect(statusOf('/packed.xml.gz')).toEqual(['sitemap', 'Fetched']);
      expect(statusOf('/list.txt')).toEqual(['sitemap', 'Fetched']);
      expect(statusOf('/gone.xml')).toEqual(['sitemap', 'Failed']);
      expect(statusOf('/private.xml')).toEqual(['sitemap', 'Blocked']);
      expect(statusOf('/soft-404.xml')).toEqual(['sitemap', 'Rejected']);
      expect(rows.get('/soft-404.xml')?.reason).toMatch(/Not a sitemap/);
      expect(rows.get('/index.xml')?.linksFound).toBe(5);
      expect(rows.get('/packed.xml.gz')?.linksSkipped).toEqual({ 'out of scope': 1 });
      expect(rows.get('/list.txt')?.linksSkipped).toBeNull();
      expect(rows.get('/1.html')).toMatchObject({ depth: 1, lastmod: new Date('2024-05-01T00:00:00Z') });
      expect(web.arrivalsAt('a', '/private.xml')).toEqual([]);
      // Requested although robots.txt names another; that it is missing does not matter.
      expect(statusOf('/sitemap.xml')).toEqual(['sitemap', 'Failed']);
      expect(new Set(web.arrivals.map(({ path }) => path)).size).toBe(web.arrivals.length);
    } finally {
      await web.stop();
    }
  });

  it('are not requested unless the crawl enables them', async () => {
    const web = await startWeb({ a: pages });
    try {
      await amble.crawl({ seeds: [web.url('a')], ...web.network });
      expect(web.arrivals.map(({ path }) => path).sort()).toEqual(['/', '/robots.txt']);
    } finally {
      await web.stop();
    }
  });

  it('leave no page open when their crawl is cancelled while they are read', async () => {
    const web = await startWeb({
      a: (path, visit) => {
        const lines = () => Array.from({ length: 30_000 }, (_, n) => web.url('a', `/${n}.html`)).join('\n');
        return path === '/sitemap.xml' ? text(lines()) : pages(path, visit);
      },
    });
    try {
      const handle = await amble.start({ seeds: [web.url('a')], sitemaps: true, ...web.network });
      const crawlId = handle.workflowId;
      const entered = () => amble.db.page.count({ where: { crawlId, depth: 1 } });
      await expect.poll(entered, { timeout: 30_000, interval: 10 }).toBeGreaterThan(0);
      await handle.cancel();
      await expect(handle.result()).rejects.toThrow();
      const ended = await amble.db.page.groupBy({ by: ['status'], where: { crawlId }, _count: true });
      const open = ended.filter(({ status }) => ['Pending', 'Queued', 'Waiting'].includes(status));
      expect(open).toEqual([]);
    } finally {
      await web.stop();
    }
  });

  it('of 50,000 URLs stream into the frontier without growing a history or memory', async () => {
    const long = 'x'.repeat(150);
    const web = await startWeb({
      a: (path, visit) => {
        const urls = () => Array.from({ length: 50_000 }, (_, n) => web.url('a', `/${n}-${long}.html`));
        return path === '/sitemap.xml' ? xml(urlset(...urls())) : pages(path, visit);
      },
    });
    const memory = watchMemory();
    try {
      const input = { seeds: [web.url('a')], sitemaps: true, maxPages: 4, ...web.network };
      const { pages, found, crawlId } = await amble.crawl(input);
      const grown = memory.grown();
      expect(pages).toEqual({ Fetched: 4, Cancelled: 49_997 });
      expect(found).toBe(50_001);
      const sitemap = await amble.db.page.findFirstOrThrow({ where: { crawlId, kind: 'sitemap' } });
      expect(sitemap).toMatchObject({ status: 'Fetched', linksFound: 50_000 });
      // Larger than a page may be: sitemaps have a limit of their own.
      expect(sitemap.contentBytes).toBeGreaterThan(amble.config.crawl.fetch.maxBodyBytes);
      const urlHash = Buffer.from(sitemap.urlHash).toString('hex');
      const workflow = amble.client.workflow.getHandle(
        pageWorkflowId(crawlId, { url: sitemap.url, urlHash }),
      );
      const history = await workflow.fetchHistory();
      expect(history.events?.length).toBeLessThan(60);
      expect(JSON.stringify(history).length).toBeLessThan(60_000);
      // The body twice (as received, and compressed for the store) and the current batch, not 50,000 rows.
      expect(grown).toBeLessThan(150_000_000);
    } finally {
      memory.stop();
      await web.stop();
    }
  });
});

/** How far this process's memory rose at its peak. */
function watchMemory() {
  const inUse = () => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = inUse();
  let highest = before;
  const look = () => {
    highest = Math.max(highest, inUse());
    return highest - before;
  };
  const timer = setInterval(look, 20);
  return { grown: look, stop: () => clearInterval(timer) };
}
