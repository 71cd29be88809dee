/** What the embedded Postgres may do on this machine, by SQL and as a process. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDatabase } from '../../src/embedded/index.ts';
import { findPostgresBinaries } from '../../src/embedded/postgres-binaries.ts';
import { openToAll, postgresFor } from '../../src/embedded/postgres-copy.ts';
import { nameOfWorkingDirectory, postgresUser } from '../../src/embedded/postgres-user.ts';
import { initialiseHome } from '../support/initialised-home.ts';
import { createTestHome, type HomeOfTest } from '../support/test-home.ts';

const run = promisify(execFile);

/** A user without rights that every system has. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;

let home: HomeOfTest;
let database: Awaited<ReturnType<typeof startDatabase>>;
let client: pg.Client;

beforeAll(async () => {
  home = await createTestHome();
  await initialiseHome(home.directory);
  database = await startDatabase({ home: home.directory, notify: () => {} });
  client = new pg.Client(database.databaseUrl);
  await client.connect();
});

afterAll(async () => {
  await client?.end();
  await database?.stop();
  await home?.remove();
});

describe('the role that Amble connects as', () => {
  test.each([
    ['read a file', "SELECT pg_read_file('/etc/passwd')"],
    ['list a directory', "SELECT pg_ls_dir('/etc')"],
    ['load rows from a file', "COPY loaded FROM '/etc/passwd'"],
    ['write a file', "COPY loaded TO '/tmp/amble-written'"],
    ['load rows from a program', "COPY loaded FROM PROGRAM 'id'"],
    ['run a program', "COPY loaded TO PROGRAM 'cat'"],
    ['import a large object', "SELECT lo_import('/etc/passwd')"],
    ['export a large object', "SELECT lo_export(1, '/tmp/amble-written')"],
    ['install a language without a sandbox', 'CREATE EXTENSION plperlu'],
    ['install an extension that reads files', 'CREATE EXTENSION file_fdw'],
    ['define a function of a library', "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'libc', 'system'"],
    ['change the settings of the server', "ALTER SYSTEM SET archive_command = 'id'"],
    ['read where the server has its files', 'SHOW hba_file'],
    ['read the passwords', 'SELECT rolpassword FROM pg_authid'],
    ['become the superuser', 'SET ROLE postgres'],
    ['grant itself the right to read files', 'GRANT pg_read_server_files TO amble'],
    ['make itself the superuser', 'ALTER ROLE amble SUPERUSER'],
    ['create another superuser', 'CREATE ROLE other SUPERUSER'],
  ])('cannot %s', async (_what, statement) => {
    await client.query('CREATE TEMPORARY TABLE IF NOT EXISTS loaded (line text)');
    await expect(client.query(statement)).rejects.toThrow(/permission denied|must be superuser/);
  });

  test('is the only one that can log in, even with a password', async () => {
    const url = new URL(database.databaseUrl);
    url.username = 'postgres';
    await expect(new pg.Client(url.href).connect()).rejects.toThrow(/no pg_hba.conf entry.*"postgres"/);
  });
});

describe.runIf(process.platform === 'linux')('the server process', () => {
  test('has no capability and, under root, another user and no further groups', async () => {
    const status = await readFile(`/proc/${await home.pidOf('postgres')}/status`, 'utf8');
    const field = (name: string) =>
      new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1]?.trim().split(/\s+/);
    for (const set of ['CapPrm', 'CapEff', 'CapAmb'])
      expect([set, field(set)]).toEqual([set, ['0'.repeat(16)]]);
    if (!isRoot) return;
    for (const ids of ['Uid', 'Gid']) expect(field(ids)).not.toContain('0');
    expect(field('Groups')).toEqual(['']);
  });

  test('runs with data below a directory that only its owner may enter', async () => {
    expect((await run('stat', ['-c', '%a', dirname(home.directory)])).stdout.trim()).toBe('700');
    await expect(client.query('SELECT count(*) FROM pages')).resolves.toMatchObject({ rowCount: 1 });
  });
});

test('a home whose role is a superuser, as older versions set it up, is refused with a clear sentence', async () => {
  const old = await createTestHome();
  try {
    await initialiseHome(old.directory);
    const { data } = old.postgres;
    const user = await postgresUser(data);
    const { postgres } = await postgresFor(user);
    const name = await nameOfWorkingDirectory(data, user);
    const superuser = run(postgres, ['--single', '-D', name, 'postgres'], { cwd: data, ...user });
    superuser.child.stdin?.end('ALTER ROLE amble SUPERUSER\n');
    await superuser;
    await expect(startDatabase({ home: old.directory, notify: () => {} })).rejects.toThrow(
      `The database in ${data} was set up by an older version of Amble, which connected as its superuser: move that directory away to start with an empty one.`,
    );
    expect(await old.processes()).toEqual([]);
  } finally {
    await old.remove();
  }
});

test.runIf(isRoot)(
  'programs that only root can reach are copied, once, to where any user can run them',
  async () => {
    const parent = await mkdtemp(join(tmpdir(), 'amble-programs-'));
    try {
      await chmod(parent, 0o755);
      const [closed, copies] = [join(parent, 'closed'), join(parent, 'copies')];
      const installed = await findPostgresBinaries();
      const inClosed = (program: string) => join(closed, 'native', 'bin', basename(program));
      await run('cp', ['-R', join(dirname(installed.postgres), '..', '..'), closed]);
      await run('chmod', ['-R', 'go-rwx', closed]);
      const hidden = { initdb: inClosed(installed.initdb), postgres: inClosed(installed.postgres) };
      await expect(run(hidden.postgres, ['--version'], NOBODY)).rejects.toThrow(/EACCES/);

      const reachable = await openToAll(hidden, copies);
      for (const program of [reachable.postgres, reachable.initdb])
        expect((await run(program, ['--version'], NOBODY)).stdout).toMatch(/PostgreSQL/);
      const { ino } = await stat(reachable.postgres);
      expect(await openToAll(hidden, copies)).toEqual(reachable);
      expect((await stat(reachable.postgres)).ino).toBe(ino);
      expect(await openToAll(reachable, copies)).toEqual(reachable);
    } finally {
      await rm(parent, { recursive: true, force: true });
    }
  },
);
