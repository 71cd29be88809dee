/** What a worker needs and may have to wait for. Each outage is told once; see outage.ts. */
import type { Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import { causesOf } from '../core/error-chain.ts';
import type { Database } from '../storage/database.ts';
import { isDatabaseAway } from '../storage/database-unavailable.ts';
import { type ContentStore, ContentStoreAway } from './content-store.ts';
import { type Outage, watchForOutage } from './dependency-health.ts';
import { isTemporalAway } from './temporal-unavailable.ts';

export interface Outages {
  store: Outage;
  /** The error is one of an outage, and told as such: it need not be logged again. */
  explain(error: unknown): boolean;
  stop(): void;
}

/** A server that takes longer to answer a probe is no better than one that is away. */
const PROBE_WITHIN_MS = 5_000;

const TEMPORAL_EVERY_MS = 5_000;

export function watchForOutages({
  connection,
  db,
  store,
  log,
}: {
  connection: Connection;
  db: Database;
  store: ContentStore;
  log: Logger;
}): Outages {
  const temporal = watchForOutage({
    what: 'Temporal',
    isItsError: isTemporalAway,
    probe: () =>
      connection.withDeadline(Date.now() + PROBE_WITHIN_MS, () =>
        connection.workflowService.getSystemInfo({}),
      ),
    log,
    // The SDK polls on without a word, and a worker that gets no work meets no error.
    unaskedEveryMs: TEMPORAL_EVERY_MS,
  });
  const database = watchForOutage({
    what: 'Postgres',
    isItsError: isDatabaseAway,
    probe: () => db.$queryRaw`SELECT 1`,
    log,
  });
  const contents = watchForOutage({
    what: 'The content store',
    isItsError: (error) => causesOf(error).some((cause) => cause instanceof ContentStoreAway),
    probe: () => store.probe(),
    log,
  });
  const all = [temporal, database, contents];
  return {
    store: contents,
    explain: (error) => all.some((outage) => outage.explains(error)),
    stop() {
      for (const outage of all) outage.stop();
    },
  };
}
