/** A Temporal server that runs already, for commands that only ask it; they start none. */
import { Client } from '@temporalio/client';
import type { AmbleConfig } from '../../config/index.ts';
import { findTemporal } from '../../embedded/index.ts';
import { connectTemporal } from '../../worker/temporal-connection.ts';
import { engineOptions } from './engine-options.ts';

export interface JoinedTemporal {
  client: Client;
  close(): Promise<void>;
}

/** null: none runs. */
export async function joinTemporal(config: AmbleConfig): Promise<JoinedTemporal | null> {
  const server = await findTemporal(engineOptions(config, () => {}));
  if (server === null) return null;
  const connection = await connectTemporal(server.address);
  const client = new Client({
    connection,
    namespace: server.namespace,
    // A workflow that has ended would answer with what it knew at its end.
    workflow: { queryRejectCondition: 'NOT_OPEN' },
  });
  return { client, close: () => connection.close() };
}
