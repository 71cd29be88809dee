/**
 * `npm run bench -- crowd [--hosts 8] [--silent 500] [--seconds 60] [--settle 30]`: honest hosts in a hostile crowd. One worker
 * crawls honest hosts at one request a second, first alone and then with a crawl of hostile hosts beside. It begins to measure
 * again when the hostile crawl has had some seconds to settle: starting so many hosts at once is a load that any crawl brings.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BadInput, messageOf } from '../src/core/errors.ts';
import { type BenchEnvironment, log, withEnvironment } from './environment.ts';
import { type HostileWeb, startHostileWeb } from './hostile-web.ts';
import { loopbackAddress } from './loopback.ts';
import { type PlainWeb, startPlainWeb } from './plain-web.ts';
import { checkResult, median, printResult } from './results.ts';

const DELAY = '1s';
/**
 * So many that two cores are about half busy. FULL_SIZE hosts ask for more requests than such a machine can send: then the pace
 * shows how the processor is shared, not only whether hostile hosts take slots.
 */
const HOSTS = 8;
const FULL_SIZE = 200;
const SILENT = 500;
const SECONDS = 60;
const SETTLE_SECONDS = 30;
/** For the honest hosts to begin. */
const BEGIN_SECONDS = 600;
/** After each host has had its first response: the code gets warm, and the front pages are recorded. */
const WARM_UP_SECONDS = 15;
const NETWORK = 1;
const POLL_INTERVAL_MS = 100;

/** Hostile hosts cause warnings, which would mix with the results. On loopback the limits per address apply as on the web. */
const SETTINGS = { logLevel: 'error', address: { exempt: [] } };

export async function crowd(...args: string[]): Promise<void> {
  const options = readOptions(args);
  const { hosts, silent, seconds, settle } = options;
  // More than are fetched.
  const pages = 2 * (WARM_UP_SECONDS + seconds + settle + seconds);
  await withEnvironment(async (environment) => {
    const hostile = await startHostileWeb(silent);
    const honest = await startPlainWeb(
      'honest',
      Array.from({ length: hosts }, () => pages),
      (host) => loopbackAddress(NETWORK, host),
    );
    try {
      await compare(environment, honest, hostile, options);
    } finally {
      // Before the worker, which would wait for hosts that never answer.
      honest.stop();
      hostile.stop();
    }
  }, SETTINGS);
}

async function compare(
  { start, addWorker }: BenchEnvironment,
  honest: PlainWeb,
  hostile: HostileWeb,
  { hosts, silent, seconds, settle }: Options,
): Promise<void> {
  const worker = await addWorker({ watchStalls: true });
  await start('honest', { seeds: honest.seeds, resolve: honest.resolve, delay: DELAY });
  // The first request is for robots.txt, the second follows its response.
  const begun = (): number => [...countsOf(honest).values()].filter((count) => count >= 2).length;
  const giveUpAt = performance.now() + BEGIN_SECONDS * 1_000;
  await until(() => begun() === hosts || performance.now() > giveUpAt);
  // Hosts that begin while others are measured would take from their pace, with or without hostile ones.
  if (begun() < hosts)
    throw new Error(`Only ${begun()} of ${hosts} hosts have begun within ${BEGIN_SECONDS} s: try fewer.`);
  await sleep(WARM_UP_SECONDS * 1_000);

  log(`${hosts} honest hosts alone for ${seconds} s ...`);
  await worker.longestStall();
  const alone = await pacesOf(honest, seconds);
  const stallAlone = await worker.longestStall();

  log(`The same for ${seconds} s with ${silent} silent hosts and other hostile ones ...`);
  await start('hostile', { seeds: hostile.seeds, resolve: hostile.resolve, delay: DELAY });
  await until(() => hostile.requests.size > 0);
  await sleep(settle * 1_000);
  const beside = await pacesOf(honest, seconds);
  const stall = await worker.longestStall();
  const memory = (await worker.peakMemoryMb()) ?? Number.NaN;

  const ratios = [...alone].flatMap(([host, pace]) => (pace > 0 ? [(beside.get(host) ?? 0) / pace] : []));
  const byHost = `by host: median ${median(ratios).toFixed(2)}, worst ${Math.min(...ratios).toFixed(2)}`;
  const onTheClock = `on the clock ${stall.elapsedMs.toFixed(0)}; alone ${stallAlone.cpuMs.toFixed(0)}`;
  printResult(
    'honest hosts',
    `${begun()} of ${hosts} (${HOSTS} keep two cores half busy; ${FULL_SIZE} need more)`,
  );
  printResult('hostile requests', requestsOf(hostile));
  printResult('alone, requests/s', spread(alone));
  printResult('beside, requests/s', spread(beside));
  checkResult('beside : alone', sum(beside) / sum(alone), { atLeast: 0.9 }, { remark: byHost });
  checkResult('longest stall, ms', stall.cpuMs, { atMost: 100 }, { digits: 0, remark: onTheClock });
  checkResult('worker memory, MB', memory, { atMost: 800 }, { digits: 0, remark: 'maximum' });
}

interface Options {
  hosts: number;
  silent: number;
  seconds: number;
  settle: number;
}

function readOptions(args: string[]): Options {
  const text = { type: 'string' } as const;
  const options = { hosts: text, silent: text, seconds: text, settle: text };
  let values: Partial<Record<keyof Options, string>>;
  try {
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    throw new BadInput(messageOf(error));
  }
  const read = (name: keyof Options, otherwise: number): number => {
    const value = Number(values[name] ?? otherwise);
    if (Number.isInteger(value) && value > 0) return value;
    throw new BadInput(`--${name} must be a whole number above 0, not "${values[name]}".`);
  };
  return {
    hosts: read('hosts', HOSTS),
    silent: read('silent', SILENT),
    seconds: read('seconds', SECONDS),
    settle: read('settle', SETTLE_SECONDS),
  };
}

/** Requests per second to each host during the next seconds. */
async function pacesOf(web: PlainWeb, seconds: number): Promise<Map<string, number>> {
  const [before, began] = [countsOf(web), performance.now()];
  await sleep(seconds * 1_000);
  const elapsed = (performance.now() - began) / 1_000;
  return mapValues(countsOf(web), (count, host) => (count - (before.get(host) ?? 0)) / elapsed);
}

function countsOf({ arrivals }: PlainWeb): Map<string, number> {
  return mapValues(arrivals, ({ length }) => length);
}

function mapValues<V, W>(of: ReadonlyMap<string, V>, map: (value: V, key: string) => W): Map<string, W> {
  return new Map([...of].map(([key, value]) => [key, map(value, key)]));
}

function requestsOf({ requests }: HostileWeb): string {
  return [...requests].map(([kind, count]) => `${kind} ${count}`).join(', ');
}

function spread(byHost: ReadonlyMap<string, number>): string {
  const paces = [...byHost.values()];
  return `${sum(byHost).toFixed(1)} in all; by host: median ${median(paces).toFixed(2)}, least ${Math.min(...paces).toFixed(2)}`;
}

function sum(values: ReadonlyMap<string, number>): number {
  return [...values.values()].reduce((total, value) => total + value, 0);
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(POLL_INTERVAL_MS);
}
