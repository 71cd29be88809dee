/** `amble server`: serves the dashboard and the API, without a worker. */
import { BadInput } from '../../config/index.ts';
import { isAddressTaken } from '../../server/listen.ts';
import { assertSafe } from '../../server/safe-listen.ts';
import { type CommonOptions, configForProcess } from '../common-options.ts';
import { startDashboard } from '../connect/dashboard.ts';
import { withSession } from '../connect/session.ts';
import { aborted } from '../interrupts.ts';
import { EXIT, type ExitCode, writeErr } from '../terminal.ts';

export interface ServerOptions extends CommonOptions {
  listen?: string;
  botOnly?: boolean;
}

export async function serverCommand({
  listen,
  botOnly = false,
  ...options
}: ServerOptions): Promise<ExitCode> {
  const config = configForProcess(options, { listen });
  if (config.listen === null) throw new BadInput('--listen is "none", but a server needs an address.');
  // Bad input is refused before anything is started.
  if (!botOnly) assertSafe(config);
  const { host, port } = config.listen;
  return withSession(config, { worker: null }, async (session, interrupts) => {
    const server = await startDashboard(config, session, { botOnly }).catch((error: unknown) => {
      if (!isAddressTaken(error)) throw error;
      throw new BadInput(`${host}:${port} is in use by another program; choose another with --listen.`);
    });
    writeErr(botOnly ? `The page for owners of sites: ${server?.url}bot` : `Dashboard: ${server?.url}`);
    if (server?.open && !botOnly)
      writeErr('Others than this machine may open it; they are asked for the token.');
    writeErr('Press Ctrl-C to stop it.');
    await aborted(interrupts.first);
    await server?.stop(interrupts.second);
    return EXIT.ok;
  });
}
