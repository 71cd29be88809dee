/**
 * How much is open at a time when a great deal is known: one domain with 100,000 pages and 2,000 domains with three each,
 * crawled by one worker process until it has fetched `maxPages` of them. What must stay bounded is looked at all the while.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { PRESETS } from '../src/config/presets.ts';
import type { Database } from '../src/storage/database.ts';
import { throttleId } from '../workflows/ids.ts';
import { checkResult, printResult } from './figures.ts';
import { log, withEnvironment } from './lab.ts';

const BIG_HOST = 100_000;
const SMALL = { hosts: 2_000, pages: 3 };
/** The throttle of the large one continues as new on the way. `npm run bench -- scale 8000` fetches all of the small ones. */
const MAX_PAGES = 2_500;
/** Of a crawl that names no preset. */
const WINDOW = PRESETS.smallweb.window;
/** Continuing as new is suggested at 4,096 events, and comes once what is under way has ended. */
const LONGEST_HISTORY = 4_500;
const LOOK_EVERY_MS = 2_000;
const WHOLE = { digits: 0, remark: 'at most' };

export async function scale(pages = String(MAX_PAGES)): Promise<void> {
  const maxPages = Number(pages);
  await withEnvironment(async ({ client, db, crawl, addWorker }) => {
    const worker = await addWorker();
    log(
      `Crawling ${maxPages} of ${BIG_HOST} pages on one host and ${SMALL.hosts} hosts of ${SMALL.pages} ...`,
    );
    const hosts = [BIG_HOST, ...Array.from({ length: SMALL.hosts }, () => SMALL.pages)];
    const watch = watchBounds(client, db, 'scale');
    // Not even what would otherwise pass for a trap is left out.
    const traps = { maxPerDirectory: null };
    const run = await crawl('scale', hosts, { delay: '0ms', maxPages, traps });
    const most = await watch.stop();
    const found = await db.page.count({ where: { crawlId: 'scale' } });
    const fetched = await db.page.count({ where: { crawlId: 'scale', status: 'Fetched' } });
    const domains = await db.crawlDomain.count({ where: { crawlId: 'scale' } });
    const memory = await worker.mostMemory();
    printResult('pages found', `${found} on ${domains} domains, ${fetched} fetched`);
    printResult('pages/s', (fetched / run.seconds).toFixed(1));
    checkResult('under way on a domain', most.queued, { atMost: WINDOW }, WHOLE);
    checkResult('open page workflows', most.pages, { atMost: WINDOW * domains }, WHOLE);
    checkResult('open throttles', most.throttles, { atMost: domains }, WHOLE);
    checkResult('throttle of the large', most.runs, { atLeast: 2 }, { digits: 0, remark: 'runs' });
    checkResult('events in one of them', most.history, { atMost: LONGEST_HISTORY }, WHOLE);
    checkResult('worker memory, MB', memory ?? Number.NaN, { atMost: 600 }, WHOLE);
  });
}

interface Bounds {
  queued: number;
  pages: number;
  throttles: number;
  history: number;
  runs: number;
}

/** The most of each that was seen at any look. */
function watchBounds(client: Client, db: Database, crawlId: string): { stop(): Promise<Bounds> } {
  const most: Bounds = { queued: 0, pages: 0, throttles: 0, history: 0, runs: 0 };
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      const seen = await lookAt(client, db, crawlId);
      for (const key of ['queued', 'pages', 'throttles', 'history', 'runs'] as const) {
        most[key] = Math.max(most[key], seen[key]);
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal: over.signal }).catch(() => {});
    }
  })();
  return {
    async stop() {
      over.abort();
      await watching;
      return most;
    },
  };
}

async function lookAt(client: Client, db: Database, crawlId: string): Promise<Bounds> {
  const big = throttleId(`h0.${crawlId}.test`);
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
        // It has not been asked for anything yet.
        () => 0,
      ),
    db.$queryRaw<{ queued: number }[]>`
      SELECT count(*)::int AS queued FROM pages WHERE crawl_id = ${crawlId} AND status = 'Queued'
      GROUP BY domain ORDER BY queued DESC LIMIT 1`,
  ]);
  return { pages, throttles, runs, history, queued: rows[0]?.queued ?? 0 };
}
