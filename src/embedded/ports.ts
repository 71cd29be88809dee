/** TCP ports on loopback for the embedded engines. */
import { setTimeout as sleep } from 'node:timers/promises';
import getPort, { clearLockedPorts } from 'get-port';

export const LOOPBACK = '127.0.0.1';

/** A killed process keeps its ports until the kernel has cleaned up after it. */
const MAX_WAIT_FOR_PREVIOUS_MS = 2_000;
const POLL_INTERVAL_MS = 50;

/**
 * Free ports, the previous ones if possible: clients of an engine that died reconnect where it was. Another process may take
 * a port before the engine binds it, which ends the engine's start; see engine.ts for the retries.
 */
export async function choosePorts(count: number, previous: readonly number[]): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await choosePort(previous[ports.length], ports));
  return ports;
}

async function choosePort(previous: number | undefined, exclude: readonly number[]): Promise<number> {
  const options = { host: LOOPBACK, exclude };
  if (previous === undefined) return getPort(options);
  const deadline = performance.now() + MAX_WAIT_FOR_PREVIOUS_MS;
  for (;;) {
    // get-port gives no port out twice within 15 to 30 s; an engine that dies in that time is to come back on its own.
    clearLockedPorts();
    const port = await getPort({ ...options, port: previous });
    if (port === previous || performance.now() > deadline) return port;
    await sleep(POLL_INTERVAL_MS);
  }
}
