/**
 * Loaded into a worker process before its program: measures how long its event loop stalls, and answers each message with the
 * longest stall since the last one. Linux only.
 */
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { Stall } from './stall.ts';

/** Shorter stalls are not of interest, and a hundred timers a second cost nothing that a benchmark could measure. */
const INTERVAL_MS = 10;

// Threads inherit the option that loads this file.
if (isMainThread) {
  let longest: Stall = { cpuMs: 0, elapsedMs: 0 };
  let [last, lastCpu] = [performance.now(), cpuMs()];
  const tick = (): void => {
    const [now, cpu] = [performance.now(), cpuMs()];
    longest = {
      cpuMs: Math.max(longest.cpuMs, Math.min(now - last, cpu - lastCpu)),
      elapsedMs: Math.max(longest.elapsedMs, now - last),
    };
    [last, lastCpu] = [now, cpu];
  };
  setInterval(tick, INTERVAL_MS).unref();
  process.on('message', () => {
    tick();
    process.send?.(longest);
    longest = { cpuMs: 0, elapsedMs: 0 };
  });
  // The listener must not keep the worker from ending.
  process.channel?.unref();
}

/** CPU time of this thread. */
function cpuMs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
}
