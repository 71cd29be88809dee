/** `amble server`: serves the dashboard and the API, without a worker. */
import { type AmbleConfig, BadInput } from '../../config/index.ts';
import { isAddressTaken } from '../../server/listen.ts';
import { assertSafe } from '../../server/safe-listen.ts';
import { type CommonOptions, configForProcess } from '../common-options.ts';
import { startDashboard } from '../connect/dashboard.ts';
import { withSession } from '../connect/session.ts';
import { aborted } from '../interrupts.ts';
import { EXIT, type ExitCode, writeErr } from '../terminal.ts';
import { hasAddress } from './crawl.ts';

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
    if (botOnly && isAnonymous(config))
      writeErr(
        'The page names nobody whom the owner of a site can reach: set "contact" (AMBLE_CONTACT) or "from" (AMBLE_FROM).',
      );
    writeErr(botOnly ? `The page for owners of sites: ${server?.url}bot` : `Dashboard: ${server?.url}`);
    if (server?.open && !botOnly)
      writeErr('Others than this machine may open it; they are asked for the token.');
    writeErr('Press Ctrl-C to stop it.');
    await aborted(interrupts.first);
    await server?.stop(interrupts.second);
    return EXIT.ok;
  });
}

/** The page itself is no contact. */
export function isAnonymous({ userAgent, from, publicBotUrl }: AmbleConfig): boolean {
  return (
    from === null && !hasAddress(publicBotUrl === null ? userAgent : userAgent.replace(publicBotUrl, ''))
  );
}
