/** `amble doctor`: what is wrong with an installation, with a cure for each finding. */
import { messageOf } from '../../core/errors.ts';
import { readHealth } from '../../operator/health.ts';
import type { Database } from '../../storage/database.ts';
import { type CommonOptions, configFor } from '../common-options.ts';
import { withDatabase } from '../connect/read-session.ts';
import { joinTemporal } from '../connect/temporal-client.ts';
import { renderHealth } from '../render/health.ts';
import { EXIT, type ExitCode, writeOut } from '../terminal.ts';

export interface DoctorOptions extends CommonOptions {
  json?: boolean;
}

/** Exit code 1 if something is wrong. */
export async function doctorCommand(options: DoctorOptions): Promise<ExitCode> {
  const config = configFor(options);
  const now = new Date();
  const temporal = await joinTemporal(config).catch((error: unknown) => ({ error: messageOf(error) }));
  const client = temporal !== null && 'client' in temporal ? temporal.client : null;
  const noTemporal = temporal !== null && 'error' in temporal ? temporal.error : 'it is not running';
  const read = (db: Database | null, noDatabase: string) =>
    readHealth({ config, db, client, noDatabase, noTemporal }, now);
  const report = await withDatabase(config, (db) =>
    read(db, `nothing is stored in ${config.home} yet`),
  ).catch((error: unknown) => read(null, messageOf(error)));
  if (temporal !== null && 'close' in temporal) await temporal.close();
  if (options.json) writeOut(JSON.stringify(report));
  else for (const line of renderHealth(report, now)) writeOut(line);
  return report.findings.some(({ level }) => level === 'bad') ? EXIT.failed : EXIT.ok;
}
