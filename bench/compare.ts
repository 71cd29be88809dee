/**
 * `npm run bench -- compare OTHER [--hosts 20]`: the processor time of a polite page, beside that of another version of Amble, at the same
 * time: a machine's speed changes by half within minutes. OTHER is a built checkout. Each version has a web, servers and a worker
 * of its own, in a control group, whose processor time Linux adds up. Needs root, for the control groups.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { BadInput, messageOf } from '../src/core/errors.ts';
import { packageRoot } from '../src/core/package-root.ts';
import { ControlGroup, type CpuTimes } from './control-group.ts';
import { log } from './environment.ts';
import { type PlainWeb, startPlainWeb } from './plain-web.ts';
import { checkResult, printResult } from './results.ts';
import { startWorkerProcess } from './worker-process.ts';

const LARGEST_HOST = 60;
const OTHER_PAGES = 15;
const WARM_UP_PAGES = 10;
const SAMPLE_INTERVAL_MS = 250;
const SETTINGS = { allowNetwork: ['127.0.0.0/8'], logLevel: 'warn' };

export async function compare(...args: string[]): Promise<void> {
  const { other, hosts } = readOptions(args);
  const installations: Installation[] = [];
  try {
    for (const [name, root] of [
      ['other', other],
      ['this', packageRoot],
    ] as const)
      installations.push(await install(name, root));
    log(`Warming up, then crawling a host of ${LARGEST_HOST} pages and ${hosts - 1} of ${OTHER_PAGES} ...`);
    await crawlAll(installations, 'warm-up', new Array(hosts).fill(WARM_UP_PAGES), '0ms');
    const pages = [LARGEST_HOST, ...new Array(hosts - 1).fill(OTHER_PAGES)];
    const [before, after] = costsOf(await crawlAll(installations, 'polite', pages, '1s'));
    if (before === undefined || after === undefined) throw new Error('The crawls did not overlap.');
    for (const [name, cost] of [
      ['other', before],
      ['this', after],
    ] as const)
      printResult(`${name}, ms a request`, describe(cost));
    const parts = (['worker', 'temporal', 'postgres'] as const)
      .map((part) => `${part} ${(after[part] / before[part]).toFixed(2)}`)
      .join(', ');
    checkResult('this : other', after.all / before.all, { atMost: 0.65 }, { remark: parts });
  } finally {
    for (const { stop } of installations) await stop();
  }
}

function readOptions(args: string[]): { other: string; hosts: number } {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { hosts: { type: 'string', default: '20' } },
    });
    const [other] = positionals;
    if (other === undefined) throw new Error('Name the checkout to compare with.');
    const hosts = Number(values.hosts);
    if (!Number.isInteger(hosts) || hosts < 2) throw new Error('--hosts must be a whole number above 1.');
    if (!existsSync(programOf(other))) throw new Error(`${other} is not a checkout that was built.`);
    return { other: resolve(other), hosts };
  } catch (error) {
    throw new BadInput(messageOf(error));
  }
}

function programOf(root: string): string {
  return join(root, 'dist', 'src', 'cli.js');
}

interface Installation {
  name: string;
  group: ControlGroup;
  client: Client;
  stop(): Promise<void>;
}

async function install(name: string, root: string): Promise<Installation> {
  const home = await mkdtemp(join(tmpdir(), `amble-${name}-`));
  await writeFile(join(home, 'amble.config.json'), JSON.stringify(SETTINGS));
  const group = await ControlGroup.create(`amble-${name}-${process.pid}`);
  const program = programOf(root);
  // As npm does when it installs a package.
  await chmod(program, 0o755);
  const worker = await startWorkerProcess(home, {}, { program, group });
  const address = /Temporal at (\S+:\d+)/.exec(worker.readyLine)?.[1];
  const connection = await Connection.connect(address === undefined ? {} : { address });
  return {
    name,
    group,
    client: new Client({ connection }),
    async stop() {
      await connection.close();
      await worker.stop();
      await group.remove();
      await rm(home, { recursive: true, force: true });
    },
  };
}

interface Sample {
  requests: number;
  cpu: CpuTimes;
}

/** Samples of all installations at the same times, from the first request of the last one to the end of the first one. */
async function crawlAll(
  installations: readonly Installation[],
  crawlId: string,
  pagesOf: readonly number[],
  delay: string,
): Promise<Sample[][]> {
  const samples: Sample[][] = [];
  let running = installations.length;
  let ended = false;
  const crawls = await Promise.all(
    installations.map(async ({ name, client }) => {
      const web = await startPlainWeb(`${crawlId}.${name}`, pagesOf);
      const { seeds, resolve } = web;
      const input = { seeds, resolve, delay };
      const handle = await client.workflow.start('Crawl', {
        taskQueue: 'amble',
        workflowId: crawlId,
        args: [input],
      });
      const done = handle.result().finally(() => {
        ended = true;
        running -= 1;
      });
      return { web, done };
    }),
  );
  const done = Promise.all(crawls.map((crawl) => crawl.done));
  while (running > 0 && !ended) {
    const at = await Promise.all(
      installations.map(async ({ group }, i) => ({
        requests: requestsOf(crawls[i]?.web),
        cpu: await group.cpuTimes(),
      })),
    );
    if (at.every(({ requests }) => requests > 0)) samples.push(at);
    await Promise.race([sleep(SAMPLE_INTERVAL_MS), done]);
  }
  await done;
  for (const { web } of crawls) web.stop();
  return samples;
}

function requestsOf(web: PlainWeb | undefined): number {
  return [...(web?.arrivals.values() ?? [])].reduce((sum, { length }) => sum + length, 0);
}

function costsOf(samples: readonly Sample[][]): CpuTimes[] {
  const first = samples.at(0) ?? [];
  const last = samples.at(-1) ?? [];
  return first.flatMap((from, i) => {
    const to = last[i];
    if (to === undefined) return [];
    const each = (part: keyof CpuTimes): number =>
      (to.cpu[part] - from.cpu[part]) / (to.requests - from.requests);
    return [
      { all: each('all'), worker: each('worker'), temporal: each('temporal'), postgres: each('postgres') },
    ];
  });
}

function describe({ all, worker, temporal, postgres }: CpuTimes): string {
  return `${all.toFixed(1)} (worker ${worker.toFixed(1)}, Temporal ${temporal.toFixed(1)}, Postgres ${postgres.toFixed(1)})`;
}
