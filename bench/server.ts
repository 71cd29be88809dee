/**
 * `npm run bench -- server`: how long every view of the dashboard and every GET of the API take with 1,000,000 pages in 5 crawls
 * and 2,000 domains on record, while a crawl of 100 hosts runs, whose throttles answer for their domains.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../src/server/listen.ts';
import { createServices } from '../src/server/services.ts';
import { VIEWS } from '../src/server/views/index.ts';
import { type Database, openDatabase } from '../src/storage/database.ts';
import { type BenchEnvironment, log, withEnvironment } from './environment.ts';
import { crawlName, fillLargeCrawls, LARGEST_DOMAIN, urlOf } from './large-crawls.ts';
import { startPlainWeb } from './plain-web.ts';
import { checkResult, median } from './results.ts';

const SIZE = { crawls: 5, pagesPerCrawl: 200_000, domains: 2_000, orders: 20_000 };
const WANTED_MS = 300;
/** The page for everybody answers 30 times a minute. */
const TIMES = 10;
const LIVE = { crawl: 'live', hosts: 100, pages: 20, delay: '60s' };
const POLL_INTERVAL_MS = 500;

/** Has retried all failed pages of the last crawl. */
const RETRY_ORDER = 'bench-retry';

const crawl = crawlName(SIZE.crawls - 1);
const page = encodeURIComponent(urlOf(SIZE.pagesPerCrawl));

/** What a view is asked for, besides the parts of its path. */
const QUERIES: Record<string, string[]> = {
  '/now': ['', `?${new URLSearchParams({ after: 'ended~2100-01-01T00:00:00.000Z~none' })}`],
  '/domains': ['', '?find=d7', '?find=none'],
  '/page': ['', `?url=${page}`],
  '/orders': ['', `?crawl=${crawl}`, `?domain=${LARGEST_DOMAIN}`],
  '/crawls/:crawl/retry': ['', '?cause=timeout', `?order=${RETRY_ORDER}`],
  '/crawls/:crawl/exclude': ['', '?pattern=/a/7*', '?pattern=/none/*'],
  '/bot': ['', `?host=${LARGEST_DOMAIN}`],
};

const API = [
  '/crawls',
  `/crawls/${crawl}`,
  `/crawls/${crawl}/pages`,
  `/crawls/${crawl}/pages?status=Failed`,
  `/crawls/${crawl}/pages?status=Queued`,
  `/crawls/${crawl}/pages?domain=d7.test`,
  `/crawls/${crawl}/pages?domain=d7.test&status=Blocked`,
  `/crawls/${crawl}/pages?limit=500&after=${'8'.repeat(64)}`,
  '/domains',
  '/domains?limit=1000',
  `/domains/${LARGEST_DOMAIN}`,
  `/pages?url=${page}`,
  '/orders',
  `/orders?crawl=${crawl}`,
  '/health',
].map((path) => `/api/v1${path}`);

function addresses(ofLiveCrawl: readonly string[]): string[] {
  const views = VIEWS.flatMap(({ path }) => {
    const filled = path.replace(':crawl', crawl).replace(':domain', LARGEST_DOMAIN);
    return (QUERIES[path] ?? ['']).map((query) => filled + query);
  });
  return [...views, ...ofLiveCrawl, ...API, '/metrics'];
}

export async function server(): Promise<void> {
  await withEnvironment(async (environment) => {
    const { config, client, db, databaseUrl } = environment;
    log(`Writing ${SIZE.crawls} crawls of ${SIZE.pagesPerCrawl} pages and ${SIZE.domains} domains ...`);
    await fillLargeCrawls(db, config, SIZE);
    await recordRetry(db);
    const stopLive = await startLiveCrawl(environment);
    const reports = openDatabase(databaseUrl, { forReports: true });
    const services = createServices({ config, client, db: reports, temporalUi: null });
    const running = await startServer(services, { host: 'localhost', port: 0 }, log);
    try {
      for (const address of addresses(await liveAddresses(db))) await measure(new URL(address, running.url));
    } finally {
      await running.stop();
      await reports.$disconnect();
      stopLive();
    }
  });
}

async function recordRetry(db: Database): Promise<void> {
  await db.$executeRaw`UPDATE pages SET retry_id = ${RETRY_ORDER} WHERE crawl_id = ${crawl} AND status = 'Failed'`;
  await db.$executeRaw`
    INSERT INTO orders (id, kind, crawl_id, channel, effect) VALUES (${RETRY_ORDER}, 'retry', ${crawl}, 'cli', 'done')`;
}

/** A domain whose throttle runs, and a page that waits for a slot of it. */
async function liveAddresses(db: Database): Promise<string[]> {
  for (;;) {
    const page = await db.page.findFirst({ where: { crawlId: LIVE.crawl, status: 'Queued' } });
    if (page !== null) return [`/domains/${page.domain}`, `/page?url=${encodeURIComponent(page.url)}`];
    await sleep(POLL_INTERVAL_MS);
  }
}

async function startLiveCrawl({ addWorker, start }: BenchEnvironment): Promise<() => void> {
  await addWorker();
  const web = await startPlainWeb(
    'live',
    Array.from({ length: LIVE.hosts }, () => LIVE.pages),
  );
  log(`Starting a crawl of ${LIVE.hosts} hosts ...`);
  await start(LIVE.crawl, { seeds: web.seeds, resolve: web.resolve, delay: LIVE.delay });
  while (web.arrivals.size < LIVE.hosts) await sleep(POLL_INTERVAL_MS);
  return () => web.stop();
}

async function measure(url: URL): Promise<void> {
  const took: number[] = [];
  // The first one is not counted: it prepares its statements, as a server that has run for a while has done.
  for (let time = 0; time <= TIMES; time += 1) {
    const began = performance.now();
    const response = await fetch(url);
    await response.arrayBuffer();
    if (time > 0) took.push(performance.now() - began);
    if (!response.ok) throw new Error(`${url.href} answered ${response.status}.`);
  }
  const name = url.pathname + url.search;
  const remark = `worst; median ${median(took).toFixed(0)}`;
  checkResult(name.slice(0, 60).padEnd(60), Math.max(...took), { atMost: WANTED_MS }, { digits: 0, remark });
}
