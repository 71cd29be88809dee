/** A proxy between a worker and an engine that can be slow, cut, or silent. */

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export interface Wire {
  port: number;
  /** Connections that were made so far. */
  readonly accepted: number;
  /** Every chunk, in both directions, arrives this much later; 0 heals it. */
  slowDown(ms: number): void;
  /** Resets every connection, and each new one, until it is healed. */
  cut(): void;
  /**
   * Keeps every connection open and accepts new ones, but nothing gets through, and nothing ever will on a connection from that
   * time: only a timeout can detect that it is dead.
   */
  swallow(): void;
  /** For connections that are made from now on. */
  heal(): void;
  stop(): Promise<void>;
}

interface ProxiedConnection {
  dead: boolean;
}

const LOOPBACK = '127.0.0.1';

export async function startWire(targetPort: number): Promise<Wire> {
  let delayMs = 0;
  let isCut = false;
  let isSilent = false;
  const live = new Set<ProxiedConnection>();
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // An error on one side closes the other, which is enough.
    return socket
      .setNoDelay()
      .on('error', () => {})
      .once('close', () => sockets.delete(socket));
  };
  const late = (connection: ProxiedConnection): Transform =>
    new Transform({
      transform(chunk, _, done) {
        if (connection.dead) done();
        else if (delayMs === 0) done(null, chunk);
        else setTimeout(done, delayMs, null, chunk);
      },
    });
  let accepted = 0;
  const server = createServer((client) => {
    accepted += 1;
    keep(client);
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const connection: ProxiedConnection = { dead: isSilent };
    live.add(connection);
    const engine = keep(connect(targetPort, LOOPBACK));
    client.pipe(late(connection)).pipe(engine);
    engine.pipe(late(connection)).pipe(client);
    client.once('close', () => {
      live.delete(connection);
      engine.destroy();
    });
    // A dead connection does not show that the other side has closed it either.
    engine.once('close', () => {
      if (!connection.dead) client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
  const resetAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get accepted() {
      return accepted;
    },
    slowDown(ms) {
      delayMs = ms;
    },
    cut() {
      isCut = true;
      resetAll();
    },
    swallow() {
      isSilent = true;
      for (const connection of live) connection.dead = true;
    },
    heal() {
      isCut = false;
      isSilent = false;
      delayMs = 0;
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      resetAll();
      await closed;
    },
  };
}
