/**
 * `npm run bench -- cost [--production]`: the processor time of worker, Temporal and Postgres per page, by delay. With a longer delay
 * pages sleep in their workflows, which costs more tasks. Linux only.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { childTimes } from './child-times.ts';
import { type BenchEnvironment, log, withEnvironment } from './environment.ts';
import { parseOptions } from './options.ts';
import { printResult } from './results.ts';

interface Load {
  delay: string;
  hosts: number;
  pagesPerHost: number;
  /** Without a gap there is no reason to queue. */
  concurrency?: number;
}

/** Each takes about a minute on two cores. */
const LOADS: readonly Load[] = [
  { delay: '0ms', hosts: 20, pagesPerHost: 40, concurrency: 4 },
  { delay: '1s', hosts: 10, pagesPerHost: 40 },
  { delay: '10s', hosts: 60, pagesPerHost: 6 },
];
const WARM_UP: Load = { delay: '0ms', hosts: 20, pagesPerHost: 10, concurrency: 4 };

/** Until what is left of a crawl has been processed; it counts. */
const SETTLE_MS = 5_000;

export async function cost(...args: string[]): Promise<void> {
  const { production } = parseOptions(args, { production: { type: 'boolean', default: false } });
  const measureAll = async (environment: BenchEnvironment): Promise<void> => {
    await environment.addWorker();
    log('Warming up ...');
    await measure(environment, 'warm-up', WARM_UP);
    for (const load of LOADS) {
      log(`Crawling ${load.hosts} hosts of ${load.pagesPerHost} pages, ${load.delay} apart ...`);
      const { pages, seconds, cpu } = await measure(environment, `cost-${load.delay}`, load);
      const all = [...cpu.values()].reduce((sum, ms) => sum + ms, 0);
      const parts = [...cpu].map(([name, ms]) => `${name} ${(ms / pages).toFixed(1)}`).join(', ');
      printResult(
        `delay ${load.delay}`,
        `${(all / pages).toFixed(1)} ms of CPU per page: ${parts}; ${(pages / seconds).toFixed(1)} pages/s`,
      );
    }
  };
  await withEnvironment(measureAll, {}, { production });
}

async function measure(
  { db, crawl }: BenchEnvironment,
  crawlId: string,
  { hosts, pagesPerHost, ...input }: Load,
): Promise<{ pages: number; seconds: number; cpu: Map<string, number> }> {
  const before = await childTimes();
  const { seconds } = await crawl(
    crawlId,
    Array.from({ length: hosts }, () => pagesPerHost),
    input,
  );
  await sleep(SETTLE_MS);
  const after = await childTimes();
  const pages = await db.page.count({ where: { crawlId, status: 'Fetched' } });
  return {
    pages,
    seconds,
    cpu: new Map([...after].map(([name, ms]) => [name, ms - (before.get(name) ?? 0)])),
  };
}
