/** Records pages in a database of its own: what a site puts into its pages takes time after they are parsed, too. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../src/config/index.ts';
import type { CrawlSettings } from '../src/core/settings.ts';
import { startDatabase } from '../src/embedded/index.ts';
import { openCrawl } from '../src/storage/crawls.ts';
import { type Database, openDatabase } from '../src/storage/database.ts';
import { admit } from '../src/storage/frontier/admit.ts';
import { registerSitemapEntries } from '../src/storage/frontier/register-sitemap-entries.ts';
import { migrate } from '../src/storage/migrate.ts';
import { recordAttempt } from '../src/storage/pages/record-attempt.ts';
import { log } from './environment.ts';
import { fill } from './hostile-documents.ts';

type Construct = () => Promise<unknown>;

const HOST = 'http://example.test';
const LINKS = 10_000;
const SEGMENTS = 'a/'.repeat(60);

/** As many as fit into the longest URL. */
const PARAMETERS = fill('p#=1&', 1_900);

export async function withRecordedPages(
  work: (constructs: Record<string, Construct>) => Promise<void>,
): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'amble-bench-'));
  const { databaseUrl, stop } = await startDatabase({ home, notify: log });
  const db = openDatabase(databaseUrl);
  const crawl = (flags: object): CrawlSettings =>
    loadConfig({ env: {}, cwd: home, flags: { home, ...flags } }).crawl;
  try {
    await migrate(databaseUrl);
    const any = crawl({ scope: 'any' });
    const excluding = crawl({ exclude: Array.from({ length: 100 }, (_, n) => `/*no${n}*`) });
    await work({
      'links to pages': links(db, crawl({}), (n) => `${HOST}/${n}`),
      'links with long paths': links(db, crawl({}), (n) => `${HOST}/${SEGMENTS}${n}`),
      'links with parameters': links(db, crawl({}), (n) => `${HOST}/?${'a&b&c&d&'.repeat(20)}${n}`),
      'links, 100 excluded patterns': links(db, excluding, (n) => `${HOST}/${n}`),
      'links, types of a shop': links(db, crawl({ preset: 'shop' }), (n) => `${HOST}/${n}`),
      'links to hosts': links(db, any, (n) => `http://h${n}.example.test/`),
      'links to sites': links(db, any, (n) => `http://h${n}.com/`),
      'links to ports': links(db, any, (n) => `${HOST}:${n + 10_000}/`),
      'a sitemap with parameters': sitemap(db, crawl({}), (n) => `${HOST}/?${PARAMETERS}${n}`),
    });
  } finally {
    await db.$disconnect();
    await stop();
    await rm(home, { recursive: true, force: true });
  }
}

/** As many as are kept of a page. */
function links(db: Database, settings: CrawlSettings, urlOf: (n: number) => string): Construct {
  const urls = Array.from({ length: LINKS }, (_, n) => urlOf(n));
  return async () => {
    const { crawlId, pageId } = await admitSeed(db, settings);
    await recordAttempt(db, settings, 'host', {
      crawlId,
      pageId,
      attempt: 1,
      report: SUCCESS,
      slotWaitMs: 0,
      retryAt: null,
      parsed: {
        ...PARSED,
        links: urls.map((url) => ({ url, anchor: 'a link', rel: null, nofollow: false })),
      },
    });
  };
}

/** As many entries as are registered at a time. */
function sitemap(db: Database, settings: CrawlSettings, urlOf: (n: number) => string): Construct {
  const urls = Array.from({ length: 1_000 }, (_, n) => urlOf(n));
  return async () => {
    const { pageId } = await admitSeed(db, settings);
    const entries = urls.map((url) => ({ kind: 'page', url, lastmod: null }) as const);
    await registerSitemapEntries(db, { settings, unit: 'host', pageId, entries });
  };
}

async function admitSeed(
  db: Database,
  settings: CrawlSettings,
): Promise<{ crawlId: string; pageId: string }> {
  const crawlId = `stalls-${randomUUID()}`;
  const seeds = [{ url: `${HOST}/`, keyword: null, priority: null }];
  await openCrawl(db, { id: crawlId, seeds, settings, unit: 'host' });
  const { window } = settings;
  const warmup = { pending: 0, atMostMs: 0 };
  const { pages } = await admit(db, { crawlId, window, warmup, admissionId: crawlId, domains: null });
  const [page] = pages;
  if (page === undefined) throw new Error('The seed was not admitted.');
  return { crawlId, pageId: page.pageId };
}

const SUCCESS = {
  outcome: 'Success',
  statusCode: 200,
  errorKind: null,
  error: null,
  request: null,
  finishedAt: Date.now(),
  latencyMs: 1,
  bytes: 1,
  found: {
    kind: 'document',
    contentHash: '0'.repeat(64),
    contentType: 'text/html',
    bytes: 1,
    etag: null,
    lastModified: null,
    contentLanguage: null,
    directives: { noindex: false, nofollow: false },
  },
} as const;

const PARSED = {
  hash: '0'.repeat(64),
  title: null,
  description: null,
  canonical: null,
  language: null,
  detectedLanguage: null,
  refreshTo: null,
  linksFound: LINKS,
  linksTooLong: 0,
  listed: null,
  noindex: false,
};
