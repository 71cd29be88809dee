/** `amble stop-all` and `amble resume-all`. No worker is needed for them. */
import { BadInput } from '../../config/index.ts';
import { resumeAll, stopAll } from '../../operator/stop-orders.ts';
import type { Database } from '../../storage/database.ts';
import { readStop } from '../../storage/stop.ts';
import { type CommonOptions, configFor, formatCommand } from '../common-options.ts';
import { storeName, withDatabaseAndTemporal } from '../connect/read-session.ts';
import { cliOrigin, type OrderOptions } from '../order-options.ts';
import { renderStop } from '../render/orders.ts';
import { EXIT, type ExitCode, writeErr, writeOut } from '../terminal.ts';

export async function stopAllCommand(options: OrderOptions): Promise<ExitCode> {
  const config = configFor(options);
  const origin = cliOrigin(options);
  return withDatabaseAndTemporal(config, async (db) => {
    if (db === null) throw nothingHere(options);
    let waits = false;
    await stopAll({ db, config }, origin, () => {
      if (!waits) writeErr('Stopped. Waiting until requests that are connecting have been sent.');
      waits = true;
    });
    writeOut('Everything is stopped: no request is sent until you resume, even after a restart.');
    writeOut(`To resume: ${formatCommand(['resume-all'], options)}`);
    return EXIT.ok;
  });
}

export async function resumeAllCommand(options: OrderOptions): Promise<ExitCode> {
  const origin = cliOrigin(options);
  return withDatabaseAndTemporal(configFor(options), async (db, client) => {
    if (db === null) throw nothingHere(options);
    await resumeAll({ db, client }, origin);
    writeOut('What ran before runs again; what was paused before stays paused.');
    return EXIT.ok;
  });
}

function nothingHere(options: CommonOptions): BadInput {
  return new BadInput(`There is no data in ${storeName(configFor(options))} yet.`);
}

/** For every command that shows why something is not fetched. */
export async function warnIfStopped(db: Database, options: CommonOptions): Promise<void> {
  const stop = await readStop(db);
  if (stop === null) return;
  writeErr(renderStop(stop, new Date()));
  writeErr(`To resume: ${formatCommand(['resume-all'], options)}`);
}
