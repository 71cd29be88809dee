/** Free TCP ports on loopback. */
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const LOOPBACK = '127.0.0.1';

/** A process that was killed keeps its ports for the moment it takes to die. */
const WAIT_FOR_WANTED_MS = 2_000;
const POLL_MS = 50;

/**
 * As many free ports as asked for, the wanted ones where they are still free: clients of an engine that died find it
 * again where it was.
 */
export async function freePorts(count: number, wanted: readonly number[]): Promise<number[]> {
  const held: HeldPort[] = [];
  try {
    // All are held until the last is found, or the same one might be found twice.
    for (let index = 0; index < count; index++) held.push(await holdPreferably(wanted[index]));
    return held.map(({ port }) => port);
  } finally {
    await Promise.all(held.map(({ release }) => release()));
  }
}

interface HeldPort {
  port: number;
  release(): Promise<void>;
}

async function holdPreferably(wanted: number | undefined): Promise<HeldPort> {
  const giveUpAt = performance.now() + WAIT_FOR_WANTED_MS;
  while (wanted !== undefined && performance.now() < giveUpAt) {
    const held = await hold(wanted).catch(() => null);
    if (held !== null) return held;
    await sleep(POLL_MS);
  }
  return hold(0);
}

/** Port 0 is any that is free. */
function hold(wanted: number): Promise<HeldPort> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host: LOOPBACK, port: wanted, exclusive: true }, () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : wanted;
      resolve({ port, release: () => new Promise((done) => server.close(() => done())) });
    });
  });
}
