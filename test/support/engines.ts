/** The engines of this test run (see global-setup.ts), as a test sees them. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { TemporalAccess } from '../../src/temporal/access.ts';
import type {} from './global-setup.ts';

export interface TestEngines {
  temporalAddress: string;
  namespace: string;
  /** Unset: without TLS, as the engines of the test run. */
  access?: TemporalAccess;
}

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

export function testEngines(): TestEngines {
  return { temporalAddress: inject('temporalAddress'), namespace: inject('temporalNamespace') };
}

/** A database with the current schema and nothing in it. */
export function freshDatabase(): Promise<TestDatabase> {
  return createDatabase(`TEMPLATE "${databaseOf(inject('templateDatabaseUrl'))}"`);
}

/** A database without any table. */
export function bareDatabase(): Promise<TestDatabase> {
  return createDatabase('TEMPLATE template0');
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await asAdministrator(`CREATE DATABASE "${name}" ${template}`);
  return {
    url: withDatabase(inject('templateDatabaseUrl'), name),
    // Not WITH (FORCE): if autovacuum is in the database, only a superuser may end it that way.
    drop: () =>
      asAdministrator(
        `ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`,
        `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${name}' AND usename = current_user`,
        `DROP DATABASE "${name}"`,
      ),
  };
}

async function asAdministrator(...statements: string[]): Promise<void> {
  const client = new pg.Client(withDatabase(inject('templateDatabaseUrl'), 'postgres'));
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
