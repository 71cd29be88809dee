/**
 * A worker process with its own clocks. It can freeze (both clocks keep running), be suspended (the monotonic clock stops) and
 * crash. When it wakes up, it continues as though no time had passed.
 */
import type { Release } from '../../../src/throttle/index.ts';
import { type ClockReading, SharedRemoteClock } from '../../../src/worker/clocks.ts';
import type { World } from './world.ts';

export class Machine {
  readonly #world: World;
  readonly #rate: number;
  readonly #sleepy: boolean;
  /** Reports that go out with the next ask. */
  reports: Release[] = [];
  databaseClock = new SharedRemoteClock();
  /** Incremented by each crash, which ends everything that was going on. */
  run = 1;
  #wallOffMs: number;
  #sleptMs = 0;
  #frozenAt = 0;
  #frozenUntil = 0;

  /** A machine either sleeps or has its wall clock set, never both: together they could cancel out. */
  constructor(world: World, sleepy: boolean) {
    this.#world = world;
    this.#sleepy = sleepy;
    this.#rate = world.between(1 - 4e-4, 1 + 4e-4);
    this.#wallOffMs = world.between(-3_600_000, 3_600_000);
  }

  get frozen(): boolean {
    return this.#world.now < this.#frozenUntil;
  }

  read(): ClockReading {
    const { now } = this.#world;
    return { wallMs: Math.floor(now + this.#wallOffMs), monotonicMs: (now - this.#sleptMs) * this.#rate };
  }

  /** Acts after this time: later if the machine is frozen then, never if it crashes before. */
  after(ms: number, act: () => void): void {
    const { run } = this;
    const attempt = () => {
      if (run !== this.run) return;
      if (this.frozen) this.#world.after(this.#frozenUntil - this.#world.now, attempt);
      else act();
    };
    this.#world.after(ms, attempt);
  }

  /** Calls the Temporal server. */
  call<T>(serve: (answer: (answer: T) => void) => void, receive: (answer: T) => void): void {
    this.#world.send(() => serve((answer) => this.#world.send(() => this.after(0, () => receive(answer)))));
  }

  /** Takes the reports that are due to go out. */
  takeReports(): Release[] {
    const taken = this.reports;
    this.reports = [];
    return taken;
  }

  freeze(ms: number): void {
    if (this.frozen) return;
    const { run } = this;
    this.#frozenAt = this.#world.now;
    this.#frozenUntil = this.#world.now + ms;
    this.#world.after(ms, () => run === this.run && this.#wake(ms));
  }

  crash(): void {
    if (this.frozen) this.#wake(this.#world.now - this.#frozenAt);
    this.run += 1;
    this.#frozenUntil = 0;
    this.reports = [];
    this.databaseClock = new SharedRemoteClock();
  }

  #wake(afterMs: number): void {
    if (this.#sleepy) this.#sleptMs += afterMs;
  }

  setWallClock(): void {
    if (!this.#sleepy) this.#wallOffMs += this.#world.oneOf(-3_600_000, -300, 300, 3_600_000);
  }
}
