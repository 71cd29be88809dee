import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate, schemaDifference } from '../../src/storage/migrate.ts';
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
  expect(applied).toContain('20261116000000_init');
  expect(await migrate(database.url)).toEqual([]);
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
