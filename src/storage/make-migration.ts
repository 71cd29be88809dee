/**
 * Writes the next migration: what prisma/schema.prisma has and the migrations so far do not give. Compared in a scratch
 * Postgres. Run with `npm run migration -- what it does`, read what it wrote, commit it.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDatabase } from '../embedded/index.ts';
import { migrationsDirectory } from './migrate-files.ts';
import { schemaDifference } from './schema-difference.ts';

async function difference(): Promise<string | null> {
  const home = await mkdtemp(join(tmpdir(), 'amble-migration-'));
  try {
    const { databaseUrl, stop } = await startDatabase({ home, say: () => {} });
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
    console.error('Say in a few words what the migration does: npm run migration -- add page notes');
    return 2;
  }
  const script = await difference();
  if (script === null) {
    console.log('The migrations already give exactly prisma/schema.prisma: nothing to write.');
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
