/** The servers a benchmark runs on: embedded ones, or a Temporal server as in production. */
import { join } from 'node:path';
import { startDatabase, startEngines } from '../src/embedded/index.ts';
import { readTemporalProfile, type TemporalTarget } from '../src/temporal/access.ts';
import { createTemporalCluster } from '../test/production/temporal-cluster.ts';

export interface Servers {
  temporal: TemporalTarget;
  databaseUrl: string;
  /** What a worker in a process of its own needs to find them; it knows the home. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

export async function startEmbedded(home: string, notify: (line: string) => void): Promise<Servers> {
  const { temporal, databaseUrl, stop } = await startEngines({ home, isolated: true, notify });
  return { temporal, databaseUrl, env: {}, stop };
}

/** On the same Postgres as Amble, with mutual TLS between all parts. */
export async function startProduction(home: string, notify: (line: string) => void): Promise<Servers> {
  const { databaseUrl, stop } = await startDatabase({ home, notify });
  const cluster = await createTemporalCluster(join(home, 'temporal'), databaseUrl);
  await cluster.start();
  const { address = '', namespace = '', access } = readTemporalProfile(cluster.env);
  return {
    temporal: { address, namespace, access: access(null) },
    databaseUrl,
    env: { ...cluster.env, DATABASE_URL: databaseUrl },
    async stop() {
      await cluster.kill();
      await stop();
    },
  };
}
