/** Work on long lists that a site sends, in several turns of the event loop: all other sites of this process wait for one. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** With what a turn does besides, far below the 100 ms for which the event loop may stand still. */
const MAX_TURN_MS = 10;

/** Calls `visit` for each item in order. */
export async function forEachInTurns<T>(items: Iterable<T>, visit: (item: T) => void): Promise<void> {
  let began = performance.now();
  for (const item of items) {
    visit(item);
    if (performance.now() - began < MAX_TURN_MS) continue;
    await nextTurn();
    began = performance.now();
  }
}

export async function mapInTurns<T, U>(items: Iterable<T>, map: (item: T) => U): Promise<U[]> {
  const results: U[] = [];
  await forEachInTurns(items, (item) => results.push(map(item)));
  return results;
}
