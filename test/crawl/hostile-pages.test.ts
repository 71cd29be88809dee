/** Whatever servers send, the worker survives and stays within its memory. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { peakMemoryOf } from '../../bench/worker-process.ts';
import { isOpen } from '../../src/core/outcome.ts';
import { SOAK } from '../support/size.ts';
import { type AmbleProcess, startAmbleProcess } from '../support/worker-process.ts';
import { type HostileWeb, startHostileWeb } from './hostile-answers.ts';

const HOSTS = 10;

/** V8's limit for each thread: the main one, those of workflows, and the one that parses. */
const HEAP_MB = 512;

/** The whole process, including bodies and the SDK's native part. Half of it is used before the first page. */
const MAX_MB = 1_536;

const BRISK = {
  delay: '10ms',
  concurrency: 4,
  retry: { maximumAttempts: 1 },
  maxPagesPerDomain: 5,
  fetch: { headersTimeout: '2s', totalTimeout: '6s' },
};

let amble: AmbleProcess;
let web: HostileWeb;
beforeAll(async () => {
  web = await startHostileWeb(HOSTS);
  amble = await startAmbleProcess({
    settings: { logLevel: 'warn' },
    tuning: { crawl: { window: 30, sweepIntervalMs: 500 } },
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
  });
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

/** The outcome of some of them, which shows that they do what their names say. On a busy machine they may time out first. */
const REASONS: Record<string, RegExp> = {
  'gzip-bomb': /^Larger than 10MiB|did not finish within/,
  'brotli-bomb': /^Larger than 10MiB|did not finish within/,
  'bomb-in-a-bomb': /^Larger than 10MiB|did not finish within/,
  'nothing-for-ever': /^Larger than 10MiB|did not finish within/,
  'endless-body': /^Larger than 10MiB|did not finish within/,
  'endless-headers': /headers .* too large/,
  'endless-trailers': /headers .* too large/,
  'dripping-body': /did not finish within/,
  silence: /did not answer within/,
  'too-short': /not as long as its Content-Length says/,
  'reset-in-the-body': /not as long as|in the middle of the body/,
};

it(`hostile pages in a worker with ${HEAP_MB} MB of heap all reach a final status, and the worker survives`, {
  timeout: 300_000,
}, async () => {
  expect(web.seeds.length).toBeGreaterThanOrEqual(SOAK ? 200 : 20);
  const { crawlId } = await amble.crawl({ seeds: web.seeds, ...web.network, ...BRISK });

  const rows = await amble.db.page.findMany({ where: { crawlId } });
  expect(rows.filter(({ status }) => isOpen(status))).toEqual([]);
  const known = new Set(rows.map(({ url }) => url));
  expect(web.seeds.filter((url) => !known.has(url) || !web.asked.has(new URL(url).pathname))).toEqual([]);
  for (const { url, reason } of rows) {
    const [, kind = ''] = new URL(url).pathname.split('/');
    if (REASONS[kind] !== undefined)
      expect([url, reason]).toEqual([url, expect.stringMatching(REASONS[kind])]);
  }

  // Nothing would have restarted it.
  const { pid } = amble.worker;
  const peak = await peakMemoryOf(pid);
  console.log(
    `The worker, still process ${pid}, held ${peak?.toFixed() ?? 'an unknown number of'} MB at most.`,
  );
  if (peak !== null) expect(peak).toBeLessThan(MAX_MB);
  expect(amble.worker.output().stderr.match(/Worker ready/g)).toHaveLength(1);
  expect(pid !== undefined && process.kill(pid, 0)).toBe(true);
});
