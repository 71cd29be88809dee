/** What docker-compose.yml promises. test/e2e/compose.test.ts runs its commands. */
import { execFile, execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { CONFIG_KEYS, loadConfig } from '../../src/config/index.ts';
import { parseDuration } from '../../src/core/duration.ts';
import { packageRoot } from '../../src/core/package-root.ts';
import { compose, composeService, composeText, imageEnvironment, startOrder } from '../support/compose.ts';

const services = Object.entries(compose.services);
const DCLINT = join(packageRoot, 'node_modules', 'dclint');
const Manifest = z.object({ bin: z.object({ dclint: z.string() }) });
const OWN = ['migrate', 'worker', 'worker-next', 'server'];

test('dclint has nothing to say about docker-compose.yml', async () => {
  const { bin } = Manifest.parse(JSON.parse(readFileSync(join(DCLINT, 'package.json'), 'utf8')));
  const args = [join(DCLINT, bin.dclint), '--max-warnings', '0', 'docker-compose.yml'];
  await promisify(execFile)(process.execPath, args, { cwd: packageRoot });
});

test('only the dashboard and the Web UI are published, and only to this machine', () => {
  const published = services.flatMap(([name, { ports }]) => ports.map((port) => `${name} ${port}`));
  expect(published).toEqual(['temporal-ui 127.0.0.1:8233:8080', 'server 127.0.0.1:8080:8080']);
});

test('no secret has a default, and make-env.sh makes all that are needed', () => {
  const required = [...composeText.matchAll(/\$\{(\w+):\?[^}]*\}/g)].map(([, name]) => name);
  const optional = [...composeText.matchAll(/\$\{(\w+)(?!\w|:\?)[^}]*\}/g)].map(([, name]) => name);
  const { made } = makeEnv();
  const secrets = [...made.matchAll(/^(\w+)=([0-9a-f]{48})$/gm)];
  expect(secrets.map(([, name]) => name).sort()).toEqual([...new Set(required)].sort());
  expect(new Set(secrets.map(([, , value]) => value)).size).toBe(secrets.length);
  expect(new Set(optional)).toEqual(new Set(['AMBLE_CONTACT', 'AMBLE_BUILD_ID', 'AMBLE_NEXT_BUILD_ID']));
  const literal = services.flatMap(([name, { environment }]) =>
    Object.entries(environment)
      .filter(([key, value]) => /PASSWORD|PWD|TOKEN|SECRET/.test(key) && !/^\$\{\w+:\?/.test(value))
      .map(([key]) => `${name} ${key}`),
  );
  expect(literal).toEqual([]);
});

test('the secrets are in a file for its owner, outside git, and are not replaced', () => {
  const { file, again } = makeEnv();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(packageRoot, '.gitignore'), 'utf8').split('\n')).toContain('.env');
  const before = readFileSync(file, 'utf8');
  expect(again).toThrow(/exist/);
  expect(readFileSync(file, 'utf8')).toBe(before);
});

function makeEnv(): { file: string; made: string; again: () => void } {
  const cwd = mkdtempSync(join(tmpdir(), 'amble-env-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const run = () => execFileSync('sh', [join(packageRoot, 'deploy', 'make-env.sh')], { cwd, stdio: 'pipe' });
  run();
  const file = join(cwd, '.env');
  return { file, made: readFileSync(file, 'utf8'), again: run };
}

test('every service that stays has a health check, and all have a restart policy and limits', () => {
  for (const [name, { restart, healthcheck, image }] of services) {
    const isOneShot = restart.startsWith('on-failure');
    expect([name, restart]).toEqual([name, isOneShot ? 'on-failure:5' : 'unless-stopped']);
    // Those of workers are in the Dockerfile.
    if (!isOneShot && !name.startsWith('worker'))
      expect([name, healthcheck?.test?.[0]]).toEqual([name, 'CMD']);
    expect(image).toMatch(/:v?\d+\.\d+/);
  }
});

test('docs/deployment.md states how much memory the services that stay may use together', () => {
  const staying = services.filter(
    ([, { restart, profiles }]) => restart === 'unless-stopped' && profiles === undefined,
  );
  const limits = staying.map(([, { deploy }]) => {
    const { memory } = deploy.resources.limits;
    return (deploy.replicas ?? 1) * Number.parseInt(memory, 10) * (memory.endsWith('g') ? 1_024 : 1);
  });
  const sum = limits.reduce((total, megabytes) => total + megabytes, 0);
  const text = readFileSync(join(packageRoot, 'docs', 'deployment.md'), 'utf8');
  expect(text).toContain(`${sum / 1_024} GiB of memory together`);
});

test('a service waits for servers to be healthy and for one-shot services to have succeeded', () => {
  for (const [name, { depends_on }] of services) {
    for (const [needed, { condition }] of Object.entries(depends_on)) {
      const isOneShot = composeService(needed).restart.startsWith('on-failure');
      const expected = isOneShot ? 'service_completed_successfully' : 'service_healthy';
      expect([name, needed, condition]).toEqual([name, needed, expected]);
    }
  }
  const order = startOrder();
  const inOrder = ['postgres', 'temporal-schema', 'temporal', 'temporal-namespace', 'migrate', 'worker'];
  expect(order.filter((name) => inOrder.includes(name))).toEqual(inOrder);
});

test('all data is in named volumes, and every file that is mounted exists', () => {
  const sources = services.flatMap(([, { volumes }]) => volumes.map((volume) => volume.split(':')[0] ?? ''));
  const named = sources.filter((source) => !source.startsWith('.'));
  expect(new Set(named)).toEqual(new Set(Object.keys(compose.volumes)));
  const files = sources.filter((source) => source.startsWith('.'));
  expect(files.filter((file) => !existsSync(join(packageRoot, file)))).toEqual([]);
});

test('the image of Postgres runs our script as a program of its own', () => {
  const [script] = composeService('postgres').volumes.filter((volume) => volume.includes('initdb.d'));
  // Otherwise it is read into the entry point, with its `set -eu`.
  accessSync(join(packageRoot, script?.split(':')[0] ?? ''), constants.X_OK);
});

test('our services set only settings that exist', () => {
  const known = new Set(CONFIG_KEYS.map(({ env }) => env));
  const set = [
    ...OWN.flatMap((name) => Object.keys(composeService(name).environment)),
    ...Object.keys(imageEnvironment()),
  ];
  expect(set.filter((name) => name !== 'NODE_ENV' && !known.has(name))).toEqual([]);
});

test('workers of the next version start on request only, and differ in nothing but their build', () => {
  const { profiles, environment, ...next } = composeService('worker-next');
  expect(profiles).toEqual(['next']);
  const { environment: own, ...worker } = composeService('worker');
  expect(next).toEqual(worker);
  expect({ ...environment, AMBLE_BUILD_ID: own.AMBLE_BUILD_ID }).toEqual(own);
  expect(environment.AMBLE_BUILD_ID).not.toBe(own.AMBLE_BUILD_ID);
});

test('a worker has more time to stop than it takes, and Temporal its 512 shards', () => {
  const { shutdownTimeoutMs } = loadConfig({ env: {}, cwd: packageRoot, flags: {} });
  const graceMs = parseDuration(composeService('worker').stop_grace_period) ?? 0;
  expect(graceMs).toBeGreaterThan(shutdownTimeoutMs);
  expect(composeService('temporal').environment.NUM_HISTORY_SHARDS).toBe('512');
});
