/** The connection over which the SDK's core polls for tasks. */
import { NativeConnection } from '@temporalio/worker';
import type { TemporalTarget } from '../temporal/access.ts';

export interface WorkerConnection {
  connection: NativeConnection;
  close(): Promise<void>;
}

/** The core fails a worker whose polls were refused for a minute. */
const KEY_CHECK_INTERVAL_MS = 5_000;

export async function connectWorker(
  { address, access }: Pick<TemporalTarget, 'address' | 'access'>,
  keyCheckIntervalMs = KEY_CHECK_INTERVAL_MS,
): Promise<WorkerConnection> {
  // The SDK compresses messages, which costs CPU for nothing on one machine.
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(address);
  let key = access?.apiKey?.();
  const connection = await NativeConnection.connect({
    address,
    ...(isLoopback && { grpcCompression: { codec: 'none' } }),
    ...(access && { tls: access.tls, metadata: access.metadata }),
    ...(key !== undefined && { apiKey: key }),
  });
  // Unlike a client's connection, it takes a key and not a function.
  const keyCheck = setInterval(() => {
    const current = access?.apiKey?.();
    if (current === undefined || current === key) return;
    key = current;
    void connection.setApiKey(current);
  }, keyCheckIntervalMs);
  keyCheck.unref();
  return {
    connection,
    async close() {
      clearInterval(keyCheck);
      await connection.close();
    },
  };
}
