/**
 * What politeness costs beyond the waiting it is made of. A host's requests cannot be done in less than (requests - 1)
 * delays; a crawl of many hosts cannot be done before its largest host. How near to that does a durable crawler come, and
 * do small hosts notice a huge one?
 */
import { checkResult, median, medianOf, printResult } from './figures.ts';
import { type BenchEnvironment, type CrawlRun, log, withEnvironment } from './lab.ts';
import type { PlainWeb } from './plain-web.ts';
import { verifyCrawls } from './proof-of.ts';

const DELAY_MS = 1_000;
const LARGEST_HOST = 60;
const OTHERS = { hosts: 19, pages: 15 };
const WARM_UP_PAGES = 10;
const HUGE_HOST = 200;
const SMALL = { hosts: 30, pages: 5 };
const TURNS = 5;

export async function polite(): Promise<void> {
  await withEnvironment(async (lab) => {
    await efficiency(lab);
    await fairness(lab);
    const { requests, violationCount } = await verifyCrawls(lab, null);
    checkResult('impolite', violationCount, { atMost: 0 }, { digits: 0, remark: `of ${requests} requests` });
  });
}

async function efficiency(lab: BenchEnvironment): Promise<void> {
  const { crawl, db } = lab;
  // Code that has just been loaded says nothing about the hours that follow.
  await crawl('warm-up', equal({ hosts: 1 + OTHERS.hosts, pages: WARM_UP_PAGES }), { delay: '0ms' });
  log(
    `Crawling a host of ${LARGEST_HOST} pages and ${OTHERS.hosts} of ${OTHERS.pages}, one request a second each ...`,
  );
  const crawlId = 'polite';
  const run = await crawl(crawlId, [LARGEST_HOST, ...equal(OTHERS)], { delay: `${DELAY_MS}ms` });
  const requests = await db.request.groupBy({ by: ['domain'], where: { crawlId }, _count: true });
  const bound = (Math.max(...requests.map(({ _count }) => _count)) - 1) * DELAY_MS;
  // As the bound has it: from the first request to the last.
  const arrivals = [...run.web.arrivals.values()].flat();
  const makespan = Math.max(...arrivals) - Math.min(...arrivals);
  printResult('lower bound', seconds(bound));
  printResult('first to last request', seconds(makespan));
  checkResult('efficiency', bound / makespan, { atLeast: 0.97 }, { digits: 3 });
  const whole = (bound / (run.seconds * 1_000)).toFixed(3);
  printResult('whole crawl', `${run.seconds.toFixed(1)} s, from its start to its end: ${whole}`);
  printResult('tightest gap recorded', seconds(await tightestGap(lab, crawlId)));
}

/** By the recorded times of the writes, which is what is promised; arrivals have the jitter of the way. */
async function tightestGap(lab: BenchEnvironment, crawlId: string): Promise<number> {
  const { domains } = await verifyCrawls(lab, crawlId);
  return Math.min(...domains.flatMap(({ tightest }) => (tightest === null ? [] : [tightest.gapMs])));
}

/** By turns, and each behind a huge host of its own; that one is not waited for. */
async function fairness({ crawl }: BenchEnvironment): Promise<void> {
  const small = equal(SMALL);
  const input = { delay: `${DELAY_MS}ms` };
  const ratios: number[] = [];
  for (let turn = 1; turn <= TURNS; turn += 1) {
    log(
      `Turn ${turn} of ${TURNS}: ${SMALL.hosts} hosts of ${SMALL.pages} pages, then again behind one of ${HUGE_HOST} ...`,
    );
    const alone = lastArrival(await crawl(`alone-${turn}`, small, input), 0);
    const areDone = ({ arrivals }: PlainWeb): boolean =>
      [...arrivals].filter(([host, times]) => numberOf(host) > 0 && times.length > SMALL.pages).length ===
      SMALL.hosts;
    const behind = lastArrival(await crawl(`behind-${turn}`, [HUGE_HOST, ...small], input, areDone), 1);
    printResult('small hosts alone', `${seconds(alone)}, behind a huge one ${seconds(behind)}`);
    ratios.push(behind / alone);
  }
  checkResult('behind : alone', median(ratios), { atMost: 1.2 }, { remark: medianOf(ratios) });
}

/** Time from the first request of the crawl to the last one of the hosts from `from` on. */
function lastArrival({ web }: CrawlRun, from: number): number {
  const arrivals = [...web.arrivals.entries()];
  const first = Math.min(...arrivals.flatMap(([, times]) => times));
  const small = arrivals.filter(([host]) => numberOf(host) >= from);
  return Math.max(...small.flatMap(([, times]) => times)) - first;
}

/** Host i of a plain web has that in its name. */
function numberOf(host: string): number {
  return Number(/^h(\d+)\./.exec(host)?.[1]);
}

function equal({ hosts, pages }: { hosts: number; pages: number }): number[] {
  return Array.from({ length: hosts }, () => pages);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`;
}
