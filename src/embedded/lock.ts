/**
 * Lamport's bakery, with files for numbers: one process at a time, in the order of arrival. A holder that is killed is
 * passed over, and no waiter ever has to break a lock, which is where lock files go wrong when two try it together.
 */
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  changeRank,
  livingProcesses,
  type RegisteredProcess,
  registerProcess,
  unregisterProcess,
} from './process-registry.ts';

/** Rank of one who is still choosing its number. */
const CHOOSING = 0;
const POLL_MS = 25;

export async function withLock<T>(
  directory: string,
  onWait: (holder: number) => void,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  let ticket = await registerProcess(directory, CHOOSING);
  try {
    const highest = Math.max(...(await livingProcesses(directory)).map(({ rank }) => rank));
    ticket = await changeRank(directory, ticket, highest + 1);
    let told = false;
    for (
      let first = await firstBefore(directory, ticket);
      first;
      first = await firstBefore(directory, ticket)
    ) {
      if (!told && first.rank !== CHOOSING && first.pid !== process.pid) {
        told = true;
        onWait(first.pid);
      }
      await sleep(POLL_MS);
    }
    return await work();
  } finally {
    await unregisterProcess(directory, ticket);
  }
}

/** Who must go before this ticket: the lowest number, and anybody whose number may yet turn out lower. */
async function firstBefore(
  directory: string,
  ticket: RegisteredProcess,
): Promise<RegisteredProcess | undefined> {
  const before = (await livingProcesses(directory)).filter(
    ({ rank, name }) => rank < ticket.rank || (rank === ticket.rank && name < ticket.name),
  );
  return before.sort((one, other) => one.rank - other.rank)[0];
}
