/** Checks whether a Temporal server answers and has our namespace. */
import { connect } from 'node:net';
import type { Connection } from '@temporalio/client';

export type TemporalProbeResult = 'serving' | 'namespace-missing' | 'unreachable';

const CONNECT_TIMEOUT_MS = 5_000;

export async function probeTemporal(address: string, namespace: string): Promise<TemporalProbeResult> {
  // gRPC retries a refused connection until its timeout; a plain connection fails at once.
  if (!(await listens(address))) return 'unreachable';
  // Loaded only now: commands that find no server here need no client.
  const client = await import('@temporalio/client');
  let connection: Connection;
  try {
    connection = await client.Connection.connect({ address, connectTimeout: CONNECT_TIMEOUT_MS });
  } catch {
    return 'unreachable';
  }
  try {
    await connection.withDeadline(Date.now() + CONNECT_TIMEOUT_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return 'serving';
  } catch {
    return 'namespace-missing';
  } finally {
    await connection.close();
  }
}

function listens(address: string): Promise<boolean> {
  const url = `tcp://${address}`;
  if (!URL.canParse(url)) return Promise.resolve(false);
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 7233) });
    const finish = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => finish(false));
    socket.once('connect', () => finish(true)).once('error', () => finish(false));
  });
}
