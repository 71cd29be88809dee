/** Is there a Temporal server, and does it have our namespace? */
import { connect } from 'node:net';
import type { Connection } from '@temporalio/client';

export type TemporalProbeResult = 'serving' | 'namespace-missing' | 'unreachable';

const CONNECT_WITHIN_MS = 5_000;

export async function probeTemporal(address: string, namespace: string): Promise<TemporalProbeResult> {
  // gRPC goes on trying a port that refuses until its time is up; a plain connection knows at once.
  if (!(await listens(address))) return 'unreachable';
  // Only now: those who want the database alone, or find nobody here, need not load a client.
  const client = await import('@temporalio/client');
  let connection: Connection;
  try {
    connection = await client.Connection.connect({ address, connectTimeout: CONNECT_WITHIN_MS });
  } catch {
    return 'unreachable';
  }
  try {
    await connection.withDeadline(Date.now() + CONNECT_WITHIN_MS, () =>
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
    socket.setTimeout(CONNECT_WITHIN_MS, () => finish(false));
    socket.once('connect', () => finish(true)).once('error', () => finish(false));
  });
}
