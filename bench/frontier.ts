/**
 * Checks that the cost of a page does not grow with the frontier. Measures the database steps of a page (touch it, record it
 * with ten links, admit the next one) with 1,000, 10,000 and 100,000 pages pending on one domain. Each size has its own
 * database, and the sizes alternate, so that other load on the machine affects them alike.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { loadConfig } from '../src/config/index.ts';
import type { CrawlSettings } from '../src/core/settings.ts';
import { startDatabase } from '../src/embedded/index.ts';
import { foldChanges } from '../src/storage/counts.ts';
import { openCrawl } from '../src/storage/crawls.ts';
import { type Database, openDatabase } from '../src/storage/database.ts';
import { admit } from '../src/storage/frontier/admit.ts';
import { insertPages, newPage } from '../src/storage/frontier/insert-pages.ts';
import { admitDue, findStalled } from '../src/storage/frontier/sweep.ts';
import { migrate } from '../src/storage/migrate.ts';
import { recordAttempt } from '../src/storage/pages/record-attempt.ts';
import { touchPage } from '../src/storage/pages/touch-page.ts';
import { countPages } from '../src/storage/reports/counts.ts';
import { log } from './environment.ts';
import { checkResult, median } from './results.ts';

const SIZES = [1_000, 10_000, 100_000];
const PAGES = 600;
const SWEEPS = 20;
const HOST = 'big.test';
const STALLED_AFTER_MS = 60_000;

export async function frontier(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'amble-bench-'));
  const { databaseUrl, stop } = await startDatabase({ home, notify: log });
  try {
    const settings = loadConfig({ env: {}, cwd: home, flags: { home } }).crawl;
    const crawls: FrontierCrawl[] = [];
    for (const size of SIZES) {
      log(`Filling a frontier with ${size} pages ...`);
      crawls.push(
        await FrontierCrawl.fill(await createDatabase(databaseUrl, `frontier_${size}`), settings, size),
      );
    }
    log(`Processing ${PAGES} pages of each, in alternation ...`);
    for (let page = 0; page < PAGES; page += 1) {
      for (const crawl of crawls) await crawl.measurePage();
    }
    log('Sweeping each, in alternation ...');
    for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
      for (const crawl of crawls) await crawl.measureSweep();
    }
    for (const crawl of crawls) console.log(await crawl.report());
    const costs = crawls.map(({ pages }) => median(pages));
    checkResult('slowest : fastest', Math.max(...costs) / Math.min(...costs), { atMost: 1.2 });
    for (const crawl of crawls) await crawl.close();
  } finally {
    await stop();
    await rm(home, { recursive: true, force: true });
  }
}

class FrontierCrawl {
  /** Time of each page in ms. */
  readonly pages: number[] = [];
  private readonly sweeps: number[] = [];
  private known = 0;
  private admitted: string[] = [];

  private constructor(
    private readonly db: Database,
    private readonly settings: CrawlSettings,
    private readonly size: number,
    private readonly crawlId = `frontier-${size}`,
  ) {}

  /** Processes some pages before the frontier is full: Postgres plans a crawl's statements while its tables are small. */
  static async fill(url: string, settings: CrawlSettings, size: number): Promise<FrontierCrawl> {
    const crawl = new FrontierCrawl(openDatabase(url, { connections: 1 }), settings, size);
    const seeds = [{ url: crawl.urlOf(0), keyword: null, priority: null }];
    await openCrawl(crawl.db, { id: crawl.crawlId, seeds, settings, unit: 'host' });
    await crawl.addPages(100);
    for (let page = 0; page < 20; page += 1) await crawl.measurePage();
    while (crawl.known < size) await crawl.addPages(Math.min(1_000, size - crawl.known));
    crawl.pages.length = 0;
    return crawl;
  }

  private urlOf(n: number): string {
    return `http://${HOST}/${n}`;
  }

  private async addPages(count: number): Promise<void> {
    const pages = Array.from({ length: count }, (_, i) =>
      newPage(this.settings, 'host', this.urlOf(this.known + i), null),
    );
    const { crawlId, settings } = this;
    const found = {
      crawlId,
      order: settings.order,
      depth: 1,
      redirectCount: 0,
      isSeed: false,
      foundOnId: null,
      pages,
    };
    await this.db.inTransaction((tx) => insertPages(tx, found));
    this.known += count;
  }

  async measurePage(): Promise<void> {
    this.pages.push(await timed(() => this.onePage()));
  }

  async measureSweep(): Promise<void> {
    this.sweeps.push(await timed(() => this.sweep()));
  }

  private async onePage(): Promise<void> {
    const pageId = this.admitted.shift() ?? (await this.admitFirst('nobody'));
    await touchPage(this.db, pageId, STALLED_AFTER_MS);
    await recordAttempt(this.db, this.settings, 'host', this.success(pageId));
    const { pages: next } = await admit(this.db, { ...this.admission(pageId), domains: [HOST] });
    this.admitted.push(...next.map((page) => page.pageId));
  }

  private async admitFirst(by: string): Promise<string> {
    const { pages } = await admit(this.db, { ...this.admission(by), domains: null });
    this.admitted.push(...pages.map(({ pageId }) => pageId));
    const first = this.admitted.shift();
    if (first === undefined) throw new Error('The frontier is empty: nothing was admitted.');
    return first;
  }

  private admission(admissionId: string) {
    return {
      crawlId: this.crawlId,
      window: this.settings.window,
      warmup: this.settings.warmup,
      admissionId,
    };
  }

  private async sweep(): Promise<void> {
    await admitDue(this.db, this.crawlId, this.settings, randomUUID());
    await findStalled(this.db, this.crawlId, async () => true);
    await foldChanges(this.db, this.crawlId);
    await countPages(this.db, this.crawlId);
  }

  /** With links to nine known pages and one new one, so that the frontier keeps its size. */
  private success(pageId: string): Parameters<typeof recordAttempt>[3] {
    const targets = Array.from({ length: 9 }, () => Math.floor(Math.random() * this.known));
    const links = [...targets, this.known].map((n) => ({
      url: this.urlOf(n),
      anchor: 'A link',
      rel: null,
      nofollow: false,
    }));
    this.known += 1;
    const body = createHash('sha256').update(pageId).digest('hex');
    const finishedAt = Date.now();
    const { crawlId } = this;
    return {
      crawlId,
      pageId,
      attempt: 1,
      slotWaitMs: 5,
      retryAt: null,
      parsed: {
        hash: body,
        title: 'A page',
        description: null,
        canonical: null,
        language: 'en',
        detectedLanguage: null,
        refreshTo: null,
        linksTooLong: 0,
        listed: null,
        linksFound: links.length,
        noindex: false,
        links: [...new Map(links.map((link) => [link.url, link])).values()],
      },
      report: {
        outcome: 'Success',
        statusCode: 200,
        errorKind: null,
        error: null,
        request: {
          leaseId: randomUUID(),
          domain: HOST,
          url: this.urlOf(0),
          startedAt: finishedAt,
          startedErrorMs: 1,
          minGapMs: 0,
          allowedBy: null,
          statusCode: 200,
          durationMs: 5,
          sentTo: { address: '127.0.0.1', block: '127.0.0.1', at: finishedAt, limit: null },
        },
        finishedAt,
        latencyMs: 5,
        bytes: 1_000,
        found: {
          kind: 'document',
          contentHash: body,
          contentType: 'text/html',
          contentLanguage: null,
          bytes: 1_000,
          etag: null,
          lastModified: null,
          directives: { noindex: false, nofollow: false },
        },
      },
    };
  }

  async report(): Promise<string> {
    const { pages } = await countPages(this.db, this.crawlId);
    const figures = [
      `${this.size.toLocaleString('en').padEnd(8)} pending  ${median(this.pages).toFixed(2)} ms per page`,
      `${median(this.sweeps).toFixed(1)} ms per sweep`,
      `(${pages.Fetched} fetched, ${pages.Pending} pending)`,
    ];
    return figures.join(', ');
  }

  close(): Promise<void> {
    return this.db.$disconnect();
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function createDatabase(url: string, name: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`).finally(() => client.end());
  const made = new URL(url);
  made.pathname = `/${name}`;
  await migrate(made.href);
  return made.href;
}
