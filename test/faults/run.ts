/** One run: a crawl of a web of its own, faults injected one after the other while it runs, and the judgement at its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../src/core/errors.ts';
import type { CrawlResult } from '../../workflows/crawl.ts';
import { SOAK } from '../support/size.ts';
import type { Evidence, Injected } from './evidence.ts';
import type { Fault, Scene } from './faults.ts';
import { type Judgement, judge } from './invariants.ts';
import { GAP_MS, type Lab, MAXIMUM_ATTEMPTS, RETRY_AFTER_MS } from './lab.ts';
import { judgeNoise, readLog } from './noise.ts';
import { seeded } from './seeded.ts';
import { type FaultWeb, startFaultWeb } from './web.ts';

export interface Run extends Judgement {
  crawlId: string;
  /** It ended before its judgement, and the lab may be in any state. */
  broken: boolean;
  injected: readonly Injected[];
  pages: number;
  seconds: number;
}

/** A fault that has not found its moment by then never will. */
const MOMENT_WITHIN_MS = 60_000;
/** Requests before the first fault. */
const MIN_ARRIVALS = 10;
const PAUSE_MS = { least: 200, most: 1_500 };
/** From the last fault to the end of the crawl: the longest of all timeouts that may have to run out, several times. */
const END_WITHIN_MS = 120_000;

export async function runOnce(
  lab: Lab,
  { crawlId, seed, faults }: { crawlId: string; seed: number; faults: readonly Fault[] },
): Promise<Run> {
  const random = seeded(seed);
  const [began, beganAtMs] = [performance.now(), Date.now()];
  // Its own random numbers: the order in which pages are requested cannot be repeated.
  const web = await startFaultWeb(seeded(random.between(0, 2 ** 31)));
  const injected: Injected[] = [];
  const toRun = (judgement: Judgement, broken: boolean): Run => ({
    ...judgement,
    crawlId,
    broken,
    injected,
    pages: web.expected().length,
    seconds: (performance.now() - began) / 1_000,
  });
  // With a second between its requests, a host that answers quickly is fetched within workflow tasks. Its pages take half a minute more.
  const quickHost = SOAK ? new URL(web.seeds.at(-1) ?? '').hostname : null;
  try {
    await lab.client.workflow.start('Crawl', {
      taskQueue: lab.taskQueue,
      workflowId: crawlId,
      args: [
        { seeds: web.seeds, ...web.network, ...(quickHost && { domains: { [quickHost]: { delay: '1s' } } }) },
      ],
    });
    const soon = AbortSignal.timeout(MOMENT_WITHIN_MS);
    while (web.arrivals.length < MIN_ARRIVALS) await web.nextArrival(soon);
    for (const fault of faults) {
      await sleep(random.between(PAUSE_MS.least, PAUSE_MS.most));
      const signal = AbortSignal.timeout(MOMENT_WITHIN_MS);
      await inject(fault, { lab, web, random, signal }, injected);
    }
    web.stopGrowing();
    const ended = await endOf(lab, crawlId);
    const { violations, repeats, lost } = judge(await gather(lab, web, crawlId, ended, injected));
    const overdue = ended === null ? [`the crawl did not end within ${END_WITHIN_MS} ms`] : [];
    const lines = lab.workers.flatMap(({ name, log }) => readLog(name, log()));
    const noise = judgeNoise(
      lines.filter(({ atMs }) => atMs >= beganAtMs),
      injected,
    );
    return toRun({ repeats, lost, violations: [...overdue, ...violations, ...noise] }, false);
  } catch (error) {
    // What was injected until then is reported nevertheless.
    const violations = [`the run broke off: ${messageOf(error)}`];
    return toRun({ repeats: [], lost: 0, violations }, true);
  } finally {
    await web.stop();
  }
}

/** A fault that throws has been injected nevertheless, in part. */
async function inject(fault: Fault, scene: Scene, injected: Injected[]): Promise<void> {
  const { name, isSiteFailure = false, unavailable } = fault;
  const what = { fault: name, isSiteFailure, ...(unavailable && { unavailable }) };
  const fromMs = Date.now();
  try {
    injected.push({ ...(await fault.inject(scene)), ...what });
  } catch (error) {
    injected.push({ fromMs, untilMs: Date.now(), exposed: [], ...what });
    throw new Error(`${name}: ${messageOf(error)}`, { cause: error });
  }
}

async function endOf({ client }: Lab, crawlId: string): Promise<CrawlResult | null> {
  const late = new AbortController();
  const result = client.workflow.getHandle(crawlId).result();
  const timeout = sleep(END_WITHIN_MS, null, { signal: late.signal });
  timeout.catch(() => {});
  // A crawl that has not ended is judged too; its later result does not matter.
  result.catch(() => {});
  const ended = await Promise.race([result, timeout]);
  late.abort();
  return ended;
}

async function gather(
  { db }: Lab,
  { arrivals, expected }: FaultWeb,
  crawlId: string,
  ended: CrawlResult | null,
  injected: readonly Injected[],
): Promise<Evidence> {
  const [crawl, pages, attempts, requests] = await Promise.all([
    db.crawl.findUniqueOrThrow({ where: { id: crawlId } }),
    db.page.findMany({ where: { crawlId } }),
    db.pageCrawl.findMany({ where: { page: { crawlId } }, include: { page: { select: { url: true } } } }),
    db.request.findMany({ where: { crawlId } }),
  ]);
  return {
    policy: { gapMs: GAP_MS, maximumAttempts: MAXIMUM_ATTEMPTS, retryAfterMs: RETRY_AFTER_MS },
    expected: expected(),
    crawl: { status: crawl.status, found: ended?.found ?? 0, pages: ended?.pages ?? {} },
    pages: pages.map(({ url, status, attempts }) => ({ url, status, attempts })),
    attempts: attempts.map(({ page, startedAt, finishedAt, createdAt, ...rest }) => ({
      url: page.url,
      attempt: rest.attempt,
      outcome: rest.outcome,
      errorKind: rest.errorKind,
      startedAtMs: startedAt?.getTime() ?? null,
      finishedAtMs: finishedAt.getTime(),
      recordedAtMs: createdAt.getTime(),
    })),
    requests: requests.map(({ domain, url, startedAt, minGapMs }) => ({
      domain,
      url,
      startedAtMs: startedAt.getTime(),
      minGapMs,
    })),
    arrivals,
    injected,
  };
}
