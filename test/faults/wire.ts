/** A wire between a worker and an engine that can be made slow, cut, or silent. */

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export interface Wire {
  port: number;
  /** Every chunk, in both directions, arrives this much later; 0 heals it. */
  slowDown(ms: number): void;
  /** Resets every connection, and each new one, until it is healed. */
  cut(): void;
  /**
   * Breaks no connection and takes new ones, but nothing comes through, and nothing ever will on a connection of that time:
   * whoever has one must find out by itself that it is dead.
   */
  swallow(): void;
  /** For connections that are made from now on. */
  heal(): void;
  stop(): Promise<void>;
}

interface Line {
  dead: boolean;
}

const LOOPBACK = '127.0.0.1';

export async function startWire(targetPort: number): Promise<Wire> {
  let delayMs = 0;
  let isCut = false;
  let isSilent = false;
  /** Connections to be silenced, should it come to that. */
  const sounding = new Set<Line>();
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // What breaks on one side ends the other; there is nobody else to tell.
    return socket
      .setNoDelay()
      .on('error', () => {})
      .once('close', () => sockets.delete(socket));
  };
  const late = (line: Line): Transform =>
    new Transform({
      transform(chunk, _, done) {
        if (line.dead) done();
        else if (delayMs === 0) done(null, chunk);
        else setTimeout(done, delayMs, null, chunk);
      },
    });
  const server = createServer((client) => {
    keep(client);
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const line: Line = { dead: isSilent };
    sounding.add(line);
    const engine = keep(connect(targetPort, LOOPBACK));
    client.pipe(late(line)).pipe(engine);
    engine.pipe(late(line)).pipe(client);
    client.once('close', () => {
      sounding.delete(line);
      engine.destroy();
    });
    // Nor does a dead connection bring the news that the other side has hung up.
    engine.once('close', () => {
      if (!line.dead) client.destroy();
    });
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
    swallow() {
      isSilent = true;
      for (const line of sounding) line.dead = true;
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
