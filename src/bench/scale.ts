/**
 * How much is open at a time when a great deal is known: one domain with 100,000 pages and 2,000 domains with three each,
 * crawled by one worker process until it has fetched `maxPages` of them. What must stay bounded is looked at all the while.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { throttleId } from '../../workflows/ids.ts';
import { PRESETS } from '../config/presets.ts';
import type { Database } from '../storage/database.ts';
import { inLab, say } from './lab.ts';

const BIG_HOST = 100_000;
const SMALL = { hosts: 2_000, pages: 3 };
/** More would be more of the same; `npm run bench -- scale 8000` fetches all of the small ones. */
const MAX_PAGES = 1_500;
/** Of a crawl that names no preset. */
const WINDOW = PRESETS.smallweb.window;
const LOOK_EVERY_MS = 2_000;

export async function scale(pages = String(MAX_PAGES)): Promise<void> {
  const maxPages = Number(pages);
  await inLab(async ({ client, db, crawl, addWorker }) => {
    const worker = await addWorker();
    say(
      `Crawling ${maxPages} of ${BIG_HOST} pages on one host and ${SMALL.hosts} hosts of ${SMALL.pages} ...`,
    );
    const hosts = [BIG_HOST, ...Array.from({ length: SMALL.hosts }, () => SMALL.pages)];
    const watch = watchBounds(client, db, 'scale');
    const run = await crawl('scale', hosts, { delay: '0ms', maxPages });
    const most = await watch.stop();
    const found = await db.page.count({ where: { crawlId: 'scale' } });
    const fetched = await db.page.count({ where: { crawlId: 'scale', status: 'Fetched' } });
    const domains = await db.crawlDomain.count({ where: { crawlId: 'scale' } });
    const memory = await worker.mostMemory();
    console.log(`pages found            ${found} on ${domains} domains, ${fetched} fetched`);
    console.log(`pages/s                ${(fetched / run.seconds).toFixed(1)}`);
    console.log(`under way on a domain  at most ${most.queued}  (window: ${WINDOW})`);
    console.log(`open page workflows    at most ${most.pages}  (bound: ${WINDOW} a domain)`);
    console.log(`open throttles         at most ${most.throttles}  (bound: 1 a domain)`);
    console.log(`throttle of the large  ${most.runs} runs, at most ${most.history} events in one`);
    console.log(`worker memory          at most ${memory?.toFixed(0) ?? '?'} MB  (wanted: under 600)`);
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
