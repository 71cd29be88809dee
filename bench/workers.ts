/**
 * Measures what more worker processes add on one server. With few cores they compete with the server for CPU; then the
 * benchmark mainly shows that several workers fetch nothing twice and keep every gap.
 */
import { availableParallelism } from 'node:os';
import { type BenchEnvironment, log, verifyCrawls, withEnvironment } from './environment.ts';
import type { PlainWeb } from './plain-web.ts';

const WORKERS = [1, 2, 4];
const HOSTS = 20;
const PAGES_PER_HOST = 15;
/** Short enough that the machine is the limit, not politeness. */
const DELAY_MS = 200;
/** Between sending a request and its arrival, on an overloaded machine. */
const JITTER_MS = 50;

export async function workers(): Promise<void> {
  await withEnvironment(async (environment) => {
    const rates: number[] = [];
    let running = 0;
    for (const count of WORKERS) {
      for (; running < count; running += 1) await environment.addWorker();
      await crawlHosts(environment, `warm-up-${count}`, 3);
      log(`Crawling ${HOSTS} hosts of ${PAGES_PER_HOST} pages with ${count} worker(s) ...`);
      const crawlId = `workers-${count}`;
      const run = await crawlHosts(environment, crawlId, PAGES_PER_HOST);
      const rate = (HOSTS * PAGES_PER_HOST) / run.seconds;
      const gained = rates.length === 0 ? '' : `, ${(rate / (rates[0] ?? Number.NaN)).toFixed(2)} times one`;
      rates.push(rate);
      const { fetched, ...recorded } = await faultsOf(environment, crawlId);
      const seen = faultsSeen(run.web);
      const twice = Math.max(recorded.twice, seen.twice);
      const short = Math.max(recorded.short, seen.short);
      console.log(
        `${count} worker(s): ${rate.toFixed(1)} pages/s${gained}; ${fetched} fetched, ${twice} twice, ${short} gaps too short`,
      );
      if (twice > 0 || short > 0) process.exitCode = 1;
    }
    console.log(
      `On ${availableParallelism()} cores, shared with the Temporal server, Postgres and the sites.`,
    );
  });
}

function crawlHosts(
  { crawl }: BenchEnvironment,
  crawlId: string,
  pages: number,
): ReturnType<BenchEnvironment['crawl']> {
  const hosts = Array.from({ length: HOSTS }, () => pages);
  return crawl(crawlId, hosts, { delay: `${DELAY_MS}ms` });
}

/** As the sites saw it. Each gets one request for robots.txt and one for each page. */
function faultsSeen({ arrivals }: PlainWeb): { twice: number; short: number } {
  const hosts = [...arrivals.values()];
  const gaps = hosts.flatMap((times) => times.slice(1).map((at, i) => at - (times[i] ?? at)));
  return {
    twice: hosts.reduce((sum, { length }) => sum + length, 0) - HOSTS * (1 + PAGES_PER_HOST),
    short: gaps.filter((gap) => gap < DELAY_MS - JITTER_MS).length,
  };
}

async function faultsOf(
  environment: BenchEnvironment,
  crawlId: string,
): Promise<{ fetched: number; twice: number; short: number }> {
  const [row] = await environment.db.$queryRaw<{ fetched: number; twice: number }[]>`
    SELECT (SELECT count(*) FROM pages WHERE crawl_id = ${crawlId} AND status = 'Fetched')::int AS fetched,
           (SELECT count(*) - count(DISTINCT url) FROM requests WHERE crawl_id = ${crawlId})::int AS twice`;
  const { violations } = await verifyCrawls(environment, crawlId);
  return { fetched: 0, twice: 0, ...row, short: violations.filter(({ kind }) => kind === 'gap').length };
}
