/** A client for a Temporal server that is already running. Commands that only read never start a server. */
import { Client } from '@temporalio/client';
import type { AmbleConfig } from '../../config/index.ts';
import { type EngineOptions, findTemporal } from '../../embedded/index.ts';
import type { TemporalServer } from '../../embedded/temporal.ts';
import { connectTemporal } from '../../temporal/connection.ts';
import { describeTemporal } from '../../temporal/explain.ts';
import { writeErr } from '../terminal.ts';

export interface JoinedTemporal {
  client: Client;
  close(): Promise<void>;
}

export function engineOptions(config: AmbleConfig, log: (line: string) => void): EngineOptions {
  return {
    home: config.home,
    temporalNamespace: config.temporalNamespace,
    ...(config.temporalAccess !== null && { temporalAccess: config.temporalAccess }),
    ...(config.temporalAddress !== null && { temporalAddress: config.temporalAddress }),
    temporalUiUrl: config.temporalUiUrl,
    ...(config.temporalBinary !== null && { temporalBinary: config.temporalBinary }),
    ...(config.databaseUrl !== null && { databaseUrl: config.databaseUrl }),
    notify: log,
  };
}

const announced = new WeakSet<AmbleConfig>();

/** Once for the configuration of a command, however many connections it makes. An embedded server is not worth a line: it belongs to the home. */
export function announceTemporal(config: AmbleConfig, server: TemporalServer): void {
  if (server.embedded || announced.has(config)) return;
  announced.add(config);
  writeErr(`Using ${describeTemporal(server)}.`);
}

/** null: no server is running. */
export async function joinTemporal(config: AmbleConfig): Promise<JoinedTemporal | null> {
  const server = await findTemporal(engineOptions(config, () => {}));
  if (server === null) return null;
  announceTemporal(config, server);
  const connection = await connectTemporal(server);
  const client = new Client({
    connection,
    namespace: server.namespace,
    // A closed workflow would answer with its state at the end.
    workflow: { queryRejectCondition: 'NOT_OPEN' },
  });
  return { client, close: () => connection.close() };
}
