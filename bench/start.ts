/**
 * `npm run bench -- start`: the processor time of `amble crawl` until its first request, if the engines run already. Linux only: it
 * reads the time from /proc.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchEnvironment, log, withEnvironment } from './environment.ts';
import { startPlainWeb } from './plain-web.ts';
import { processTime } from './process-time.ts';
import { checkResult, median, medianOf } from './results.ts';
import { PROGRAM } from './worker-process.ts';

const TURNS = 5;
/** Half of what it took at first. */
const WANTED_SECONDS = 2.75;
const POLL_INTERVAL_MS = 5;

export async function start(): Promise<void> {
  await withEnvironment(async (environment) => {
    const seconds: number[] = [];
    for (let turn = 1; turn <= TURNS; turn += 1) seconds.push(await untilFirstRequest(environment, turn));
    const remark = `s of CPU; ${medianOf(seconds)}`;
    checkResult('until first request', median(seconds), { atMost: WANTED_SECONDS }, { remark });
  });
}

async function untilFirstRequest({ config }: BenchEnvironment, turn: number): Promise<number> {
  log(`Start ${turn} of ${TURNS} ...`);
  const web = await startPlainWeb(`start-${turn}`, [1]);
  const resolve = web.resolve.flatMap((name) => ['--resolve', name]);
  const args = ['crawl', ...web.seeds, ...resolve, '--home', config.home];
  const child = spawn(PROGRAM, args, { cwd: config.home, stdio: ['ignore', 'ignore', 'inherit'] });
  const exit = once(child, 'exit');
  try {
    while (web.arrivals.size === 0) {
      if (child.exitCode !== null)
        throw new Error(`amble crawl ended with ${child.exitCode} before its first request.`);
      await sleep(POLL_INTERVAL_MS);
    }
    return (await processTime(String(child.pid))).ms / 1_000;
  } finally {
    await exit;
    web.stop();
  }
}
