/** Listens for browsers and programs. */
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { ListenAddress } from '../config/index.ts';
import { codeOf } from '../core/errors.ts';
import { createApp } from './app.tsx';
import { assertSafe, isLoopback } from './safe-listen.ts';
import type { Services } from './services.ts';

export interface RunningServer {
  /** For people to open. */
  url: string;
  /** Whether others than this machine may reach it, with the token. */
  open: boolean;
  /** Lets requests in progress finish, for some seconds at most, unless `immediately` is aborted. */
  stop(immediately?: AbortSignal): Promise<void>;
}

/** The compose file gives it 10 s: the rest is for closing connections. */
const DRAIN_MS = 8_000;
const IDLE_SWEEP_MS = 50;

export async function startServer(
  services: Services,
  listen: ListenAddress,
  log: (line: string) => void,
  { botOnly = false }: { botOnly?: boolean } = {},
): Promise<RunningServer> {
  const { serverToken, serverHosts } = services.config;
  if (!botOnly) assertSafe(services.config);
  const local = isLoopback(listen.host) && serverHosts.length === 0;
  const stopping = new AbortController();
  const app = createApp({
    services,
    stopping: stopping.signal,
    // The names of an open server are known only if they are configured. A session is of no use under another name.
    hosts: botOnly || (!isLoopback(listen.host) && serverHosts.length === 0) ? null : serverHosts,
    // Also on localhost: a proxy may forward others to it under a name of this machine.
    token: botOnly ? null : serverToken,
    botOnly,
    log,
  });
  // Not `localhost` itself: that may be the IPv6 address alone.
  const hostname = listen.host === 'localhost' ? '127.0.0.1' : listen.host;
  const server = createServer(getRequestListener(app.fetch, { hostname }));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, hostname, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : listen.port;
  const name = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  return {
    url: `http://${name === '0.0.0.0' || name === '[::]' ? 'localhost' : name}:${port}/`,
    open: !local,
    async stop(immediately) {
      stopping.abort();
      const force = () => server.closeAllConnections();
      const timer = setTimeout(force, DRAIN_MS);
      // A connection that is kept for further requests becomes idle when its last one is answered.
      const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
      immediately?.addEventListener('abort', force);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if (immediately?.aborted) force();
      });
      clearTimeout(timer);
      clearInterval(sweep);
      immediately?.removeEventListener('abort', force);
    },
  };
}

export function isAddressTaken(error: unknown): boolean {
  return codeOf(error) === 'EADDRINUSE';
}
