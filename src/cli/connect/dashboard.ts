/** The dashboard in this process, on the engines of its session. */
import type { AmbleConfig } from '../../config/index.ts';
import type { RunningServer } from '../../server/listen.ts';
import { writeErr } from '../terminal.ts';
import type { Session } from './session.ts';

export async function startDashboard(
  config: AmbleConfig,
  { db, client, engines }: Session,
  { port = config.listen?.port, botOnly = false }: { port?: number; botOnly?: boolean } = {},
): Promise<RunningServer | null> {
  const { listen } = config;
  if (listen === null) return null;
  // Loaded late: commands that serve nothing need not wait for it.
  const { startServer } = await import('../../server/listen.ts');
  const { createServices } = await import('../../server/services.ts');
  const { uiUrl: temporalUi } = engines.temporal;
  const logError = (line: string) => writeErr(line, 'error');
  const services = createServices({ config, db, client, temporalUi });
  return startServer(services, { host: listen.host, port: port ?? listen.port }, logError, { botOnly });
}

/** Beside other work: if another program has its port, it takes a free one, and the work goes on. Prints its address. */
export async function serveDashboard(config: AmbleConfig, session: Session): Promise<RunningServer | null> {
  const { isAddressTaken } = await import('../../server/listen.ts');
  const server = await startDashboard(config, session).catch((error: unknown) => {
    if (!isAddressTaken(error)) throw error;
    return startDashboard(config, session, { port: 0 });
  });
  if (server !== null) writeErr(`Dashboard: ${server.url}`);
  if (server?.open) writeErr('Others than this machine may open it; they are asked for the token.');
  return server;
}
