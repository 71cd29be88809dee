import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findTemporal, startEngines } from '../../src/embedded/index.ts';
import { probeTemporal } from '../../src/embedded/temporal-probe.ts';
import { testEngines } from '../support/engines.ts';
import { initialiseHome } from '../support/initialised-home.ts';
import { createTestHome, type Found, type HomeOfTest, listeningAddresses } from '../support/test-home.ts';

let home: HomeOfTest;

beforeEach(async () => {
  home = await createTestHome();
});

afterEach(async () => {
  await home.remove();
});

async function query(databaseUrl: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows;
  } finally {
    await client.end();
  }
}

async function bothServe({ databaseUrl, temporal }: Found): Promise<boolean> {
  await query(databaseUrl, 'SELECT FROM pages');
  return (await probeTemporal(temporal.address, temporal.namespace)) === 'serving';
}

describe('in a new home', () => {
  test('a process with nothing configured gets a Temporal server and a Postgres, and leaves nothing behind', async () => {
    const user = home.user();
    const engines = await user.engines;
    expect(await bothServe(engines)).toBe(true);
    expect((await fetch(engines.temporal.uiUrl)).ok).toBe(true);
    await user.leave();
    expect(await home.processes()).toEqual([]);
  });

  test('processes that start at the same time share one set of engines, and the last to leave stops it', async () => {
    const users = [home.user(), home.user(), home.user()];
    const [first, ...others] = await Promise.all(users.map(({ engines }) => engines));
    for (const other of others) expect(other).toEqual(first);

    const [starter, joiner, last] = users;
    await Promise.all([starter?.leave(), joiner?.leave()]);
    expect(await bothServe(await (last?.engines ?? Promise.reject()))).toBe(true);
    await last?.leave();
    expect(await home.processes()).toEqual([]);
  });

  test('a process killed while its engines start leaves nothing that stops the next one', async () => {
    for (const waitMs of [150, 400, 800]) {
      const killed = home.user();
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await killed.kill();
    }
    const next = home.user();
    expect(await bothServe(await next.engines)).toBe(true);
    await next.leave();
    expect(await home.processes()).toEqual([]);
  });

  test('the password stands in a file for its owner only, and Postgres lets nobody in without it', async () => {
    const user = home.user();
    const { databaseUrl } = await user.engines;
    expect((await stat(home.postgres.password)).mode & 0o777).toBe(0o600);
    expect((await stat(home.directory)).mode & 0o066).toBe(0);
    const guess = new URL(databaseUrl);
    guess.password = 'guess';
    await expect(query(guess.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    await user.leave();
  });

  test('a Temporal address where nothing answers is named, with what to do', async () => {
    const starting = startEngines({
      home: home.directory,
      temporalAddress: '127.0.0.1:1',
      databaseUrl: 'postgresql://127.0.0.1:1/none',
      notify: () => {},
    });
    await expect(starting).rejects.toThrow(/No Temporal server answers at 127\.0\.0\.1:1.*TEMPORAL_ADDRESS/);
  });
});

describe('in a home that has been used', () => {
  beforeEach(() => initialiseHome(home.directory));

  test('what was stored is there at the next start', async () => {
    const first = home.user();
    await query((await first.engines).databaseUrl, "INSERT INTO domains (name) VALUES ('example.org')");
    await first.leave();
    const second = home.user();
    expect(await query((await second.engines).databaseUrl, 'SELECT name FROM domains')).toEqual([
      { name: 'example.org' },
    ]);
    await second.leave();
  });

  test('engines whose starter was killed are found again, used, and stopped by their last user', async () => {
    const killed = home.user();
    const before = await killed.engines;
    const pids = await home.pids();
    await killed.kill();

    const heir = home.user();
    expect(await heir.engines).toEqual(before);
    expect(await home.pids()).toEqual(pids);
    await heir.leave();
    expect(await home.processes()).toEqual([]);
  });

  test.each(['postgres', 'temporal'] as const)(
    '%s, killed, is started again on its data where it was',
    async (name) => {
      const user = home.user();
      const before = await user.engines;
      await query(before.databaseUrl, "INSERT INTO domains (name) VALUES ('example.org')");
      const pids = await home.pids();
      process.kill(pids[name], 'SIGKILL');

      const next = home.user();
      expect(await next.engines).toEqual(before);
      expect((await home.pids())[name]).not.toBe(pids[name]);
      expect(await query(before.databaseUrl, 'SELECT name FROM domains')).toEqual([{ name: 'example.org' }]);
      expect(await bothServe(before)).toBe(true);
      await user.leave();
      await next.leave();
    },
  );

  test.runIf(process.platform === 'linux')('the engines listen on loopback only', async () => {
    const user = home.user();
    await user.engines;
    const { postgres, temporal } = await home.pids();
    const addresses = [await listeningAddresses(postgres), await listeningAddresses(temporal)];
    for (const found of addresses) expect(new Set(found)).toEqual(new Set(['0100007F']));
    await user.leave();
  });

  test('a recorded pid that is now another program is neither believed nor stopped', async () => {
    const bystander = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)']);
    await once(bystander, 'spawn');
    await mkdir(dirname(home.postgres.record), { recursive: true });
    await writeFile(home.postgres.record, `${bystander.pid} 54321\n`);
    await writeFile(home.temporal.record, `${bystander.pid} 54322 54323\n`);

    const user = home.user();
    expect(await bothServe(await user.engines)).toBe(true);
    await user.leave();
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    bystander.kill();
  });

  test('an engine that does not start is reported with the end of its log, and the other one is stopped', async () => {
    const user = home.user();
    await user.engines;
    await user.leave();
    await appendFile(`${home.postgres.data}/postgresql.conf`, '\nshared_buffers = plenty\n');

    await expect(home.user().engines).rejects.toThrow(/DATABASE_URL.*shared_buffers": "plenty"/s);
    await expect.poll(() => home.processes()).toEqual([]);
  });

  test('a home without a Temporal database joins a server at the usual address, without a word', async () => {
    const { temporalAddress: defaultAddress } = testEngines();
    const said: string[] = [];
    const engines = await startEngines({
      home: home.directory,
      defaultAddress,
      notify: (line) => said.push(line),
    });
    expect(engines.temporal).toMatchObject({ embedded: false, address: defaultAddress });
    expect(said.filter((line) => line.includes(defaultAddress))).toEqual([]);
    await engines.stop();
  });

  test('a home that has a Temporal database of its own joins no stranger, though its own server is dead, and says so', async () => {
    const { temporalAddress: stranger } = testEngines();
    const options = { home: home.directory, defaultAddress: stranger };
    expect(await findTemporal(options)).toMatchObject({ address: stranger });

    const first = home.user();
    await first.engines;
    await first.kill();
    for (const pid of Object.values(await home.pids())) process.kill(pid, 'SIGKILL');
    expect(await findTemporal(options)).toBeNull();

    const binary = process.env.AMBLE_TEMPORAL_BINARY;
    const said: string[] = [];
    const engines = await startEngines({
      ...options,
      ...(binary !== undefined && { temporalBinary: binary }),
      notify: (line) => said.push(line),
    });
    expect(engines.temporal).toMatchObject({ embedded: true });
    expect(said).toEqual([
      `The Temporal server at ${stranger} is not used, because ${home.directory} has one of its own, at ${engines.temporal.address}, with its crawls: to use the other, set TEMPORAL_ADDRESS=${stranger}.`,
    ]);
    expect(await findTemporal(options)).toEqual(engines.temporal);
    await engines.stop();
  });
});
