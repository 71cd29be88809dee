import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findTemporal, startEngines } from '../../src/embedded/index.ts';
import { probeTemporal } from '../../src/temporal/probe.ts';
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
  return (await probeTemporal(temporal)) === 'serving';
}

describe('in a new home', () => {
  test('without configuration both engines start, and no process is left after they stop', async () => {
    const user = home.user();
    const engines = await user.engines;
    expect(await bothServe(engines)).toBe(true);
    expect((await fetch(engines.temporal.uiUrl)).ok).toBe(true);
    await user.leave();
    expect(await home.processes()).toEqual([]);
  });

  test('processes that start at the same time share the engines, and the last one to leave stops them', async () => {
    const users = [home.user(), home.user(), home.user()];
    const [first, ...others] = await Promise.all(users.map(({ engines }) => engines));
    for (const other of others) expect(other).toEqual(first);

    const [starter, joiner, last] = users;
    await Promise.all([starter?.leave(), joiner?.leave()]);
    expect(await bothServe(await (last?.engines ?? Promise.reject()))).toBe(true);
    await last?.leave();
    expect(await home.processes()).toEqual([]);
  });

  test('after a process is killed while its engines start, the next process starts them', async () => {
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

  test('only the owner can read the password file, and Postgres requires the password', async () => {
    const user = home.user();
    const { databaseUrl } = await user.engines;
    expect((await stat(home.postgres.password)).mode & 0o777).toBe(0o600);
    expect((await stat(home.directory)).mode & 0o066).toBe(0);
    const guess = new URL(databaseUrl);
    guess.password = 'guess';
    await expect(query(guess.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    await user.leave();
  });

  test('the error for a Temporal address that does not answer names the address and the remedy', async () => {
    const starting = startEngines({
      home: home.directory,
      temporalAddress: '127.0.0.1:1',
      databaseUrl: 'postgresql://127.0.0.1:1/none',
      notify: () => {},
    });
    await expect(starting).rejects.toThrow(/No Temporal server answers at 127\.0\.0\.1:1.*TEMPORAL_ADDRESS/);
  });
});

describe('in an initialised home', () => {
  beforeEach(() => initialiseHome(home.directory));

  test('data survives a restart', async () => {
    const first = home.user();
    await query((await first.engines).databaseUrl, "INSERT INTO domains (name) VALUES ('example.org')");
    await first.leave();
    const second = home.user();
    expect(await query((await second.engines).databaseUrl, 'SELECT name FROM domains')).toEqual([
      { name: 'example.org' },
    ]);
    await second.leave();
  });

  test('engines whose starter was killed are reused, and stopped by their last user', async () => {
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
    '%s is restarted after a kill, on the same port and with its data',
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

  test('a recorded pid that now belongs to another program is ignored, and that program is not stopped', async () => {
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

  test('if an engine does not start, the error shows the end of its log, and the other engine is stopped', async () => {
    const user = home.user();
    await user.engines;
    await user.leave();
    await appendFile(`${home.postgres.data}/postgresql.conf`, '\nshared_buffers = plenty\n');

    await expect(home.user().engines).rejects.toThrow(/DATABASE_URL.*shared_buffers": "plenty"/s);
    await expect.poll(() => home.processes()).toEqual([]);
  });

  test('a home without a Temporal database uses a server at the default address, without a message', async () => {
    const { temporalAddress: defaultAddress } = testEngines();
    const messages: string[] = [];
    const engines = await startEngines({
      home: home.directory,
      defaultAddress,
      temporalUiUrl: 'http://ui.example',
      notify: (message) => messages.push(message),
    });
    const uiUrl = 'http://ui.example';
    expect(engines.temporal).toMatchObject({ embedded: false, address: defaultAddress, uiUrl });
    expect(messages.filter((message) => message.includes(defaultAddress))).toEqual([]);
    await engines.stop();
  });

  test('a server at the default address that does not let us in is not passed over in silence', async () => {
    const { temporalAddress: defaultAddress } = testEngines();
    const binary = process.env.AMBLE_TEMPORAL_BINARY;
    const messages: string[] = [];
    const engines = await startEngines({
      home: home.directory,
      defaultAddress,
      temporalNamespace: 'typo',
      ...(binary !== undefined && { temporalBinary: binary }),
      notify: (message) => messages.push(message),
    });
    expect(engines.temporal).toMatchObject({ embedded: true, namespace: 'typo' });
    expect(messages).toContainEqual(
      expect.stringMatching(
        /has no namespace "typo".*TEMPORAL_NAMESPACE.* Amble uses a server of its own meanwhile\.$/,
      ),
    );
    await engines.stop();
  });

  test('a home with a Temporal database starts its own server instead of using another, with a message', async () => {
    const { temporalAddress: otherAddress } = testEngines();
    const options = { home: home.directory, defaultAddress: otherAddress };
    expect(await findTemporal(options)).toMatchObject({ address: otherAddress });

    const first = home.user();
    await first.engines;
    await first.kill();
    for (const pid of Object.values(await home.pids())) process.kill(pid, 'SIGKILL');
    expect(await findTemporal(options)).toBeNull();

    const binary = process.env.AMBLE_TEMPORAL_BINARY;
    const messages: string[] = [];
    const engines = await startEngines({
      ...options,
      ...(binary !== undefined && { temporalBinary: binary }),
      notify: (message) => messages.push(message),
    });
    expect(engines.temporal).toMatchObject({ embedded: true });
    expect(messages).toEqual([
      `Using the embedded Temporal server at ${engines.temporal.address}, which has the crawls of ${home.directory}, and not the one at ${otherAddress}. To use that one, set TEMPORAL_ADDRESS=${otherAddress}.`,
    ]);
    expect(await findTemporal(options)).toEqual(engines.temporal);
    await engines.stop();
  });
});
