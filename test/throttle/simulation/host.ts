/**
 * The Temporal server, the workflow shell and the `domains` table in one: carries messages to the throttle, wakes it, lets
 * it end and come back, continues it as new, terminates it. Checks at every grant what can be seen only then.
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

/** Between two writes of the row while nothing else causes one. */
const WRITE_EVERY_MS = 60_000;

export const DOMAIN = 'example.org';

export interface Granted {
  lease: Lease;
  ask: Ask;
  /** Which life of the throttle granted it. */
  life: number;
}

export type GrantCheck = (state: ThrottleState, granted: Granted) => void;

export interface Receiver {
  /** Whether anybody was there to hear it. */
  hear(lease: Lease): boolean;
}

export class Host {
  readonly #world: World;
  readonly #config: ThrottleConfig;
  readonly #check: GrantCheck;
  readonly granted = new Map<string, Granted>();
  readonly pages = new Map<string, Receiver>();
  readonly #heard = new Set<string>();
  readonly #asks = new Map<string, Ask>();
  state: ThrottleState | null = null;
  row: StoredDomain | null = null;
  life = 0;
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
    if (answer.kind === 'granted' && !this.granted.has(answer.lease.id)) this.#note(state, answer.lease);
    this.#pump();
    return answer;
  }

  /** A signal: to a throttle that is not there it is lost. */
  signal(apply: (state: ThrottleState, now: number) => void): void {
    if (!this.state) return;
    apply(this.state, this.#world.serverNow);
    this.#pump();
  }

  /** An operator's change is in the row before it is answered. */
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
    this.life += 1;
    this.#open(state, this.life);
    return state;
  }

  /** Reads the row and marks it as not clean, in one step. */
  #open(state: ThrottleState, life: number): void {
    this.#afterStep(life, () => {
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
      this.#afterStep(life, (current) => {
        open(current, { stored: before, persistedBounds, epoch: life }, this.#world.serverNow);
        this.#writeNowAndThen(life);
        this.#pump();
      });
    });
  }

  /** Writes the end; if somebody came meanwhile, goes on. */
  #end(state: ThrottleState, life: number): void {
    close(state);
    const row = toStoredDomain(state, true);
    this.#afterStep(life, () => {
      this.row = row;
      this.#afterStep(life, (current) => {
        if (mayEnd(current)) this.state = null;
        else this.#open(current, life);
      });
    });
  }

  /** An activity takes its time, and the throttle may be terminated before or after it did its work. */
  #afterStep(life: number, act: (state: ThrottleState) => void, isTooLate: () => void = () => {}): void {
    this.#world.after(this.#world.between(1, 300), () => {
      if (this.life === life && this.state) act(this.state);
      else isTooLate();
    });
  }

  #writeNowAndThen(life: number): void {
    this.#world.after(WRITE_EVERY_MS, () => {
      if (this.life !== life || this.state?.openedAt == null) return;
      this.#write(this.state, life);
      this.#writeNowAndThen(life);
    });
  }

  /** One write at a time; what it says counts when the throttle hears that it is done. */
  #write(state: ThrottleState, life: number): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const row = toStoredDomain(state, false);
    beginPersist(state, row);
    const done = (): void => {
      this.#isWriting = false;
    };
    this.#afterStep(
      life,
      () => {
        this.row = row;
        this.#afterStep(
          life,
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
    if (state.openedAt !== null && boundsTooNarrow(state)) this.#write(state, this.life);
    for (const { workflowId, lease } of grants) {
      this.#note(state, lease);
      this.#world.send(() => this.#deliver(workflowId, lease));
    }
    const lookAt = wakeAt ?? idleAt(state);
    this.#timer += 1;
    if (lookAt === null) return;
    const timer = this.#timer;
    // A timer fires a little after its time, never before.
    this.#world.after(lookAt - now + this.#world.between(1, 20), () => {
      if (timer === this.#timer) this.#wake();
    });
  }

  #wake(): void {
    if (this.state && isIdle(this.state, this.#world.serverNow)) {
      this.#end(this.state, this.life);
    } else this.#pump();
  }

  #deliver(workflowId: string, lease: Lease): void {
    // A signal that is repeated after it was heard is known to the server, closed page or not.
    if (this.pages.get(workflowId)?.hear(lease)) this.#heard.add(lease.id);
    if (this.#heard.has(lease.id)) return;
    this.#world.send(() => this.signal((state, now) => reportUndelivered(state, lease.id, now)));
  }

  #note(state: ThrottleState, lease: Lease): void {
    const asked = this.#asks.get(lease.ticket);
    if (!asked) throw new Error(`${lease.id} was granted to a ticket that never asked`);
    if (this.granted.has(lease.id)) throw new Error(`${lease.id} was granted twice`);
    const granted = { lease, ask: asked, life: this.life };
    this.granted.set(lease.id, granted);
    this.#check(state, granted);
  }
}
