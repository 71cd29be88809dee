/**
 * `npm run bench`: what a crawl costs, beside what this server and machine can do at best, in one run. Ratios travel from
 * machine to machine; absolute figures do not.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { loadConfig } from '../config/index.ts';
import { startEngines } from '../engines/index.ts';
import { openDatabase } from '../storage/database.ts';
import { startWorker } from '../worker.ts';
import { bareRate } from './bare.ts';
import { countEvents } from './count-events.ts';
import { startPlainWeb } from './plain-web.ts';

const HOSTS = 20;
const PAGES_A_HOST = 40;
const WARM_UP_PAGES_A_HOST = 10;
const BARE_WORKFLOWS = 800;

const say = (line: string): void => console.error(line);
const home = await mkdtemp(join(tmpdir(), 'amble-bench-'));
const engines = await startEngines({ home, isolated: true, say });
try {
  const { address, namespace } = engines.temporal;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  say(`Running ${BARE_WORKFLOWS} workflows of one activity ...`);
  const bare = await bareRate(client, address, BARE_WORKFLOWS);
  const db = openDatabase(engines.databaseUrl);
  const config = loadConfig({ env: {}, cwd: home, flags: { home } });
  const worker = await startWorker({
    config,
    temporal: engines.temporal,
    databaseUrl: engines.databaseUrl,
    log: pino({ level: 'warn' }, pino.destination(2)),
  });
  const crawl = async (crawlId: string, pagesOf: number[]): Promise<number> => {
    const web = await startPlainWeb(crawlId, pagesOf);
    const began = performance.now();
    await client.workflow.execute('Crawl', {
      taskQueue: config.taskQueue,
      workflowId: crawlId,
      args: [{ seeds: web.seeds, resolve: web.resolve, allowNetworks: ['127.0.0.0/8'], delay: '0ms' }],
    });
    web.stop();
    return (performance.now() - began) / 1_000;
  };
  // As the bare workflows had theirs: code that has just been loaded says nothing about the hours that follow.
  await crawl(
    'warm-up',
    Array.from({ length: HOSTS }, () => WARM_UP_PAGES_A_HOST),
  );
  say(`Crawling ${HOSTS} hosts of ${PAGES_A_HOST} pages without a delay ...`);
  const crawlId = 'bench';
  const seconds = await crawl(
    crawlId,
    Array.from({ length: HOSTS }, () => PAGES_A_HOST),
  );
  const pages = await db.page.count({ where: { crawlId, status: 'Fetched' } });
  const rate = pages / seconds;
  const events = await countEvents(client, db, crawlId);
  console.log(`bare workflows/s       ${bare.toFixed(1)}`);
  console.log(`pages/s                ${rate.toFixed(1)}  (${pages} pages in ${seconds.toFixed(1)} s)`);
  console.log(`pages/s : bare         ${(rate / bare).toFixed(2)}  (wanted: at least 0.55)`);
  console.log(
    `events a page          ${events.perPage.toFixed(1)}, at most ${events.mostPerPage}  (wanted: at most 36)`,
  );
  console.log(`throttle events a page ${events.throttlePerPage.toFixed(1)}  (wanted: at most 12)`);
  await worker.stop();
  await db.$disconnect();
  await connection.close();
} finally {
  await engines.stop();
  await rm(home, { recursive: true, force: true });
}
