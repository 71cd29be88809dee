/**
 * Writes the next migration: the difference between prisma/schema.prisma and what the migrations so far give, compared in a
 * scratch Postgres. Run it with `npm run migration -- add page notes`, read what it wrote, and commit it. A migration must
 * be able to run in one transaction: no CREATE INDEX CONCURRENTLY, no use of an enum value that it adds itself.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDatabase } from '../src/embedded/index.ts';
import { migrationsDirectory } from '../src/storage/migrate.ts';
import { schemaDifference } from './schema-engine.ts';

async function missingChanges(): Promise<string | null> {
  const home = await mkdtemp(join(tmpdir(), 'amble-migration-'));
  try {
    const { databaseUrl, stop } = await startDatabase({ home, notify: () => {} });
    try {
      return await schemaDifference(databaseUrl);
    } finally {
      await stop();
    }
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** `20261116093000_add_page_notes`: migrations are applied in the order of their names. */
function migrationName(words: readonly string[], now: Date): string {
  const time = now.toISOString().replace(/\D/g, '').slice(0, 14);
  return `${time}_${words.join('_').toLowerCase().replace(/\W+/g, '_')}`;
}

async function main(words: readonly string[]): Promise<number> {
  if (words.length === 0) {
    console.error('Describe the migration in a few words: npm run migration -- add page notes');
    return 2;
  }
  const script = await missingChanges();
  if (script === null) {
    console.log('The migrations already give exactly prisma/schema.prisma; there is nothing to write.');
    return 0;
  }
  const directory = join(migrationsDirectory, migrationName(words, new Date()));
  const file = join(directory, 'migration.sql');
  await mkdir(directory);
  await writeFile(file, script);
  console.log(`Wrote ${file}: read it before you commit it.`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
