/**
 * Compares the rate of a crawl without delays with that of workflows that run one activity. The two alternate, because a
 * machine's speed changes from minute to minute.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { BadInput } from '../src/core/errors.ts';
import { type RunBareWorkflows, withBareWorker } from './bare.ts';
import { countEvents } from './count-events.ts';
import { type BenchEnvironment, log, withEnvironment } from './environment.ts';
import { parseOptions } from './options.ts';
import { checkResult, median, medianOf, printResult } from './results.ts';

const TURNS = 5;
const HOSTS = 20;
/** Enough that the fixed costs of a crawl and its domains hardly count, as in a long crawl. */
const PAGES_PER_HOST = 40;
const WARM_UP_PAGES_PER_HOST = 10;
const BARE_WORKFLOWS = 300;
const BARE_WARM_UP = 200;

/** Without a gap there is no reason to queue: as many requests at a time as the window allows. */
const CONCURRENCY = 4;

/** Until the server has processed the crawl's remaining timers, which must not slow down the bare workflows. */
const SETTLE_MS = 12_000;

interface Turn {
  bare: number;
  pages: number;
}

export async function rate(...args: string[]): Promise<void> {
  const { turns, production } = readOptions(args);
  const work = async (environment: BenchEnvironment) => {
    await environment.addWorker();
    await withBareWorker(environment.client, environment.temporal, (runBare) =>
      compare(environment, runBare, turns),
    );
  };
  await withEnvironment(work, {}, { production });
}

function readOptions(args: string[]): { turns: number; production: boolean } {
  const { turns: given, production } = parseOptions(args, {
    turns: { type: 'string', default: String(TURNS) },
    production: { type: 'boolean', default: false },
  });
  const turns = Number(given);
  if (!Number.isInteger(turns) || turns < 1) throw new BadInput('--turns must be a whole number above 0.');
  return { turns, production };
}

async function compare(
  { client, db, crawl }: BenchEnvironment,
  runBare: RunBareWorkflows,
  turnCount: number,
): Promise<void> {
  const crawlAll = (crawlId: string, pages: number): ReturnType<BenchEnvironment['crawl']> =>
    crawl(
      crawlId,
      Array.from({ length: HOSTS }, () => pages),
      { delay: '0ms', concurrency: CONCURRENCY },
    );
  // A crawl runs for hours, so cold code does not count.
  log('Warming up ...');
  await runBare(BARE_WARM_UP);
  await crawlAll('warm-up', WARM_UP_PAGES_PER_HOST);
  await sleep(SETTLE_MS);
  const turns: Turn[] = [];
  for (let turn = 1; turn <= turnCount; turn += 1) {
    log(`Turn ${turn} of ${turnCount}: ${BARE_WORKFLOWS} workflows of one activity ...`);
    const before = await runBare(BARE_WORKFLOWS / 2);
    log(`and ${HOSTS} hosts of ${PAGES_PER_HOST} pages without a delay ...`);
    const crawlId = `bench-${turn}`;
    const { seconds } = await crawlAll(crawlId, PAGES_PER_HOST);
    await sleep(SETTLE_MS);
    const after = await runBare(BARE_WORKFLOWS / 2);
    const pages = await db.page.count({ where: { crawlId, status: 'Fetched' } });
    turns.push({ bare: BARE_WORKFLOWS / (before + after), pages: pages / seconds });
  }
  const ratios = turns.map(({ bare, pages }) => pages / bare);
  const events = await countEvents(client, db, `bench-${turnCount}`);
  const each = (of: keyof Turn): string => turns.map((turn) => turn[of].toFixed(1)).join('  ');
  printResult('bare workflows/s', each('bare'));
  printResult('pages/s', each('pages'));
  checkResult('pages/s : bare', median(ratios), { atLeast: 0.8 }, { remark: medianOf(ratios) });
  const eventsRemark = { digits: 1, remark: `${events.maxPerPage} at most` };
  checkResult('events per page', events.perPage, { atMost: 22 }, eventsRemark);
  checkResult('throttle events / page', events.throttlePerPage, { atMost: 6 }, { digits: 1 });
}
