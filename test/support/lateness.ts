/**
 * How late this process may notice something, because it shares its processors with what it tests. What it finds in one turn of
 * its event loop may have arrived at any time since the turn before. Timers run first in a turn, so that is the last but one.
 */
export interface Lateness {
  /** How late something may be that was noticed at this time (ms since the epoch). */
  at(ms: number): number;
  stop(): void;
}

const EVERY_MS = 2;
/** Some minutes' worth. */
const MAX_TURNS = 200_000;

export function watchLateness(): Lateness {
  const now = () => performance.timeOrigin + performance.now();
  let turns = [now()];
  const timer = setInterval(() => {
    turns.push(now());
    if (turns.length > MAX_TURNS) turns = turns.slice(-MAX_TURNS / 2);
  }, EVERY_MS).unref();
  return {
    at(ms) {
      const last = turns.findLastIndex((turn) => turn <= ms);
      const before = turns[Math.max(0, last - 1)] ?? ms;
      return Math.max(0, ms - before - 2 * EVERY_MS);
    },
    stop: () => clearInterval(timer),
  };
}
