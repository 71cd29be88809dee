/** Whether the migrations give the schema: for those who write the next one. */
import { NO_FILTER, withSchemaEngine } from './migrate-engine.ts';
import { readSchema } from './migrate-files.ts';

/** The SQL that would turn the database into prisma/schema.prisma; null when it is that already. */
export async function schemaDifference(databaseUrl: string): Promise<string | null> {
  const schema = await readSchema();
  return withSchemaEngine(databaseUrl, schema, async (engine) => {
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: schema.files, configDir: '' },
      to: { tag: 'schemaDatamodel', files: schema.files },
      script: true,
      exitCode: true,
      filters: NO_FILTER,
    });
    return exitCode === 0 ? null : stdout;
  });
}
