/**
 * A database that is frozen, or behind a network that loses packets, neither answers nor refuses: its statements end only when
 * the network gives up. A person does not wait for that.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Services } from './services.ts';

/** For a statement that takes a millisecond. */
export const DATABASE_TIMEOUT_MS = 1_500;

/** A page that takes longer is either slow or waits for a database that does not answer. */
const CHECK_AFTER_MS = 1_000;

/** What needs nothing of the database is there by then. */
const GRACE_MS = 100;

export class DatabaseSilent extends Error {
  /** That of a socket, so that it counts as any other outage. */
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('no answer');
  }
}

/** Throws DatabaseSilent if it takes longer; the answer is not waited for then. */
export async function withinMs<T>(answer: Promise<T>, ms: number): Promise<T> {
  const settled = await settledWithin(answer, ms);
  if (settled === null) throw new DatabaseSilent();
  return settled.value;
}

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

/** null: it takes longer. Rejects as it does. */
async function settledWithin<T>(answer: Promise<T>, ms: number): Promise<{ value: T } | null> {
  const value = answer.then((value) => ({ value }));
  // Nobody may wait for it any more.
  value.catch(() => {});
  const late = sleep(ms, null, { ref: false });
  const first = await Promise.race([value, late]);
  if (first !== null) return first;
  // If this process was busy, the answer may have arrived, and has not been read yet.
  await nextTurn();
  return Promise.race([value, nextTurn(null)]);
}
