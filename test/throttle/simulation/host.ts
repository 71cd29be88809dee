/**
 * The Temporal server and the throttle workflow in one: delivers messages to the throttle, persists its rules, ends and
 * restarts it, continues it as new, terminates it. Every grant and every request is checked.
 */
import type { Gate, GateRules } from '../../../src/core/gate.ts';
import {
  type Ask,
  ask,
  idleAt,
  isIdle,
  type Lease,
  newThrottle,
  open,
  type Release,
  release,
  replan,
  rulesOf,
  type SlotAnswer,
  type ThrottleConfig,
  type ThrottleState,
  toStoredDomain,
} from '../../../src/throttle/index.ts';
import type { Store } from './store.ts';
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

export interface Checks {
  grant(state: ThrottleState, granted: Granted): void;
  /** When a request passes the gate. `running`: leases whose fetch is really running. */
  entry(granted: Granted, rules: GateRules, gate: Gate, running: string[]): void;
}

export interface Receiver {
  askAgain(): void;
}

export class Host {
  readonly #world: World;
  readonly #store: Store;
  readonly #config: ThrottleConfig;
  readonly #checks: Checks;
  readonly granted = new Map<string, Granted>();
  readonly pages = new Map<string, Receiver>();
  #answers = new Map<string, SlotAnswer[]>();
  #whenOpen: Array<() => void> = [];
  state: ThrottleState | null = null;
  execution = 0;
  #timer = 0;
  #saved = '';
  #isSaving = false;

  constructor(world: World, store: Store, config: ThrottleConfig, checks: Checks) {
    this.#world = world;
    this.#store = store;
    this.#config = config;
    this.#checks = checks;
  }

  /** Update-with-start. It is answered once the throttle has read its row; repeated, it gets its recorded answer. */
  ask(asks: Ask[], reports: Release[], updateId: string, answer: (answers: SlotAnswer[]) => void): void {
    const state = this.state ?? this.#begin();
    if (state.openedAt === null) this.#whenOpen.push(() => this.ask(asks, reports, updateId, answer));
    else answer(this.#answers.get(updateId) ?? this.#answer(state, asks, reports, updateId));
  }

  #answer(state: ThrottleState, asks: Ask[], reports: Release[], updateId: string): SlotAnswer[] {
    for (const report of reports) release(state, report, this.#world.serverNow, this.#world.random);
    const answers = asks.map((asked) => this.#answerOne(state, asked));
    this.#answers.set(updateId, answers);
    this.#pump();
    return answers;
  }

  #answerOne(state: ThrottleState, asked: Ask): SlotAnswer {
    const answer = ask(state, asked, this.#world.serverNow, this.#world.random);
    if (answer.kind === 'granted' && !this.granted.has(answer.lease.id)) {
      const granted = { lease: answer.lease, ask: asked, execution: this.execution };
      this.granted.set(answer.lease.id, granted);
      this.#checks.grant(state, granted);
    }
    return answer;
  }

  /** A signal is lost if the throttle is not running. */
  signal(apply: (state: ThrottleState, now: number) => void): void {
    if (!this.state || this.state.openedAt === null) return;
    apply(this.state, this.#world.serverNow);
    this.#pump();
  }

  operate(apply: (state: ThrottleState) => void): void {
    if (!this.state || this.state.openedAt === null) return;
    apply(this.state);
    for (const workflowId of replan(this.state, this.#world.serverNow))
      this.#world.send(() => this.pages.get(workflowId)?.askAgain());
    this.#pump();
  }

  continueAsNew(): void {
    if (this.state) this.state = JSON.parse(JSON.stringify(this.state));
    this.#pump();
  }

  terminate(): void {
    this.state = null;
    this.#isSaving = false;
    // The server forgets the updates of a closed workflow.
    this.#answers = new Map();
    this.#whenOpen = [];
  }

  checkEntry(lease: Lease, rules: GateRules, gate: Gate, running: string[]): void {
    const granted = this.granted.get(lease.id);
    if (!granted) throw new Error(`a request was sent without a lease: ${lease.id}`);
    this.#checks.entry(granted, rules, gate, running);
  }

  #begin(): ThrottleState {
    const state = newThrottle(DOMAIN, this.#config);
    this.state = state;
    this.execution += 1;
    const { execution } = this;
    this.#afterStep(execution, () => {
      const { stored } = this.#store;
      this.#store.save(stored ?? toStoredDomain(state));
      this.#afterStep(execution, (current) => {
        open(current, { stored, epoch: execution }, this.#world.serverNow);
        this.#saved = JSON.stringify(rulesOf(current));
        this.#saveRegularly(execution);
        for (const answer of this.#whenOpen.splice(0)) answer();
        this.#pump();
      });
    });
    return state;
  }

  /** An activity takes time, and the throttle may be terminated before or after it. */
  #afterStep(execution: number, act: (state: ThrottleState) => void): void {
    this.#world.after(this.#world.between(1, 300), () => {
      if (this.execution === execution && this.state) act(this.state);
    });
  }

  #saveRegularly(execution: number): void {
    this.#world.after(WRITE_INTERVAL_MS, () => {
      if (this.execution !== execution || !this.state) return;
      this.#save(this.state);
      this.#saveRegularly(execution);
    });
  }

  /** One write at a time. */
  #save(state: ThrottleState): void {
    if (this.#isSaving) return;
    this.#isSaving = true;
    const { execution } = this;
    const stored = toStoredDomain(state);
    this.#saved = JSON.stringify(rulesOf(state));
    this.#afterStep(execution, () => {
      this.#store.save(stored);
      this.#afterStep(execution, () => {
        this.#isSaving = false;
        this.#pump();
      });
    });
  }

  #pump(): void {
    const { state } = this;
    if (!state || state.openedAt === null) return;
    if (JSON.stringify(rulesOf(state)) !== this.#saved) this.#save(state);
    const nextAt = idleAt(state);
    this.#timer += 1;
    if (nextAt === null) return;
    const timer = this.#timer;
    // A timer fires a little late, never early.
    this.#world.after(nextAt - this.#world.serverNow + this.#world.between(1, 20), () => {
      if (timer === this.#timer) this.#endIfIdle();
    });
  }

  /** Writes the final row, and continues if a page has asked in the meantime. */
  #endIfIdle(): void {
    const { state, execution } = this;
    // The end of a save looks again.
    if (!state || this.#isSaving) return;
    if (!isIdle(state, this.#world.serverNow)) {
      this.#pump();
      return;
    }
    this.#isSaving = true;
    const stored = toStoredDomain(state);
    this.#afterStep(execution, () => {
      this.#store.save(stored);
      this.#afterStep(execution, (current) => {
        this.#isSaving = false;
        if (isIdle(current, this.#world.serverNow)) this.terminate();
        else this.#pump();
      });
    });
  }
}
