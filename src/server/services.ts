/** What views work with, and which of it cannot be reached at the moment. */
import type { Client } from '@temporalio/client';
import type { AmbleConfig } from '../config/index.ts';
import { messageOf } from '../core/errors.ts';
import type { PagePlace } from '../operator/page-context.ts';
import type { Database } from '../storage/database.ts';
import { isDatabaseUnavailable } from '../storage/database-unavailable.ts';
import type { RecordedOrder } from '../storage/orders.ts';
import { readStop } from '../storage/stop.ts';
import { isTemporalUnavailable } from '../temporal/connection.ts';
import type { ThrottleView } from '../throttle/view.ts';
import { DATABASE_TIMEOUT_MS, DatabaseSilent, settledWithin, withinMs } from './database-deadline.ts';
import { LatestAnswers } from './latest-answers.ts';

export interface Services {
  config: AmbleConfig;
  db: Database;
  client: Client;
  /** Address of the Temporal Web UI; null: not known. */
  temporalUi: string | null;
  outages: DependencyOutages;
  /** By domain; null: its throttle is not running. */
  throttles: LatestAnswers<ThrottleView | null>;
  /** Of pages that wait. */
  places: LatestAnswers<PagePlace>;
  lastStop: LastStop;
}

export type Dependency = 'Postgres' | 'Temporal';

export interface DependencyOutage {
  dependency: Dependency;
  since: Date;
  error: string;
}

/** With nothing known yet. */
export function createServices(
  given: Omit<Services, 'outages' | 'throttles' | 'places' | 'lastStop'>,
): Services {
  return {
    ...given,
    outages: new DependencyOutages(),
    throttles: new LatestAnswers(),
    places: new LatestAnswers(),
    lastStop: new LastStop(),
  };
}

/** A person waits for the page, so a server that is silent for longer counts as unavailable. */
const TEMPORAL_TIMEOUT_MS = 2_000;

/** A server that was silent for too long is not asked again for this long: each view would wait for it. */
const RETRY_AFTER_SILENCE_MS = 5_000;

export class DependencyOutages {
  readonly #open = new Map<Dependency, DependencyOutage & { retryAt: number }>();

  failed(dependency: Dependency, error: unknown, retryAfterMs = 0): void {
    const before = this.#open.get(dependency);
    const retryAt = Math.max(before?.retryAt ?? 0, Date.now() + retryAfterMs);
    this.#open.set(dependency, {
      ...{ dependency, since: before?.since ?? new Date(), error: messageOf(error), retryAt },
    });
  }

  answered(dependency: Dependency): void {
    this.#open.delete(dependency);
  }

  /** Whoever asked it now would probably wait in vain. */
  isSilent(dependency: Dependency): boolean {
    return Date.now() < (this.#open.get(dependency)?.retryAt ?? 0);
  }

  list(): DependencyOutage[] {
    return [...this.#open.values()].map(({ dependency, since, error }) => ({ dependency, since, error }));
  }
}

/** The order that stopped everything. Each page reads it, and so notices whether Postgres answers. */
export class LastStop {
  #known: RecordedOrder | null = null;

  /** Without asking again. */
  get known(): RecordedOrder | null {
    return this.#known;
  }

  /** As last known if Postgres is unavailable: a page that needs nothing else of it is shown all the same. null: nothing is stopped. */
  async read({ db, outages }: Pick<Services, 'db' | 'outages'>): Promise<RecordedOrder | null> {
    if (outages.isSilent('Postgres')) return this.#known;
    const asked = readStop(db).then((stop) => {
      this.#known = stop;
      // Also if it comes late: the next page need not wait.
      outages.answered('Postgres');
    });
    try {
      await withinMs(asked, DATABASE_TIMEOUT_MS);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      outages.failed('Postgres', error, error instanceof DatabaseSilent ? RETRY_AFTER_SILENCE_MS : 0);
    }
    return this.#known;
  }
}

/** null: Temporal is unavailable, which the page says; what it would have known is left out. */
export async function askTemporal<T>(
  { client, outages }: Services,
  ask: (client: Client) => Promise<T>,
): Promise<T | null> {
  if (outages.isSilent('Temporal')) return null;
  try {
    const answer = await client.withDeadline(Date.now() + TEMPORAL_TIMEOUT_MS, () => ask(client));
    outages.answered('Temporal');
    return answer;
  } catch (error) {
    if (!isTemporalUnavailable(error)) throw error;
    outages.failed('Temporal', error, RETRY_AFTER_SILENCE_MS);
    return null;
  }
}

/** A page that takes longer is either slow or waits for a database that does not answer. */
const CHECK_AFTER_MS = 1_000;

/** What needs nothing of the database is there by then. */
const GRACE_MS = 100;

/**
 * Throws DatabaseSilent if the database stops answering meanwhile; however long the work takes, that is no reason. While it is known
 * to be silent, nobody waits.
 */
export async function whileDatabaseAnswers<T>(services: Services, work: Promise<T>): Promise<T> {
  const { outages, lastStop } = services;
  for (;;) {
    const isSilent = outages.isSilent('Postgres');
    const settled = await settledWithin(work, isSilent ? GRACE_MS : CHECK_AFTER_MS);
    if (settled !== null) return settled.value;
    if (isSilent) throw new DatabaseSilent();
    // Finds out whether it answers.
    await lastStop.read(services);
  }
}
