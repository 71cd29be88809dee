/**
 * The Temporal server, the throttle workflow and the `domains` table in one: delivers messages to the throttle, fires its timers,
 * ends and restarts it, continues it as new, terminates it. Every grant is checked.
 */
import {
  type Ask,
  ask,
  beginPersist,
  boundsTooNarrow,
  boundsToPersist,
  close,
  endPersist,
  idleAt,
  isIdle,
  type Lease,
  mayEnd,
  newThrottle,
  open,
  reportUndelivered,
  type SlotAnswer,
  type StoredDomain,
  type ThrottleConfig,
  type ThrottleState,
  tick,
  toStoredDomain,
} from '../../../src/throttle/index.ts';
import type { World } from './world.ts';

/** Regular writes of the row. */
const WRITE_INTERVAL_MS = 60_000;

export const DOMAIN = 'example.org';

export interface Granted {
  lease: Lease;
  ask: Ask;
  /** The execution of the throttle that granted it. */
  execution: number;
}

export type GrantCheck = (state: ThrottleState, granted: Granted) => void;

export interface Receiver {
  /** Returns whether the page was still open. */
  receive(lease: Lease): boolean;
}

export class Host {
  readonly #world: World;
  readonly #config: ThrottleConfig;
  readonly #check: GrantCheck;
  readonly granted = new Map<string, Granted>();
  readonly pages = new Map<string, Receiver>();
  readonly #delivered = new Set<string>();
  readonly #asks = new Map<string, Ask>();
  state: ThrottleState | null = null;
  row: StoredDomain | null = null;
  execution = 0;
  #timer = 0;
  #isWriting = false;

  constructor(world: World, config: ThrottleConfig, check: GrantCheck) {
    this.#world = world;
    this.#config = config;
    this.#check = check;
  }

  /** Update-with-start. */
  ask(asked: Ask): SlotAnswer {
    this.#asks.set(asked.ticket, asked);
    const state = this.state ?? this.#begin();
    const answer = ask(state, asked, this.#world.serverNow, this.#world.random);
    if (answer.kind === 'granted' && !this.granted.has(answer.lease.id)) this.#record(state, answer.lease);
    this.#pump();
    return answer;
  }

  /** A signal is lost if the throttle is not running. */
  signal(apply: (state: ThrottleState, now: number) => void): void {
    if (!this.state) return;
    apply(this.state, this.#world.serverNow);
    this.#pump();
  }

  /** An operator's change is persisted before it is answered. */
  operate(apply: (state: ThrottleState) => void): void {
    if (!this.state) return;
    apply(this.state);
    if (this.state.openedAt !== null) this.row = toStoredDomain(this.state, false);
    this.#pump();
  }

  continueAsNew(): void {
    if (this.state) this.state = JSON.parse(JSON.stringify(this.state));
    this.#pump();
  }

  terminate(): void {
    this.state = null;
  }

  #begin(): ThrottleState {
    const state = newThrottle(DOMAIN, this.#config);
    this.state = state;
    this.execution += 1;
    this.#open(state, this.execution);
    return state;
  }

  /** Reads the row and marks it as not clean, atomically. */
  #open(state: ThrottleState, execution: number): void {
    this.#afterStep(execution, () => {
      const before = this.row;
      const wanted = boundsToPersist(state);
      const persistedBounds = {
        maxGapMs: Math.max(before?.maxGapMs ?? 0, wanted.maxGapMs),
        maxStartWindowMs: Math.max(
          before?.clean === false ? before.maxStartWindowMs : 0,
          wanted.maxStartWindowMs,
        ),
      };
      this.row = {
        ...(before ?? toStoredDomain(state, false)),
        clean: false,
        ...persistedBounds,
      };
      this.#afterStep(execution, (current) => {
        open(current, { stored: before, persistedBounds, epoch: execution }, this.#world.serverNow);
        this.#writeRegularly(execution);
        this.#pump();
      });
    });
  }

  /** Writes the final row, and continues if a page has asked in the meantime. */
  #end(state: ThrottleState, execution: number): void {
    close(state);
    const row = toStoredDomain(state, true);
    this.#afterStep(execution, () => {
      this.row = row;
      this.#afterStep(execution, (current) => {
        if (mayEnd(current)) this.state = null;
        else this.#open(current, execution);
      });
    });
  }

  /** An activity takes time, and the throttle may be terminated before or after it. */
  #afterStep(execution: number, act: (state: ThrottleState) => void, isTooLate: () => void = () => {}): void {
    this.#world.after(this.#world.between(1, 300), () => {
      if (this.execution === execution && this.state) act(this.state);
      else isTooLate();
    });
  }

  #writeRegularly(execution: number): void {
    this.#world.after(WRITE_INTERVAL_MS, () => {
      if (this.execution !== execution || this.state?.openedAt == null) return;
      this.#write(this.state, execution);
      this.#writeRegularly(execution);
    });
  }

  /** One write at a time. The new bounds count once the throttle knows that the write is done. */
  #write(state: ThrottleState, execution: number): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const row = toStoredDomain(state, false);
    beginPersist(state, row);
    const done = (): void => {
      this.#isWriting = false;
    };
    this.#afterStep(
      execution,
      () => {
        this.row = row;
        this.#afterStep(
          execution,
          (current) => {
            done();
            endPersist(current, row);
            this.#pump();
          },
          done,
        );
      },
      done,
    );
  }

  #pump(): void {
    const { state } = this;
    if (!state) return;
    const now = this.#world.serverNow;
    const { grants, wakeAt } = tick(state, now, this.#world.random);
    if (state.openedAt !== null && boundsTooNarrow(state)) this.#write(state, this.execution);
    for (const { workflowId, lease } of grants) {
      this.#record(state, lease);
      this.#world.send(() => this.#deliver(workflowId, lease));
    }
    const nextAt = wakeAt ?? idleAt(state);
    this.#timer += 1;
    if (nextAt === null) return;
    const timer = this.#timer;
    // A timer fires a little late, never early.
    this.#world.after(nextAt - now + this.#world.between(1, 20), () => {
      if (timer === this.#timer) this.#wake();
    });
  }

  #wake(): void {
    if (this.state && isIdle(this.state, this.#world.serverNow)) {
      this.#end(this.state, this.execution);
    } else this.#pump();
  }

  #deliver(workflowId: string, lease: Lease): void {
    // The server remembers that a repeated signal was delivered, even if the page is closed now.
    if (this.pages.get(workflowId)?.receive(lease)) this.#delivered.add(lease.id);
    if (this.#delivered.has(lease.id)) return;
    this.#world.send(() => this.signal((state, now) => reportUndelivered(state, lease.id, now)));
  }

  #record(state: ThrottleState, lease: Lease): void {
    const asked = this.#asks.get(lease.ticket);
    if (!asked) throw new Error(`${lease.id} was granted to a ticket that never asked`);
    if (this.granted.has(lease.id)) throw new Error(`${lease.id} was granted twice`);
    const granted = { lease, ask: asked, execution: this.execution };
    this.granted.set(lease.id, granted);
    this.#check(state, granted);
  }
}
