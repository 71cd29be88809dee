import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { freePorts, LOOPBACK } from '../../src/engines/ports.ts';
import { findTemporalBinary } from '../../src/engines/temporal-binary.ts';
import { probeTemporal } from '../../src/engines/temporal-probe.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { type Installation, makeInstallation, type RunningProgram, startProgram } from './support.ts';

const run = promisify(execFile);
const PAGES = 8;

let web: TestWeb;
let amble: Installation;
let server: RunningProgram;
let worker: RunningProgram;
let binary: string;
let address: string;

/** The stock server in one terminal, a worker in another. */
beforeAll(async () => {
  web = await startWeb({ shop: flatSite(PAGES, (path, { count }) => (path === '/8' && count === 1 ? { status: 503 } : undefined)) });
  binary = await findTemporalBinary(process.env.AMBLE_TEMPORAL_BINARY, () => {});
  const [port] = await freePorts(1, []);
  address = `${LOOPBACK}:${port}`;
  amble = await makeInstallation({ env: { TEMPORAL_ADDRESS: address } });
  server = startProgram(binary, ['server', 'start-dev', '--headless', '--ip', LOOPBACK, '--port', String(port)], {
    cwd: amble.directory,
    env: {},
  });
  while ((await probeTemporal(address, 'default')) !== 'serves') await sleep(100);
  worker = amble.start('worker');
  await worker.says(/Worker ready on task queue amble/);
});

afterAll(async () => {
  worker?.kill('SIGTERM');
  await worker?.ended;
  server?.kill('SIGTERM');
  await server?.ended;
  await amble?.remove();
  await web?.stop();
});

/** What people type, against the server of this test. */
async function temporal(...args: string[]): Promise<unknown> {
  const { stdout } = await run(binary, [...args, '--address', address, '--output', 'json'], { env: {}, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout);
}

function startCrawl(id: string, input: unknown): Promise<unknown> {
  return temporal(
    ...['workflow', 'start', '--type', 'Crawl', '--task-queue', 'amble', '--workflow-id', id],
    ...['--input', JSON.stringify(input)],
  );
}
