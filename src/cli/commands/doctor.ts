/** `amble doctor`: what is wrong with an installation, with a cure for each finding. */
import { messageOf } from '../../core/errors.ts';
import { type HealthReport, readHealth } from '../../operator/health.ts';
import { type CommonOptions, configFor } from '../common-options.ts';
import { withDatabaseAndTemporal } from '../connect/read-session.ts';
import { renderHealth } from '../render/health.ts';
import { EXIT, type ExitCode, writeOut } from '../terminal.ts';

export interface DoctorOptions extends CommonOptions {
  json?: boolean;
}

/** Exit code 1 if something is wrong. */
export async function doctorCommand(options: DoctorOptions): Promise<ExitCode> {
  const config = configFor(options);
  const now = new Date();
  const report = await withDatabaseAndTemporal(config, (db, client) =>
    readHealth({ config, db, client, noDatabase: `nothing is stored in ${config.home} yet` }, now),
  ).catch((error: unknown): Promise<HealthReport> => {
    return readHealth({ config, db: null, client: null, noDatabase: messageOf(error) }, now);
  });
  if (options.json) writeOut(JSON.stringify(report));
  else for (const line of renderHealth(report, now)) writeOut(line);
  return report.findings.some(({ level }) => level === 'bad') ? EXIT.failed : EXIT.ok;
}
