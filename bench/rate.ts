/**
 * What a page costs at best: a crawl without a delay, beside workflows that only run one activity. Both by turns, because the
 * speed of a machine is not the same from one minute to the next.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunBareWorkflows, withBareWorker } from './bare.ts';
import { countEvents } from './count-events.ts';
import { checkResult, median, medianOf, printResult } from './figures.ts';
import { type BenchEnvironment, log, withEnvironment } from './lab.ts';

const TURNS = 5;
const HOSTS = 20;
/** So many that what a crawl and its domains cost once counts for little, as it does in the long run. */
const PAGES_A_HOST = 40;
const WARM_UP_PAGES_A_HOST = 10;
const BARE_WORKFLOWS = 300;
const BARE_WARM_UP = 200;

/** A crawl that wants no gap wants no line either: as many at a time as the window lets in. */
const AT_ONCE = 4;

/** For that long the server has timers of the crawl to see to, which shall not count against the bare workflows. */
const SETTLED_MS = 12_000;

interface Turn {
  bare: number;
  pages: number;
}

export async function rate(): Promise<void> {
  await withEnvironment(async (lab) => {
    await lab.addWorker();
    await withBareWorker(lab.client, lab.address, (runBare) => compare(lab, runBare));
  });
}

async function compare({ client, db, crawl }: BenchEnvironment, runBare: RunBareWorkflows): Promise<void> {
  const crawlAll = (crawlId: string, pages: number): ReturnType<BenchEnvironment['crawl']> =>
    crawl(
      crawlId,
      Array.from({ length: HOSTS }, () => pages),
      { delay: '0ms', concurrency: AT_ONCE },
    );
  // Code that has just been loaded says nothing about the hours that follow.
  log('Warming up ...');
  await runBare(BARE_WARM_UP);
  await crawlAll('warm-up', WARM_UP_PAGES_A_HOST);
  await sleep(SETTLED_MS);
  const turns: Turn[] = [];
  for (let turn = 1; turn <= TURNS; turn += 1) {
    log(`Turn ${turn} of ${TURNS}: ${BARE_WORKFLOWS} workflows of one activity ...`);
    const before = await runBare(BARE_WORKFLOWS / 2);
    log(`and ${HOSTS} hosts of ${PAGES_A_HOST} pages without a delay ...`);
    const crawlId = `bench-${turn}`;
    const { seconds } = await crawlAll(crawlId, PAGES_A_HOST);
    await sleep(SETTLED_MS);
    const after = await runBare(BARE_WORKFLOWS / 2);
    const pages = await db.page.count({ where: { crawlId, status: 'Fetched' } });
    turns.push({ bare: BARE_WORKFLOWS / (before + after), pages: pages / seconds });
  }
  const ratios = turns.map(({ bare, pages }) => pages / bare);
  const events = await countEvents(client, db, `bench-${TURNS}`);
  const each = (of: keyof Turn): string => turns.map((turn) => turn[of].toFixed(1)).join('  ');
  printResult('bare workflows/s', each('bare'));
  printResult('pages/s', each('pages'));
  checkResult('pages/s : bare', median(ratios), { atLeast: 0.55 }, { remark: medianOf(ratios) });
  const most = { digits: 1, remark: `${events.mostPerPage} at most` };
  checkResult('events a page', events.perPage, { atMost: 36 }, most);
  checkResult('throttle events a page', events.throttlePerPage, { atMost: 12 }, { digits: 1 });
}
