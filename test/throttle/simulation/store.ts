/**
 * Postgres with the row of one domain. Its clock differs from the Temporal server's. A statement may be late, never run, or run
 * without an answer; one that its worker has given up may still run.
 */
import { type Gate, type GateRules, NEW_GATE } from '../../../src/core/gate.ts';
import type { StoredDomain } from '../../../src/throttle/index.ts';
import type { Machine } from './machine.ts';
import type { World } from './world.ts';

/** A worker gives a statement up after this time. */
const STATEMENT_TIMEOUT_MS = 3_000;

export interface Row {
  gate: Gate;
  rules: GateRules;
  revision: number;
  now: number;
}

export class Store {
  readonly #world: World;
  readonly #offMs: number;
  gate = NEW_GATE;
  stored: StoredDomain | null = null;
  revision = 0;
  #awayUntil = 0;
  /** Machines that cannot reach it, and until when. */
  readonly #cutOff = new Map<Machine, number>();

  constructor(world: World) {
    this.#world = world;
    this.#offMs = world.between(-600_000, 600_000);
  }

  get now(): number {
    return this.#world.now + this.#offMs;
  }

  /** True time of a time on this clock. */
  trueTime(at: number): number {
    return at - this.#offMs;
  }

  get rules(): GateRules {
    const { stored } = this;
    const outages = Object.entries(stored?.outages ?? {});
    return {
      paused: stored?.paused ?? false,
      minGapMs: stored?.minGapMs ?? 0,
      validFrom: stored?.validFrom ?? 0,
      originsValidFrom: Object.fromEntries(outages.map(([origin, { validFrom }]) => [origin, validFrom])),
    };
  }

  read(): Row {
    return { gate: this.gate, rules: this.rules, revision: this.revision, now: this.now };
  }

  /** false: the row has changed since it was read. */
  write(revision: number, gate: Gate): boolean {
    if (revision !== this.revision) return false;
    this.gate = gate;
    this.revision += 1;
    return true;
  }

  save(stored: StoredDomain): void {
    this.stored = stored;
    this.revision += 1;
  }

  away(ms: number): void {
    this.#awayUntil = this.#world.now + ms;
  }

  cutOff(machine: Machine, ms: number): void {
    this.#cutOff.set(machine, this.#world.now + ms);
  }

  isCutOff(machine: Machine): boolean {
    return this.#world.now < (this.#cutOff.get(machine) ?? 0);
  }

  #isReachedBy(machine: Machine): boolean {
    return this.#world.now >= this.#awayUntil && !this.isCutOff(machine);
  }

  /** `receive` gets the answer; `fail` is called if there is none in time. */
  query<T>(machine: Machine, run: () => T, receive: (answer: T) => void, fail: () => void): void {
    const world = this.#world;
    let isOver = false;
    const once = (act: () => void) => () => {
      if (isOver) return;
      isOver = true;
      act();
    };
    const latency = () => (world.fault(0.05) ? world.between(10, 10_000) : world.between(0.1, 5));
    machine.after(STATEMENT_TIMEOUT_MS, once(fail));
    world.after(latency(), () => {
      if (!this.#isReachedBy(machine) || world.fault(0.02)) return;
      const answer = run();
      if (!this.#isReachedBy(machine) || world.fault(0.02)) return;
      world.after(latency(), () =>
        machine.after(
          0,
          once(() => receive(answer)),
        ),
      );
    });
  }

  /** Reads and writes until the row did not change in between; gives up with `fail`. */
  update(machine: Machine, change: (row: Row) => Gate, done: () => void, fail: () => void): void {
    this.query(
      machine,
      () => this.read(),
      (row) =>
        this.query(
          machine,
          () => this.write(row.revision, change(row)),
          (isDone) => (isDone ? done() : this.update(machine, change, done, fail)),
          fail,
        ),
      fail,
    );
  }
}
