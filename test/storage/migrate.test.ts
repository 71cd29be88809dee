import { spawn } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { migrate } from '../../src/storage/migrate.ts';
import { schemaDifference } from '../../src/storage/schema-difference.ts';
import { bareDatabase, type TestDatabase } from '../support/engines.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await bareDatabase();
});

afterEach(async () => {
  await database.drop();
});

async function sql(statement: string): Promise<unknown[]> {
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement);
    return rows;
  } finally {
    await client.end();
  }
}

test('the migrations give exactly the schema', async () => {
  await migrate(database.url);
  expect(await schemaDifference(database.url)).toBeNull();
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
])('a difference in %s is seen', async (_what, planted, shown) => {
  await migrate(database.url);
  await sql(planted);
  expect(await schemaDifference(database.url)).toMatch(shown);
});

test('migrating twice applies nothing the second time', async () => {
  const applied = await migrate(database.url);
  expect(applied).toContain('20261117000000_init');
  expect(await migrate(database.url)).toEqual([]);
});

test('a database that has them all needs no engine: whoever migrates is not waited for', async () => {
  await migrate(database.url);
  const other = new pg.Client(database.url);
  await other.connect();
  try {
    await other.query('SELECT pg_advisory_lock(72707369)');
    expect(await migrate(database.url)).toEqual([]);
  } finally {
    await other.end();
  }
});

test('processes that migrate at the same time apply each migration once between them', async () => {
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)));
  const recorded = await sql('SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL');
  expect(recorded).toHaveLength(applied.flat().length);
  expect(new Set(applied.flat()).size).toBe(applied.flat().length);
  expect(await migrate(database.url)).toEqual([]);
});

test('a migration that fails says why and leaves nothing behind, so that it can be tried again', async () => {
  await sql('CREATE TYPE outcome AS ENUM ()');
  await expect(migrate(database.url)).rejects.toThrow(/type "outcome" already exists/);
  expect(await sql("SELECT FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  await sql('DROP TYPE outcome');
  expect(await migrate(database.url)).not.toEqual([]);
});

const BEGUN = '20261117000000_init';

/** All that the migration made, but not its entry. */
const UNDO = `
  DO $$ DECLARE made record; BEGIN
    FOR made IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'
      LOOP EXECUTE format('DROP TABLE %I CASCADE', made.tablename); END LOOP;
    FOR made IN SELECT typname FROM pg_type WHERE typtype = 'e'
      LOOP EXECUTE format('DROP TYPE %I', made.typname); END LOOP;
  END $$;`;

/** Stops whoever creates the table `pages` until the lock is free. */
const OBSTACLE = `
  CREATE FUNCTION obstacle() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF to_regclass('pages') IS NOT NULL THEN PERFORM pg_advisory_xact_lock(1); END IF;
  END $$;
  CREATE EVENT TRIGGER obstacle ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION obstacle();`;

test('a process killed in the middle of a migration leaves nothing of it, and the next one applies it', async () => {
  await sql(OBSTACLE);
  const holder = new pg.Client(database.url);
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock(1)');
  const program = new URL('../../dist/src/storage/migrate.js', import.meta.url).href;
  const script = `import { migrate } from ${JSON.stringify(program)}; await migrate(${JSON.stringify(database.url)});`;
  const killed = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  await expect
    .poll(
      () => sql("SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE '%\"pages\"%'"),
      {
        timeout: 30_000,
      },
    )
    .toHaveLength(1);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await holder.end();

  expect(await migrate(database.url)).toContain('20261117000000_init');
  expect(await schemaDifference(database.url)).toBeNull();
});

describe('a migration that another program began and did not finish', () => {
  const UNFINISH = `UPDATE _prisma_migrations SET finished_at = NULL, applied_steps_count = 0 WHERE migration_name = '${BEGUN}'`;

  test('is applied when nothing of it is there', async () => {
    await migrate(database.url);
    await sql(`${UNDO} ${UNFINISH}`);
    expect(await migrate(database.url)).toEqual([BEGUN]);
    expect(await schemaDifference(database.url)).toBeNull();
    expect(await migrate(database.url)).toEqual([]);
  });

  test('counts as finished when its step was counted', async () => {
    await migrate(database.url);
    await sql(`${UNFINISH}; UPDATE _prisma_migrations SET applied_steps_count = 1`);
    expect(await migrate(database.url)).toEqual([]);
    expect(await sql('SELECT FROM _prisma_migrations WHERE finished_at IS NULL')).toEqual([]);
  });

  test('is told of in one sentence when it is there already, with what to do, and that helps', async () => {
    await migrate(database.url);
    await sql(UNFINISH);
    const sentence = await migrate(database.url).then(String, (error: Error) => error.message);
    expect(sentence).toMatch(
      new RegExp(`^The migration ${BEGUN} was begun by another program .*already exists`),
    );
    const [, cure = ''] = /run "([^"]+)"/.exec(sentence) ?? [];
    await sql(cure);
    expect(await migrate(database.url)).toEqual([]);
  });
});
