/**
 * A worker process with its own clocks. It can freeze (both clocks keep running), be suspended (the monotonic clock stops) and
 * crash. When it wakes up, it continues as though no time had passed.
 */
import { LocalRequestStarts } from '../../../src/worker/local-request-starts.ts';
import { type ClockReading, ServerClock } from '../../../src/worker/server-clock.ts';
import type { World } from './world.ts';

export class Machine {
  readonly #world: World;
  readonly #rate: number;
  readonly #sleepy: boolean;
  clock = new ServerClock();
  starts = new LocalRequestStarts();
  /** Incremented by each crash, which ends everything that was going on. */
  run = 1;
  #wallOffMs: number;
  #sleptMs = 0;
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

  /** Calls the server and samples its time from the response, if one arrives. */
  call<T>(serve: () => T, receive: (answer: T) => void): void {
    const before = this.read();
    this.#world.send(() => {
      const answer = serve();
      const serverNow = this.#world.serverNow;
      this.#world.send(() =>
        this.after(0, () => {
          this.clock.sample(serverNow, before, this.read());
          receive(answer);
        }),
      );
    });
  }

  freeze(ms: number): void {
    if (this.frozen) return;
    this.#frozenUntil = this.#world.now + ms;
    if (this.#sleepy) this.#world.after(ms, () => (this.#sleptMs += ms));
  }

  crash(): void {
    this.run += 1;
    this.#frozenUntil = 0;
    this.clock = new ServerClock();
    this.starts = new LocalRequestStarts();
  }

  setWallClock(): void {
    if (!this.#sleepy) this.#wallOffMs += this.#world.oneOf(-3_600_000, -300, 300, 3_600_000);
  }
}
