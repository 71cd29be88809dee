/** A wire between a worker and an engine that can be made slow, or cut. */

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export interface Wire {
  port: number;
  /** Every chunk, in both directions, arrives this much later; 0 heals it. */
  slowDown(ms: number): void;
  /** Resets every connection, and each new one, until it is healed. */
  cut(): void;
  heal(): void;
  stop(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';

export async function startWire(targetPort: number): Promise<Wire> {
  let delayMs = 0;
  let isCut = false;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // What breaks on one side ends the other; there is nobody else to tell.
    return socket
      .setNoDelay()
      .on('error', () => {})
      .once('close', () => sockets.delete(socket));
  };
  const late = (): Transform =>
    new Transform({
      transform(chunk, _, done) {
        if (delayMs === 0) done(null, chunk);
        else setTimeout(done, delayMs, null, chunk);
      },
    });
  const server = createServer((client) => {
    keep(client);
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const engine = keep(connect(targetPort, LOOPBACK));
    client.pipe(late()).pipe(engine);
    engine.pipe(late()).pipe(client);
    client.once('close', () => engine.destroy());
    engine.once('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
  const resetAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    slowDown(ms) {
      delayMs = ms;
    },
    cut() {
      isCut = true;
      resetAll();
    },
    heal() {
      isCut = false;
      delayMs = 0;
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      resetAll();
      await closed;
    },
  };
}
