/**
 * `npm run bench -- polite [--hosts 40] [--addresses]`: compares a polite crawl with its lower bound. The requests to a host take at
 * least (requests - 1) delays, and a crawl of many hosts takes at least as long as its largest host. Also measures whether a huge
 * host slows down small ones. `--addresses`: each host has an address of its own, and the limits per address apply as on the web: the
 * difference is what they cost. Without it this machine is exempt from them, as it is by default.
 */

import { constants, setPriority } from 'node:os';
import { BadInput } from '../src/core/errors.ts';
import { countEvents } from './count-events.ts';
import { type BenchEnvironment, type CrawlRun, log, verifyCrawls, withEnvironment } from './environment.ts';
import { loopbackAddress } from './loopback.ts';
import { MachineLoad } from './machine-load.ts';
import { parseOptions } from './options.ts';
import type { PlainWeb } from './plain-web.ts';
import { checkResult, median, medianOf, printResult } from './results.ts';

const DELAY_MS = 1_000;
const LARGEST_HOST = 60;
const OTHER_PAGES = 15;
/** How many hosts, the largest included, and the efficiency that is wanted with so many. 25 keep two cores about half busy. */
const EFFICIENCY = new Map([
  [10, 0.985],
  [20, 0.985],
  [25, 0.985],
  [40, 0.95],
]);
const HOSTS = 20;
const WARM_UP_PAGES = 10;
const HUGE_HOST = 200;
const SMALL = { hosts: 30, pages: 5 };
/** From the first request of the crawl until all small hosts are done, 4 s being the least. */
const SMALL_DONE_MS = 10_000;
const TURNS = 5;

/** Of all 127.0.0.0/8, apart from those of other benchmarks. */
const NETWORK = 3;

/** How much closer together requests may arrive than they are sent, on a machine that is at most so busy. */
const ARRIVAL = { marginMs: 5, atMostBusy: 0.55 };
/** Of the program whose pages fetch within their workflow tasks, with their throttles'. */
const WANTED = { events: 18, throttleEvents: 6, tasks: 3.6 };

/** With another number of hosts, only the efficiency is measured. */
export async function polite(...args: string[]): Promise<void> {
  const { hosts, addresses } = readOptions(args);
  const work = async (environment: BenchEnvironment): Promise<void> => {
    await environment.addWorker();
    goFirst();
    await efficiency(environment, hosts);
    if (hosts === HOSTS) await fairness(environment);
    const { requests, violationCount } = await verifyCrawls(environment, null);
    checkResult(
      'politeness violations',
      violationCount,
      { atMost: 0 },
      { digits: 0, remark: `of ${requests} requests` },
    );
  };
  if (!addresses) return withEnvironment(work);
  const addressOf = (host: number): string => loopbackAddress(NETWORK, host);
  return withEnvironment(work, { address: { exempt: [] } }, { addressOf });
}

/** The web is in this process. A site has a machine of its own, so its arrivals do not wait for our worker to give up the processor. */
function goFirst(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST);
  } catch {
    log('Only root may have the web go first: arrivals are less exact.');
  }
}

function readOptions(args: string[]): { hosts: number; addresses: boolean } {
  const values = parseOptions(args, {
    hosts: { type: 'string', default: String(HOSTS) },
    addresses: { type: 'boolean', default: false },
  });
  const hosts = Number(values.hosts);
  if (EFFICIENCY.has(hosts)) return { hosts, addresses: values.addresses };
  throw new BadInput(`--hosts must be one of ${[...EFFICIENCY.keys()].join(', ')}, not "${values.hosts}".`);
}

async function efficiency(environment: BenchEnvironment, hosts: number): Promise<void> {
  const { crawl, db } = environment;
  // Warms up the code, because a crawl runs for hours.
  await crawl('warm-up', equal({ hosts, pages: WARM_UP_PAGES }), { delay: '0ms' });
  const others = { hosts: hosts - 1, pages: OTHER_PAGES };
  log(
    `Crawling a host of ${LARGEST_HOST} pages and ${others.hosts} of ${others.pages}, one request a second each ...`,
  );
  const crawlId = 'polite';
  const load = new MachineLoad();
  const run = await crawl(crawlId, [LARGEST_HOST, ...equal(others)], { delay: `${DELAY_MS}ms` });
  const requests = await db.request.groupBy({ by: ['domain'], where: { crawlId }, _count: true });
  const bound = (Math.max(...requests.map(({ _count }) => _count)) - 1) * DELAY_MS;
  // The bound is from the first request to the last.
  const arrivals = [...run.web.arrivals.values()].flat();
  const makespan = Math.max(...arrivals) - Math.min(...arrivals);
  printResult('lower bound', seconds(bound));
  printResult('first to last request', seconds(makespan));
  checkResult('efficiency', bound / makespan, { atLeast: EFFICIENCY.get(hosts) ?? 0 }, { digits: 3 });
  const whole = (bound / (run.seconds * 1_000)).toFixed(3);
  printResult('whole crawl', `${run.seconds.toFixed(1)} s from start to end: ${whole}`);
  load.stop();
  const byHost = [...run.web.arrivals.values()];
  const gaps = byHost.flatMap((times) => times.slice(1).map((at, i) => at - (times[i] ?? at)));
  const firstEnd = Math.min(...byHost.map((times) => times.at(-1) ?? 0));
  const busy = load.between(Math.min(...arrivals), firstEnd);
  const isJudged = busy <= ARRIVAL.atMostBusy;
  checkResult(
    'shortest gap, arrivals',
    Math.min(...gaps),
    { atLeast: isJudged ? DELAY_MS - ARRIVAL.marginMs : 0 },
    {
      digits: 1,
      remark: `ms; the machine was ${(100 * busy).toFixed(0)} % busy while all hosts were crawled`,
    },
  );
  printResult('tightest gap recorded', seconds(await tightestGap(environment, crawlId)));
  const counts = await countEvents(environment.client, db, crawlId);
  const eventsRemark = { digits: 1, remark: `${counts.maxPerPage} at most` };
  checkResult('events per page', counts.perPage, { atMost: WANTED.events }, eventsRemark);
  checkResult(
    'throttle events / page',
    counts.throttlePerPage,
    { atMost: WANTED.throttleEvents },
    { digits: 1 },
  );
  const tasks = counts.tasksPerPage + counts.throttleTasksPerPage;
  const parts = `${counts.tasksPerPage.toFixed(2)} + ${counts.throttleTasksPerPage.toFixed(2)} of the throttle`;
  checkResult('tasks per page', tasks, { atMost: WANTED.tasks }, { digits: 2, remark: parts });
}

/** By the recorded times of sending, which the guarantee is about; arrivals add the jitter of the network. */
async function tightestGap(environment: BenchEnvironment, crawlId: string): Promise<number> {
  const { domains } = await verifyCrawls(environment, crawlId);
  return Math.min(...domains.flatMap(({ tightest }) => (tightest === null ? [] : [tightest.gapMs])));
}

/** In alternation: the small hosts alone, then with a huge one, which is cancelled when the small ones are done. */
async function fairness({ crawl }: BenchEnvironment): Promise<void> {
  const small = equal(SMALL);
  const input = { delay: `${DELAY_MS}ms` };
  const ratios: number[] = [];
  const times: number[] = [];
  for (let turn = 1; turn <= TURNS; turn += 1) {
    log(
      `Turn ${turn} of ${TURNS}: ${SMALL.hosts} hosts of ${SMALL.pages} pages, then again with a host of ${HUGE_HOST} ...`,
    );
    const alone = lastArrival(await crawl(`alone-${turn}`, small, input), 0);
    const smallAreDone = ({ arrivals }: PlainWeb): boolean =>
      [...arrivals].filter(([host, times]) => numberOf(host) > 0 && times.length > SMALL.pages).length ===
      SMALL.hosts;
    const withHuge = lastArrival(
      await crawl(`with-huge-${turn}`, [HUGE_HOST, ...small], input, smallAreDone),
      1,
    );
    printResult('small hosts alone', `${seconds(alone)}, with a huge one ${seconds(withHuge)}`);
    ratios.push(withHuge / alone);
    times.push(withHuge);
  }
  const remark = `s; ${medianOf(times.map((ms) => ms / 1_000))}`;
  checkResult(
    'small hosts done after',
    median(times) / 1_000,
    { atMost: SMALL_DONE_MS / 1_000 },
    { digits: 1, remark },
  );
  checkResult('with huge : alone', median(ratios), { atMost: 1.2 }, { remark: medianOf(ratios) });
}

/** Time from the first request of the crawl to the last one of the hosts numbered `from` and above. */
function lastArrival({ web }: CrawlRun, from: number): number {
  const arrivals = [...web.arrivals.entries()];
  const first = Math.min(...arrivals.flatMap(([, times]) => times));
  const small = arrivals.filter(([host]) => numberOf(host) >= from);
  return Math.max(...small.flatMap(([, times]) => times)) - first;
}

/** The number of a host is in its name. */
function numberOf(host: string): number {
  return Number(/-(\d+)\.test$/.exec(host)?.[1]);
}

function equal({ hosts, pages }: { hosts: number; pages: number }): number[] {
  return Array.from({ length: hosts }, () => pages);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`;
}
