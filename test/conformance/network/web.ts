/** The web of oddities: one port for all of them, told apart by the first label of the host name. */
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import tls from 'node:tls';
import { CERTIFICATE, PRIVATE_KEY } from '../../http/support/certificate.ts';
import type { Oddity } from './oddities.ts';

export interface OddWeb {
  /** Under a name of its own, so that throttles of other tests are not met. */
  host(label: string): string;
  /** Where the oddities are. */
  port: number;
  /** Speaks TLS with a certificate that nobody vouches for. */
  untrustedPort: number;
  /** Accepts connections and says nothing. */
  mutePort: number;
  /** Hangs up on whoever connects. */
  hangUpPort: number;
  closedPort: number;
  stop(): Promise<void>;
}

export async function startOddWeb(oddities: readonly Oddity[]): Promise<OddWeb> {
  const suffix = `${randomBytes(4).toString('hex')}.test`;
  const byName = new Map(oddities.map((oddity) => [oddity.name, oddity]));
  const sockets = new Set<net.Socket>();
  const servers: net.Server[] = [];

  async function listening(server: net.Server): Promise<number> {
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

  const port = await listening(
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
  const closedPort = await listening(closing);
  await new Promise((resolve) => closing.close(resolve));
  return {
    host: (label) => `${label}.${suffix}`,
    port,
    untrustedPort: await listening(tls.createServer({ cert: CERTIFICATE, key: PRIVATE_KEY })),
    mutePort: await listening(net.createServer()),
    hangUpPort: await listening(net.createServer((socket) => socket.destroy())),
    closedPort,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
