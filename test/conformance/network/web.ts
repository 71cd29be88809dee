/** Serves all oddities on one port. The first label of the host name selects one. */
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import tls from 'node:tls';
import { CERTIFICATE, PRIVATE_KEY } from '../../http/support/certificate.ts';
import type { Oddity } from './oddities.ts';

export interface OddWeb {
  /** Unique to this test, so that it shares no throttle with others. */
  host(label: string): string;
  /** Serves the oddities. */
  port: number;
  /** Serves TLS with an untrusted certificate. */
  untrustedPort: number;
  /** Accepts connections and sends nothing. */
  silentPort: number;
  /** Closes every connection at once. */
  closingPort: number;
  closedPort: number;
  stop(): Promise<void>;
}

export async function startOddWeb(oddities: readonly Oddity[]): Promise<OddWeb> {
  const suffix = `${randomBytes(4).toString('hex')}.test`;
  const byName = new Map(oddities.map((oddity) => [oddity.name, oddity]));
  const sockets = new Set<net.Socket>();
  const servers: net.Server[] = [];

  async function listen(server: net.Server): Promise<number> {
    servers.push(server);
    server.on('connection', (socket: net.Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The test server has no port.');
    return address.port;
  }

  const port = await listen(
    net.createServer((socket) => {
      socket.on('data', (bytes) => {
        const request = bytes.toString('latin1');
        const label = /^host: ([^.\r]+)\./im.exec(request)?.[1] ?? '';
        const path = /^GET (\S+)/.exec(request)?.[1] ?? '';
        byName.get(label)?.serve(socket, path);
      });
    }),
  );
  const closing = net.createServer();
  const closedPort = await listen(closing);
  await new Promise((resolve) => closing.close(resolve));
  return {
    host: (label) => `${label}.${suffix}`,
    port,
    untrustedPort: await listen(tls.createServer({ cert: CERTIFICATE, key: PRIVATE_KEY })),
    silentPort: await listen(net.createServer()),
    closingPort: await listen(net.createServer((socket) => socket.destroy())),
    closedPort,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
