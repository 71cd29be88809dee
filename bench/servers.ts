/** The servers a benchmark runs on: embedded ones, or a Temporal server as in production. */
import { join } from 'node:path';
import { startEngines } from '../src/embedded/index.ts';
import { readTemporalProfile, type TemporalTarget } from '../src/temporal/access.ts';
import { startSecurePostgres } from '../test/production/postgres.ts';
import { createTemporalCluster } from '../test/production/temporal-cluster.ts';
import { createAuthority } from '../test/support/certificates.ts';

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

/** On the same Postgres as Amble, with TLS between all parts, and mutual TLS between those of Temporal and its clients. */
export async function startProduction(home: string, notify: (line: string) => void): Promise<Servers> {
  const authority = await createAuthority(join(home, 'certificates'));
  const { databaseUrl, stop } = await startSecurePostgres(home, authority, notify);
  const cluster = await createTemporalCluster(join(home, 'temporal'), databaseUrl, authority);
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
