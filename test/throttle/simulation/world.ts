/**
 * A discrete-event simulation with true time, an event queue and seeded random numbers, so that every run can be repeated. Until
 * `calmAt`, messages may be lost, repeated, delayed and reordered.
 */
import { NOON } from '../support.ts';

interface Event {
  at: number;
  number: number;
  happen: () => void;
}

export class World {
  /** True time in ms, with fractions. The server's clock truncates it to whole ms. */
  now = NOON;
  readonly calmAt: number;
  #heap: Event[] = [];
  #scheduled = 0;
  #seed: number;

  constructor(seed: number, troubleMs: number) {
    this.#seed = seed;
    this.calmAt = NOON + troubleMs;
  }

  get calm(): boolean {
    return this.now >= this.calmAt;
  }

  get serverNow(): number {
    return Math.floor(this.now);
  }

  /** mulberry32 */
  random = (): number => {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  between(min: number, max: number): number {
    return min + this.random() * (max - min);
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** Faults happen only until `calmAt`. */
  fault(probability: number): boolean {
    return !this.calm && this.chance(probability);
  }

  oneOf<T>(first: T, ...others: T[]): T {
    return [first, ...others][Math.floor(this.random() * (others.length + 1))] ?? first;
  }

  after(ms: number, happen: () => void): void {
    this.#push({ at: this.now + Math.max(0, ms), number: this.#scheduled++, happen });
  }

  /** Delivers a message over a network that may lose, repeat or delay it. */
  send(deliver: () => void): void {
    const latency = () => (this.fault(0.05) ? this.between(100, 40_000) : this.between(0.5, 80));
    if (this.fault(0.06)) return;
    this.after(latency(), deliver);
    if (this.fault(0.08)) this.after(latency(), deliver);
  }

  /** Runs until `done`, until no event is left, or for `maxEvents`. Returns whether it is done. */
  run(done: () => boolean, maxEvents: number): boolean {
    for (let n = 0; n < maxEvents; n += 1) {
      if (done()) return true;
      const event = this.#pop();
      if (!event) return done();
      this.now = event.at;
      event.happen();
    }
    return false;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (!parent || isBefore(parent, event)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!last || last === first) return first;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (!left) break;
      const useRight = right !== undefined && isBefore(right, left);
      const child = useRight ? right : left;
      if (isBefore(last, child)) break;
      heap[at] = child;
      at = 2 * at + (useRight ? 2 : 1);
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number);
}
