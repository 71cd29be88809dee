/** Repeatable random numbers: the same seed gives the same sequence, so that a failed run can be repeated. */

export interface Seeded {
  /** At least 0, below 1. */
  (): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
  shuffled<T>(items: readonly T[]): T[];
}

/** mulberry32: passes the usual tests of randomness and fits in four lines. */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return Object.assign(next, {
    between,
    pick<T>(from: readonly T[]): T {
      const [picked] = from.slice(between(0, from.length - 1));
      if (picked === undefined) throw new Error('There is nothing to pick from.');
      return picked;
    },
    shuffled<T>(items: readonly T[]): T[] {
      const keyed = items.map((item) => ({ item, key: next() }));
      return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item);
    },
  });
}
