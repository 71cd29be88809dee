/**
 * A database that is frozen, or behind a network that loses packets, neither answers nor refuses: its statements end only when
 * the network gives up. A person does not wait for that.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** For a statement that takes a millisecond. */
export const DATABASE_TIMEOUT_MS = 1_500;

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

/** null: it takes longer. Rejects as it does. */
export async function settledWithin<T>(answer: Promise<T>, ms: number): Promise<{ value: T } | null> {
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
