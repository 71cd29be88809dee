/** deploy/postgres/create-databases.sh, as the image of Postgres runs it in docker-compose.yml. */
import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { homeAt } from '../../src/embedded/home.ts';
import { startDatabase } from '../../src/embedded/index.ts';

/** Characters that the shell, psql or SQL could take for their own. */
const PASSWORDS = { amble: `a'b"c$d\\e :f`, temporal: '; DROP ROLE amble; --' };

let directory: string;
let postgres: Awaited<ReturnType<typeof startDatabase>>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'amble-databases-'));
  postgres = await startDatabase({ home: directory, notify: () => {} });
  const { data, record } = homeAt(directory).postgres;
  const rules = ['host all postgres 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256'];
  await appendFile(join(data, 'pg_hba.conf'), `${rules.join('\n')}\n`);
  process.kill(Number.parseInt(await readFile(record, 'utf8'), 10), 'SIGHUP');
  // As in an image, where nothing of Amble is there yet.
  await vi.waitFor(async () => {
    await query('postgres', 'postgres', '', 'ALTER DATABASE amble RENAME TO other');
    await query('postgres', 'postgres', '', 'ALTER ROLE amble RENAME TO other');
  });
});

afterAll(async () => {
  await postgres?.stop();
  await rm(directory, { recursive: true, force: true });
});

async function query(user: string, database: string, password: string, sql: string): Promise<unknown[]> {
  const { hostname: host, port } = new URL(postgres.databaseUrl);
  const client = new pg.Client({ host, port: Number(port), user, database, password });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

test('Amble and Temporal get roles and databases of their own, whatever is in their passwords', async () => {
  const { hostname, port } = new URL(postgres.databaseUrl);
  await promisify(execFile)(join(packageRoot, 'deploy', 'postgres', 'create-databases.sh'), [], {
    env: {
      PATH: process.env.PATH,
      PGHOST: hostname,
      PGPORT: port,
      AMBLE_DB_PASSWORD: PASSWORDS.amble,
      TEMPORAL_DB_PASSWORD: PASSWORDS.temporal,
    },
  });
  for (const [role, database] of [
    ['amble', 'amble'],
    ['temporal', 'temporal'],
    ['temporal', 'temporal_visibility'],
  ] as const) {
    const password = PASSWORDS[role];
    await query(role, database, password, 'CREATE TABLE mine ()');
    expect(
      await query(role, database, password, 'SELECT usesuper FROM pg_user WHERE usename = user'),
    ).toEqual([{ usesuper: false }]);
    await expect(query(role, database, 'another', 'SELECT')).rejects.toThrow(
      /password authentication failed/,
    );
  }
});
