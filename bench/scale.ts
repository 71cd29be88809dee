/**
 * Checks that open workflows, histories and memory stay bounded with a large frontier: one domain with 100,000 pages and
 * 2,000 domains with three each, crawled by one worker process until `maxPages` are fetched.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { loadConfig } from '../src/config/index.ts';
import type { Database } from '../src/storage/database.ts';
import { throttleId } from '../workflows/ids.ts';
import { log, withEnvironment } from './environment.ts';
import { checkResult, printResult } from './results.ts';

const BIG_HOST = 100_000;
const SMALL = { hosts: 2_000, pages: 3 };
/** Enough for the large domain's throttle to continue as new. `npm run bench -- scale 8000` fetches all small domains. */
const MAX_PAGES = 4_500;
/** The window of the default preset. */
const WINDOW = loadConfig({ env: {}, cwd: '/' }).crawl.window;
/** Temporal suggests continuing as new at 4,096 events; the throttle does so once its updates are finished. */
const MAX_HISTORY = 4_500;
const POLL_INTERVAL_MS = 2_000;
const INTEGER = { digits: 0, remark: 'maximum' };

export async function scale(pages = String(MAX_PAGES)): Promise<void> {
  const maxPages = Number(pages);
  await withEnvironment(async ({ client, db, crawl, addWorker }) => {
    const worker = await addWorker();
    log(
      `Crawling ${maxPages} of ${BIG_HOST} pages on one host and ${SMALL.hosts} hosts of ${SMALL.pages} ...`,
    );
    const hosts = [BIG_HOST, ...Array.from({ length: SMALL.hosts }, () => SMALL.pages)];
    const watch = watchMaxima(client, db, 'scale');
    // The large domain must not count as a trap.
    const traps = { maxPerDirectory: null };
    const run = await crawl('scale', hosts, { delay: '0ms', maxPages, traps });
    const max = await watch.stop();
    const found = await db.page.count({ where: { crawlId: 'scale' } });
    const fetched = await db.page.count({ where: { crawlId: 'scale', status: 'Fetched' } });
    const domains = await db.crawlDomain.count({ where: { crawlId: 'scale' } });
    const memory = await worker.peakMemoryMb();
    printResult('pages found', `${found} on ${domains} domains, ${fetched} fetched`);
    printResult('pages/s', (fetched / run.seconds).toFixed(1));
    checkResult('in window of a domain', max.queued, { atMost: WINDOW }, INTEGER);
    checkResult('open page workflows', max.pages, { atMost: WINDOW * domains }, INTEGER);
    checkResult('open throttles', max.throttles, { atMost: domains }, INTEGER);
    checkResult('large throttle, runs', max.runs, { atLeast: 2 }, { digits: 0 });
    checkResult('events in one run', max.history, { atMost: MAX_HISTORY }, INTEGER);
    checkResult('worker memory, MB', memory ?? Number.NaN, { atMost: 450 }, INTEGER);
  });
}

interface Maxima {
  queued: number;
  pages: number;
  throttles: number;
  history: number;
  runs: number;
}

/** The largest value of each that any poll saw. */
function watchMaxima(client: Client, db: Database, crawlId: string): { stop(): Promise<Maxima> } {
  const max: Maxima = { queued: 0, pages: 0, throttles: 0, history: 0, runs: 0 };
  const stopped = new AbortController();
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      const seen = await poll(client, db, crawlId);
      for (const key of ['queued', 'pages', 'throttles', 'history', 'runs'] as const) {
        max[key] = Math.max(max[key], seen[key]);
      }
      await sleep(POLL_INTERVAL_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await watching;
      return max;
    },
  };
}

async function poll(client: Client, db: Database, crawlId: string): Promise<Maxima> {
  const big = throttleId(`${crawlId}-0.test`);
  const count = async (query: string) => (await client.workflow.count(query)).count;
  const [pages, throttles, runs, history, rows] = await Promise.all([
    count("WorkflowType='CrawlPage' AND ExecutionStatus='Running'"),
    count("WorkflowType='DomainThrottle' AND ExecutionStatus='Running'"),
    count(`WorkflowId='${big}'`),
    client.workflow
      .getHandle(big)
      .describe()
      .then(
        ({ historyLength }) => historyLength,
        // It has not started yet.
        () => 0,
      ),
    db.$queryRaw<{ queued: number }[]>`
      SELECT count(*)::int AS queued FROM pages WHERE crawl_id = ${crawlId} AND status = 'Queued'
      GROUP BY domain ORDER BY queued DESC LIMIT 1`,
  ]);
  return { pages, throttles, runs, history, queued: rows[0]?.queued ?? 0 };
}
