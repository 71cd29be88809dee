import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deployMigrations, migrationStatus, schemaDifference } from '../../prisma/schema-engine.ts';
import { type Migration, migrate, migrateConfigured, readMigrations } from '../../src/storage/migrate.ts';
import { bareDatabase, type TestDatabase } from '../support/engines.ts';

const INIT = '20261117000000_init';

let database: TestDatabase;

beforeEach(async () => {
  database = await bareDatabase();
});

afterEach(async () => {
  await database.drop();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(database.url);
  await client.connect();
  return client;
}

async function sql(statement: string): Promise<Record<string, unknown>[]> {
  const client = await connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement);
    return rows;
  } finally {
    await client.end();
  }
}

function entries(): Promise<Record<string, unknown>[]> {
  return sql('SELECT * FROM _prisma_migrations ORDER BY started_at');
}

/** What a table is made of, without its rows. */
function columns(): Promise<Record<string, unknown>[]> {
  return sql(`SELECT column_name, data_type, character_maximum_length, is_nullable, column_default
              FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position`);
}

async function refusal(migrations?: readonly Migration[]): Promise<string> {
  return migrate(database.url, migrations ? { migrations } : {}).then(
    (applied) => `applied ${applied.join(', ')}`,
    (error: Error) => error.message,
  );
}

function migration(name: string, script: string): Migration {
  return { name, script, checksum: createHash('sha256').update(script).digest('hex') };
}

describe('for Prisma’s own engine', () => {
  test('the migrations give exactly the schema', async () => {
    await migrate(database.url);
    expect(await schemaDifference(database.url)).toBeNull();
  });

  test('no migration is pending, failed or edited', async () => {
    await migrate(database.url);
    expect(await migrationStatus(database.url)).toEqual({
      hasMigrationsTable: true,
      history: null,
      editedMigrationNames: [],
      failedMigrationNames: [],
    });
    expect(await deployMigrations(database.url)).toEqual([]);
  });

  test('the table of migrations is the one that it would have created, with the same entries', async () => {
    await migrate(database.url);
    const ours = { columns: await columns(), entries: await entries() };
    await database.drop();
    database = await bareDatabase();
    await deployMigrations(database.url);
    const times = { id: expect.any(String), started_at: expect.any(Date), finished_at: expect.any(Date) };
    expect(ours.columns).toEqual(await columns());
    expect(ours.entries).toEqual((await entries()).map((entry) => ({ ...entry, ...times })));
    // And the other way round: what it applied needs nothing more from us.
    expect(await migrate(database.url)).toEqual([]);
  });

  test.each([
    ['a column', 'ALTER TABLE pages DROP COLUMN keyword', /ADD COLUMN +"keyword"/],
    ['a default', "ALTER TABLE domains ALTER COLUMN stats SET DEFAULT '[]'", /"stats" SET DEFAULT '\{\}'/],
    ['a value of an enum', "ALTER TYPE outcome ADD VALUE 'Bored'", /outcome/],
    ['an index', 'DROP INDEX pages_counts', /CREATE INDEX "pages_counts"/],
    [
      'the condition of a partial index',
      "DROP INDEX pages_queued; CREATE INDEX pages_queued ON pages (crawl_id, domain) WHERE status = 'Failed'",
      /"pages_queued".*'Queued'/s,
    ],
  ])('a difference in %s is drift', async (_what, planted, shown) => {
    await migrate(database.url);
    await sql(planted);
    expect(await schemaDifference(database.url)).toMatch(shown);
  });
});

test('migrating twice applies nothing the second time', async () => {
  expect(await migrate(database.url)).toContain(INIT);
  expect(await migrate(database.url)).toEqual([]);
});

test('later migrations are applied in the order of their names, each once', async () => {
  const later = [
    migration('20990101000000_add_notes', 'CREATE TABLE notes (id INT)'),
    migration('20990102000000_add_text', 'ALTER TABLE notes ADD COLUMN text TEXT'),
  ];
  const migrations = [...(await readMigrations()), ...later];
  await migrate(database.url);
  expect(await migrate(database.url, { migrations })).toEqual(later.map(({ name }) => name));
  expect(await migrate(database.url, { migrations })).toEqual([]);
});

test('a migration that fails reports why and leaves nothing behind, so that it can be repeated', async () => {
  await sql('CREATE TYPE outcome AS ENUM ()');
  expect(await refusal()).toBe(
    `The migration "${INIT}" failed and was rolled back: type "outcome" already exists`,
  );
  expect(await sql("SELECT FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  await sql('DROP TYPE outcome');
  expect(await migrate(database.url)).toContain(INIT);
});

describe('two starts at once', () => {
  test('apply each migration once between them', async () => {
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)));
    const names = (await readMigrations()).map(({ name }) => name);
    expect(applied.flat().sort()).toEqual(names);
    expect((await entries()).map((entry) => entry.migration_name)).toEqual(names);
  });

  test('the second one reports that it waits, and continues when the first one has finished', async () => {
    const first = await connect();
    await first.query('BEGIN; SELECT pg_advisory_xact_lock(72707369)');
    const logged: string[] = [];
    const second = migrate(database.url, { log: (message) => logged.push(message) });
    await expect
      .poll(() => logged)
      .toEqual(['Another process is migrating the database; waiting for it to finish']);
    await first.end();
    expect(await second).toContain(INIT);
  });

  test('the second one gives up with a clear sentence if the first one never finishes', async () => {
    const first = await connect();
    try {
      await first.query('SELECT pg_advisory_lock(72707369)');
      await expect(migrate(database.url, { lockTimeoutMs: 1_000 })).rejects.toThrow(
        /^Another process has been migrating the database for more than 1 s: wait until .* start Amble again\.$/,
      );
    } finally {
      await first.end();
    }
    expect(await migrate(database.url)).toContain(INIT);
  });

  test('the second one does not wait if the database has every migration', async () => {
    await migrate(database.url);
    const first = await connect();
    try {
      await first.query('SELECT pg_advisory_lock(72707369)');
      expect(await migrate(database.url)).toEqual([]);
    } finally {
      await first.end();
    }
  });
});

test('a process killed during a migration leaves nothing of it, and the next one applies it', async () => {
  const holder = await connect();
  await holder.query('SELECT pg_advisory_lock(1)');
  const program = new URL('../../dist/src/storage/migrate.js', import.meta.url).href;
  // The migration waits half-way for a lock that the test holds.
  const script = `
    import { migrate, readMigrations } from ${JSON.stringify(program)};
    const obstacle = (script) => script.replace('CREATE TABLE "pages"', 'SELECT pg_advisory_xact_lock(1); $&');
    const migrations = (await readMigrations()).map((one) => ({ ...one, script: obstacle(one.script) }));
    await migrate(${JSON.stringify(database.url)}, { migrations });`;
  const killed = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  const stopped = () =>
    sql("SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()");
  await expect.poll(stopped, { timeout: 30_000 }).toHaveLength(1);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await holder.end();

  expect(await migrate(database.url)).toContain(INIT);
  expect(await schemaDifference(database.url)).toBeNull();
});

describe('a migration that another program started and did not finish', () => {
  const UNFINISH = `UPDATE _prisma_migrations SET finished_at = NULL, applied_steps_count = 0 WHERE migration_name = '${INIT}'`;

  /** All that the migration created, but not its entry. */
  const UNDO = `
    DO $$ DECLARE created record; BEGIN
      FOR created IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'
        LOOP EXECUTE format('DROP TABLE %I CASCADE', created.tablename); END LOOP;
      FOR created IN SELECT typname FROM pg_type WHERE typtype = 'e'
        LOOP EXECUTE format('DROP TYPE %I', created.typname); END LOOP;
    END $$;`;

  /** The statements that the refusal recommends: for changes that are there, and for changes that are not. */
  async function cures(): Promise<[string, string]> {
    const sentence = await refusal();
    expect(sentence).toMatch(`Another program started the migration "${INIT}" and did not finish it`);
    const [there = '', notThere = ''] = [...sentence.matchAll(/run "([^"]+)"/g)].map(([, cure]) => cure);
    return [there, notThere];
  }

  test('is refused with a cure that works if all of its changes are there', async () => {
    await migrate(database.url);
    await sql(UNFINISH);
    const [cure] = await cures();
    await sql(cure);
    expect(await migrate(database.url)).toEqual([]);
    expect(await schemaDifference(database.url)).toBeNull();
  });

  test('is refused with a cure that works if none of its changes are there', async () => {
    await migrate(database.url);
    await sql(`${UNDO} ${UNFINISH}`);
    const [, cure] = await cures();
    await sql(cure);
    expect(await migrate(database.url)).toContain(INIT);
    expect(await schemaDifference(database.url)).toBeNull();
    expect(await migrationStatus(database.url)).toMatchObject({ history: null, failedMigrationNames: [] });
  });
});

test('a database that a newer version migrated is refused and left as it is', async () => {
  const newer = migration('20990101000000_add_notes', 'CREATE TABLE notes (id INT)');
  const migrations = [...(await readMigrations()), newer];
  await migrate(database.url, { migrations });
  const before = await entries();
  expect(await refusal()).toBe(
    'The database was migrated by a newer version of Amble (this version does not have the migration "20990101000000_add_notes"): upgrade Amble, or use another database.',
  );
  expect(await entries()).toEqual(before);
  expect(await migrate(database.url, { migrations })).toEqual([]);
});

test('a migration file that was modified after it had been applied is refused', async () => {
  const [init, ...others] = await readMigrations();
  if (init === undefined) throw new Error('There is no migration.');
  await migrate(database.url);
  const changed = migration(init.name, `${init.script}\n-- changed`);
  expect(await refusal([changed, ...others])).toBe(
    `The file prisma/migrations/${INIT}/migration.sql was modified after it had been applied to this database: restore the file, or use another database.`,
  );
});

describe('a database that the configuration names, but that cannot be used, is one sentence about DATABASE_URL:', () => {
  test.each<[string, (url: URL) => void, RegExp]>([
    [
      'a wrong password',
      (url) => {
        url.password = 'wrong';
      },
      /^Postgres at [\w.:]+ refuses the user "\w+": correct DATABASE_URL \(.*authentication failed.*\)\.$/,
    ],
    [
      'a database that does not exist',
      (url) => {
        url.pathname = '/nowhere';
      },
      /^Postgres at [\w.:]+ has no database "nowhere": create it, or correct DATABASE_URL\.$/,
    ],
    [
      'a port where nothing listens',
      (url) => {
        url.port = '1';
      },
      /^Postgres at [\w.]+:1 is unavailable: start it, correct DATABASE_URL, .*ECONNREFUSED/,
    ],
  ])('%s', async (_, change, sentence) => {
    const url = new URL(database.url);
    change(url);
    await expect(migrateConfigured(url.href)).rejects.toThrow(sentence);
  });
});
