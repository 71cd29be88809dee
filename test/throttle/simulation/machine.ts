/**
 * A worker process with clocks of its own. It can stop (both clocks run on), be suspended (the monotonic clock stands
 * still) and crash; woken, it goes on as though no time had passed.
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
  /** Counts its lives: what an earlier life began is gone. */
  life = 1;
  #wallOffMs: number;
  #sleptMs = 0;
  #frozenUntil = 0;

  /** Sleeps and a wall clock that is set never meet on one machine: together they can hide each other. */
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

  /** Does it after this time on the machine: not while it is frozen, and never if it crashes before. */
  after(ms: number, act: () => void): void {
    const { life } = this;
    const attempt = () => {
      if (life !== this.life) return;
      if (this.frozen) this.#world.after(this.#frozenUntil - this.#world.now, attempt);
      else act();
    };
    this.#world.after(ms, attempt);
  }

  /** Calls the server and learns its time from the answer, if it gets one. */
  call<T>(serve: () => T, hear: (answer: T) => void): void {
    const before = this.read();
    this.#world.send(() => {
      const answer = serve();
      const serverNow = this.#world.serverNow;
      this.#world.send(() =>
        this.after(0, () => {
          this.clock.sample(serverNow, before, this.read());
          hear(answer);
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
    this.life += 1;
    this.#frozenUntil = 0;
    this.clock = new ServerClock();
    this.starts = new LocalRequestStarts();
  }

  setWallClock(): void {
    if (!this.#sleepy) this.#wallOffMs += this.#world.oneOf(-3_600_000, -300, 300, 3_600_000);
  }
}
