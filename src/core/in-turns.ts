/** Work on long lists that a site sends, in several turns of the event loop: all other sites of this process wait for one. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** With what a turn does besides, far below the 100 ms for which the event loop may stand still. */
const MAX_TURN_MS = 10;

/** For loops that wait for something else in between, which alone does not let others go on: `if (turn.isOver()) await turn.next()`. */
export class LoopTurn {
  #began = performance.now();

  isOver(): boolean {
    return performance.now() - this.#began >= MAX_TURN_MS;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#began = performance.now();
  }
}

/** Calls `visit` for each item in order. */
export async function forEachInTurns<T>(items: Iterable<T>, visit: (item: T) => void): Promise<void> {
  const turn = new LoopTurn();
  for (const item of items) {
    visit(item);
    if (turn.isOver()) await turn.next();
  }
}

export async function mapInTurns<T, U>(items: Iterable<T>, map: (item: T) => U): Promise<U[]> {
  const results: U[] = [];
  await forEachInTurns(items, (item) => results.push(map(item)));
  return results;
}
