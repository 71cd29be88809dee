/**
 * What a second and a fourth worker process add, all against one server. On a machine of few cores they share what the
 * server leaves of it: what shows here is that nothing is done twice and every gap held, whoever does the work.
 */
import { availableParallelism } from 'node:os';
import { type BenchEnvironment, log, withEnvironment } from './lab.ts';
import type { PlainWeb } from './plain-web.ts';
import { verifyCrawls } from './proof-of.ts';

const WORKERS = [1, 2, 4];
const HOSTS = 20;
const PAGES_A_HOST = 15;
/** Short enough for the machine, not politeness, to be the limit. */
const DELAY_MS = 200;
/** From the write of a request to its being noticed, on a machine that has more to do than it can. */
const JITTER_MS = 50;

export async function workers(): Promise<void> {
  await withEnvironment(async (lab) => {
    const rates: number[] = [];
    let running = 0;
    for (const wanted of WORKERS) {
      for (; running < wanted; running += 1) await lab.addWorker();
      await crawlHosts(lab, `warm-up-${wanted}`, 3);
      log(`Crawling ${HOSTS} hosts of ${PAGES_A_HOST} pages with ${wanted} worker(s) ...`);
      const crawlId = `workers-${wanted}`;
      const run = await crawlHosts(lab, crawlId, PAGES_A_HOST);
      const rate = (HOSTS * PAGES_A_HOST) / run.seconds;
      const gained = rates.length === 0 ? '' : `, ${(rate / (rates[0] ?? Number.NaN)).toFixed(2)} times one`;
      rates.push(rate);
      const { fetched, ...recorded } = await faultsOf(lab, crawlId);
      const seen = faultsSeen(run.web);
      const twice = Math.max(recorded.twice, seen.twice);
      const short = Math.max(recorded.short, seen.short);
      console.log(
        `${wanted} worker(s): ${rate.toFixed(1)} pages/s${gained}; ${fetched} fetched, ${twice} twice, ${short} gaps too short`,
      );
      if (twice > 0 || short > 0) process.exitCode = 1;
    }
    console.log(
      `On ${availableParallelism()} cores, with the Temporal server, Postgres and the sites on the same ones.`,
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

/** As the sites saw it: a robots.txt each, and the pages. */
function faultsSeen({ arrivals }: PlainWeb): { twice: number; short: number } {
  const hosts = [...arrivals.values()];
  const gaps = hosts.flatMap((times) => times.slice(1).map((at, i) => at - (times[i] ?? at)));
  return {
    twice: hosts.reduce((sum, { length }) => sum + length, 0) - HOSTS * (1 + PAGES_A_HOST),
    short: gaps.filter((gap) => gap < DELAY_MS - JITTER_MS).length,
  };
}

async function faultsOf(
  lab: BenchEnvironment,
  crawlId: string,
): Promise<{ fetched: number; twice: number; short: number }> {
  const [row] = await lab.db.$queryRaw<{ fetched: number; twice: number }[]>`
    SELECT (SELECT count(*) FROM pages WHERE crawl_id = ${crawlId} AND status = 'Fetched')::int AS fetched,
           (SELECT count(*) - count(DISTINCT url) FROM requests WHERE crawl_id = ${crawlId})::int AS twice`;
  const { violations } = await verifyCrawls(lab, crawlId);
  return { fetched: 0, twice: 0, ...row, short: violations.filter(({ kind }) => kind === 'gap').length };
}
