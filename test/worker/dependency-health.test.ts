import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import { isDatabaseUnavailable } from '../../src/storage/database-unavailable.ts';
import {
  type ContentStore,
  ContentStoreUnavailable,
  openDirectoryStore,
} from '../../src/worker/content-store.ts';
import { type DependencyMonitor, monitorDependency } from '../../src/worker/dependency-health.ts';

describe('monitoring the content store', () => {
  let directory: string;
  let store: ContentStore;
  let monitor: DependencyMonitor;
  let messages: string[];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'amble-outage-'));
    store = openDirectoryStore(join(directory, 'content'));
    messages = [];
    const sink = new PassThrough().on('data', (line) => messages.push(JSON.parse(String(line)).msg));
    monitor = monitorDependency({
      name: 'Content store',
      isUnavailableError: (error) => error instanceof ContentStoreUnavailable,
      probe: () => store.probe(),
      log: pino(sink),
      probeIntervalMs: 10,
    });
  });

  afterEach(async () => {
    monitor.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** A file in place of the directory: not even root can write there. */
  const breakStore = async () => {
    await repairStore();
    await writeFile(join(directory, 'content'), '');
  };
  const repairStore = () => rm(join(directory, 'content'), { recursive: true, force: true });
  const errorOfPut = () => store.put(Buffer.from('x')).catch((error: unknown) => error);

  test('an outage is logged once when it begins and once when it ends, whatever the number of errors', async () => {
    await breakStore();
    for (let i = 0; i < 100; i += 1) expect(monitor.reportIfUnavailable(await errorOfPut())).toBe(true);
    expect(monitor.unavailable).toBe(true);
    await expect.poll(() => messages).toHaveLength(1);
    expect(messages).toEqual(['Content store unavailable; retrying (no data lost)']);
    await repairStore();
    await expect.poll(() => monitor.unavailable).toBe(false);
    expect(messages.slice(1)).toEqual(['Content store available again']);
  });

  test('a second outage is logged again', async () => {
    for (const logged of [2, 4]) {
      await breakStore();
      monitor.reportIfUnavailable(await errorOfPut());
      await expect.poll(() => messages.length).toBe(logged - 1);
      await repairStore();
      await expect.poll(() => messages.length).toBe(logged);
    }
  });

  test('an outage that ends before the first probe is not logged', async () => {
    await breakStore();
    const error = await errorOfPut();
    await repairStore();
    expect(monitor.reportIfUnavailable(error)).toBe(true);
    await expect.poll(() => monitor.unavailable).toBe(false);
    expect(messages).toEqual([]);
  });

  test('a failed read counts as an outage only if the store cannot be written either', async () => {
    const key = await store.put(Buffer.from('x'));
    const errorOfGet = () => store.get(key).catch((error: unknown) => error);
    const stream = async () => {
      for await (const _ of store.stream(key));
    };
    await repairStore();
    expect(monitor.reportIfUnavailable(await errorOfGet())).toBe(false);
    await breakStore();
    expect(monitor.reportIfUnavailable(await errorOfGet())).toBe(true);
    expect(monitor.reportIfUnavailable(await store.probe().catch((error: unknown) => error))).toBe(true);
    expect(monitor.reportIfUnavailable(await stream().catch((error: unknown) => error))).toBe(true);
  });

  test('any other error is not reported as an outage', () => {
    expect(monitor.reportIfUnavailable(new TypeError('a bug'))).toBe(false);
    expect(monitor.unavailable).toBe(false);
  });
});

describe('a database error', () => {
  const withCode = (code: string) => Object.assign(new Error('from Postgres'), { code });

  test.each([
    ...['ECONNREFUSED', 'P1000', 'P1003', 'P2024'],
    ...['08006', '25006', '28000', '28P01', '3D000', '40P01', '53300', '55006', '57P01', '57P03', '58030'],
  ])('%s means that the database is unavailable', (code) => {
    expect(isDatabaseUnavailable(withCode(code))).toBe(true);
    expect(isDatabaseUnavailable(new Error('wrapped', { cause: withCode(code) }))).toBe(true);
  });

  test.each(['22021', '23505', '25001', '3F000', '42P01', 'P0001', 'P2002', '5799'])(
    '%s is about the statement',
    (code) => {
      expect(isDatabaseUnavailable(withCode(code))).toBe(false);
    },
  );

  test('pg reports a broken connection by its message alone', () => {
    expect(isDatabaseUnavailable(new Error('Connection terminated unexpectedly'))).toBe(true);
  });

  test('Prisma wraps the error of a Postgres that is still starting', async () => {
    const starting = createServer((socket) => {
      const fields = 'SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0';
      const head = Buffer.from('E\0\0\0\0');
      head.writeInt32BE(fields.length + 4, 1);
      socket.once('data', () => socket.end(Buffer.concat([head, Buffer.from(fields)])));
    });
    await once(starting.listen(0, '127.0.0.1'), 'listening');
    const { port } = starting.address() as AddressInfo;
    const db = openDatabase(`postgresql://amble@127.0.0.1:${port}/amble`);
    const error: unknown = await db.crawl.findFirst().catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('57P03');
    expect(isDatabaseUnavailable(error)).toBe(true);
    await db.$disconnect();
    starting.close();
  });

  test('a bug does not mean that the database is unavailable', () => {
    expect(isDatabaseUnavailable(new TypeError('undefined is not a function'))).toBe(false);
  });
});

test('an idle dependency counts as available while it is probed, until a probe has failed', async () => {
  const probes: OpenProbe[] = [];
  const monitor = monitorDependency({
    name: 'Postgres',
    isUnavailableError: () => true,
    probe: () => new Promise<void>((resolve, reject) => probes.push({ resolve, reject })),
    log: pino({ level: 'silent' }),
    probeIntervalMs: 5,
    idleProbeIntervalMs: 5,
  });
  await expect.poll(() => probes.length).toBeGreaterThan(0);
  expect(monitor.unavailable).toBe(false);
  for (const { reject } of probes) reject(new Error('away'));
  await expect.poll(() => monitor.unavailable).toBe(true);
  await expect
    .poll(() => {
      for (const { resolve } of probes) resolve();
      return monitor.unavailable;
    })
    .toBe(false);
  monitor.stop();
});

test('a probe that hangs counts as an outage until it ends, and no other one begins beside it', async () => {
  const probes: OpenProbe[] = [];
  const monitor = monitorDependency({
    name: 'Content store',
    isUnavailableError: () => true,
    probe: () => new Promise<void>((resolve, reject) => probes.push({ resolve, reject })),
    log: pino({ level: 'silent' }),
    probeIntervalMs: 1,
    idleProbeIntervalMs: 1,
    probeTimeoutMs: 50,
  });
  await expect.poll(() => monitor.unavailable).toBe(true);
  monitor.reportIfUnavailable(new Error('away'));
  expect(probes).toHaveLength(1);
  probes[0]?.resolve();
  await expect.poll(() => monitor.unavailable).toBe(false);
  await expect.poll(() => probes).toHaveLength(2);
  monitor.stop();
});

test('an answer to a probe from before an error does not end the outage', async () => {
  const probes: OpenProbe[] = [];
  const monitor = monitorDependency({
    name: 'Postgres',
    isUnavailableError: () => true,
    probe: () => new Promise<void>((resolve, reject) => probes.push({ resolve, reject })),
    log: pino({ level: 'silent' }),
    idleProbeIntervalMs: 60_000,
  });
  monitor.reportIfUnavailable(new Error('away'));
  probes[0]?.resolve();
  await expect.poll(() => probes).toHaveLength(2);
  expect(monitor.unavailable).toBe(true);
  probes[1]?.resolve();
  await expect.poll(() => monitor.unavailable).toBe(false);
  monitor.stop();
});

interface OpenProbe {
  resolve(): void;
  reject(error: Error): void;
}
