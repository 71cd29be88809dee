/** `amble migrate`: brings the database to the schema of this version, as every start does, and ends. */
import { BadInput } from '../../config/index.ts';
import { migrateConfigured } from '../../storage/migrate.ts';
import { type CommonOptions, configFor } from '../common-options.ts';
import { EXIT, type ExitCode, writeErr } from '../terminal.ts';

export async function migrateCommand(options: CommonOptions): Promise<ExitCode> {
  const { databaseUrl } = configFor(options);
  if (databaseUrl === null)
    throw new BadInput('DATABASE_URL is not set: an embedded Postgres is migrated when it starts.');
  const applied = await migrateConfigured(databaseUrl, { log: writeErr });
  writeErr(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
  return EXIT.ok;
}
