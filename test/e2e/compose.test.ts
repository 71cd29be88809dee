/**
 * The commands of docker-compose.yml and of the Dockerfile, run without containers: in the order of start-up, with the same
 * variables and health checks. Names of containers become addresses of this machine.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import getPort from 'get-port';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { parseDuration } from '../../src/core/duration.ts';
import { packageRoot } from '../../src/core/package-root.ts';
import { findTemporalBinary } from '../../src/embedded/temporal-binary.ts';
import { composeService, imageEnvironment, imageHealthcheck, startOrder } from '../support/compose.ts';
import { bareDatabase, type TestDatabase } from '../support/engines.ts';
import { scrape } from '../support/scrape.ts';
import { cleanEnvironment, type Ended, type RunningProgram, startProgram } from './support.ts';

const TOKEN = 'a-token-of-this-test-alone';
const PROGRAM = join(packageRoot, 'dist', 'src', 'cli.js');

let database: TestDatabase;
let home: string;
/** What stands in the files, and what it is here. */
let here: Map<string, string>;
const running = new Map<string, RunningProgram>();

beforeAll(async () => {
  database = await bareDatabase();
  home = await mkdtemp(join(tmpdir(), 'amble-compose-'));
  const { username, password, host, pathname } = new URL(database.url);
  const freePort = async () => String(await getPort({ host: '127.0.0.1' }));
  here = new Map([
    [
      `amble:\${AMBLE_DB_PASSWORD:?run deploy/make-env.sh}@postgres:5432/amble`,
      `${username}:${password}@${host}${pathname}`,
    ],
    ['temporal:7233', inject('temporalAddress')],
    [`\${AMBLE_SERVER_TOKEN:?run deploy/make-env.sh}`, TOKEN],
    [`\${AMBLE_CONTACT:-}`, ''],
    [`\${AMBLE_BUILD_ID:-}`, ''],
    ['/var/lib/amble', home],
    ['8080', await freePort()],
    ['9464', await freePort()],
    ['9465', await freePort()],
  ]);
});

afterAll(async () => {
  for (const program of running.values()) program.kill('SIGKILL');
  await Promise.all([...running.values()].map(({ ended }) => ended));
  await database?.drop();
  await rm(home, { recursive: true, force: true });
});

/** All at once: what has been replaced is not replaced again. */
function translate(text: string): string {
  const pattern = [...here.keys()].map((key) => key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return text.replace(new RegExp(pattern, 'g'), (found) => here.get(found) ?? found);
}

function variablesOf(name: string): Record<string, string> {
  const inContainer = { ...imageEnvironment(), ...composeService(name).environment };
  const translated = Object.entries(inContainer).map(([key, value]) => [key, translate(value)]);
  return {
    ...cleanEnvironment(),
    ...Object.fromEntries(translated),
    TEMPORAL_NAMESPACE: inject('temporalNamespace'),
  };
}

function start(name: string): RunningProgram {
  const program = startProgram(process.execPath, [PROGRAM, ...(composeService(name).command ?? [])], {
    cwd: home,
    env: variablesOf(name),
  });
  running.set(name, program);
  return program;
}

/** Runs the command of a health check, which ends with an error unless the service is healthy. */
async function checkHealth([, program = '', ...args]: readonly string[]): Promise<void> {
  await promisify(execFile)(program === 'node' ? process.execPath : program, args.map(translate));
}

async function stop(name: string): Promise<Ended & { tookMs: number }> {
  const program = running.get(name);
  if (program === undefined) throw new Error(`${name} was not started.`);
  const beganAt = performance.now();
  program.kill('SIGTERM');
  return { ...(await program.ended), tookMs: performance.now() - beganAt };
}

test('the namespace and its search attributes are set up, once', async () => {
  const temporal = await findTemporalBinary(process.env.AMBLE_TEMPORAL_BINARY, () => {});
  const bin = await mkdtemp(join(home, 'bin-'));
  await symlink(temporal, join(bin, 'temporal'));
  const env = {
    ...variablesOf('temporal-namespace'),
    TEMPORAL_NAMESPACE: 'compose-test',
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
  };
  const [shell = '', script = ''] = composeService('temporal-namespace').command ?? [];
  const setUp = () => promisify(execFile)(shell, [join(packageRoot, 'deploy', 'temporal', script)], { env });
  await setUp();
  await setUp();
  const { stdout } = await promisify(execFile)(
    temporal,
    ['operator', 'search-attribute', 'list', '--namespace', 'compose-test'],
    { env },
  );
  for (const name of ['AmbleCrawl', 'AmbleDomain', 'AmbleOutcome'])
    expect(stdout).toMatch(new RegExp(`${name}\\s+Keyword`));
});

test('our services start in order, become healthy, are scraped, and stop within their grace periods', async () => {
  const own = startOrder().filter((name) => {
    const { image, profiles } = composeService(name);
    return image.startsWith('amble:') && profiles === undefined;
  });
  expect(own).toEqual(['migrate', 'worker', 'server']);

  const migrated = await start('migrate').ended;
  expect(migrated).toMatchObject({ code: 0, stderr: expect.stringMatching(/Applied \d+_init\./) });
  const before = imageHealthcheck();
  await expect(checkHealth(['CMD', ...before]), 'nothing runs yet').rejects.toThrow();

  start('worker');
  start('server');
  const serverCheck = composeService('server').healthcheck?.test ?? [];
  await vi.waitFor(() => checkHealth(['CMD', ...before]), { timeout: 60_000, interval: 500 });
  await vi.waitFor(() => checkHealth(serverCheck), { timeout: 60_000, interval: 500 });

  const ofWorker = await scrape(`http://127.0.0.1:${here.get('9464')}/metrics`);
  expect(ofWorker.value('amble_dependency_up', { dependency: 'Postgres' })).toBe(1);
  const url = `http://127.0.0.1:${here.get('8080')}/metrics`;
  await expect(scrape(url)).rejects.toThrow('401');
  const ofServer = await scrape(url, { Authorization: `Bearer ${TOKEN}` });
  expect(ofServer.value('amble_crawls', { status: 'Running' })).toBe(0);

  for (const name of ['worker', 'server']) {
    const { code, stderr, tookMs } = await stop(name);
    expect([name, code]).toEqual([name, 0]);
    // What collects the logs of containers expects one object per line (AMBLE_LOG_FORMAT in the image).
    const lines = stderr.trimEnd().split('\n');
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: 30, msg: expect.any(String) });
    expect(tookMs).toBeLessThan(parseDuration(composeService(name).stop_grace_period) ?? 0);
  }
}, 180_000);
