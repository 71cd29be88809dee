/** Free TCP ports on loopback. */
import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/**
 * As many free ports as asked for, the wanted ones where they are still free: clients of an engine that died find it
 * again where it was.
 */
export async function freePorts(count: number, wanted: readonly number[]): Promise<number[]> {
  const held = [];
  try {
    // All are held until the last is found, or the same one might be found twice.
    for (let index = 0; index < count; index++) held.push(await hold(wanted[index] ?? 0));
    return held.map(({ port }) => port);
  } finally {
    await Promise.all(held.map(({ release }) => release()));
  }
}

interface HeldPort {
  port: number;
  release(): Promise<void>;
}

function hold(wanted: number): Promise<HeldPort> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => (wanted === 0 ? reject(error) : resolve(hold(0))));
    server.listen({ host: LOOPBACK, port: wanted, exclusive: true }, () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : wanted;
      resolve({ port, release: () => new Promise((done) => server.close(() => done())) });
    });
  });
}
