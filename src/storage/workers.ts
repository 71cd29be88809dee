/** The worker processes of an installation, as they report themselves. */
import type { Database } from './database.ts';

export interface ReportedWorker {
  /** `pid@host`. */
  identity: string;
  startedAt: Date;
  openFetches: number;
  waitingFetches: number;
  /** The longest time for which its event loop was blocked lately. */
  eventLoopLagMs: number;
  /** Dependencies that it cannot reach. */
  unavailable: string[];
}

export interface SeenWorker extends ReportedWorker {
  seenAt: Date;
  /** How far its clock is ahead of Postgres's, the time of a round trip included. */
  clockOffsetMs: number;
}

/** A worker that reported nothing for so long is gone. */
const GONE_AFTER_S = 60;

/** Also removes workers that were killed long ago. */
export async function reportWorker(db: Database, worker: ReportedWorker): Promise<void> {
  await db.$executeRaw`
    WITH gone AS (DELETE FROM workers WHERE seen_at < now() - interval '1 day')
    INSERT INTO workers (identity, started_at, seen_at, clock_at, open_fetches, waiting_fetches, event_loop_lag_ms, unavailable)
    VALUES (${worker.identity}, ${worker.startedAt}, clock_timestamp(), ${new Date()}, ${worker.openFetches}::int,
            ${worker.waitingFetches}::int, ${worker.eventLoopLagMs}::int, ${worker.unavailable})
    ON CONFLICT (identity) DO UPDATE SET started_at = excluded.started_at, seen_at = excluded.seen_at, clock_at = excluded.clock_at,
      open_fetches = excluded.open_fetches, waiting_fetches = excluded.waiting_fetches,
      event_loop_lag_ms = excluded.event_loop_lag_ms, unavailable = excluded.unavailable`;
}

export async function forgetWorker(db: Database, identity: string): Promise<void> {
  await db.$executeRaw`DELETE FROM workers WHERE identity = ${identity}`;
}

export async function readWorkers(db: Database): Promise<SeenWorker[]> {
  return db.$queryRaw<SeenWorker[]>`
    SELECT identity, started_at AS "startedAt", seen_at AS "seenAt", open_fetches AS "openFetches",
           waiting_fetches AS "waitingFetches", event_loop_lag_ms AS "eventLoopLagMs", unavailable,
           (extract(epoch FROM clock_at - seen_at) * 1000)::float8 AS "clockOffsetMs"
    FROM workers WHERE seen_at > now() - make_interval(secs => ${GONE_AFTER_S}) ORDER BY started_at`;
}
