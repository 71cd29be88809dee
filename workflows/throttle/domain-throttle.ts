/**
 * One domain's throttle: a long-lived workflow that carries messages for the rules in src/throttle, which decide everything.
 * Handlers answer as soon as the domain's row has been read; the loop in `serve` persists what they changed.
 */
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { formatDuration, truncateSummary } from '../../src/core/format.ts';
import type { CarriedOut, OperatorOrder } from '../../src/core/order.ts';
import type { Ask, Release, ThrottleConfig, ThrottleState } from '../../src/throttle/index.ts';
import * as rules from '../../src/throttle/index.ts';
import { AnswersFirst } from '../answers-first.ts';
import {
  acquireUpdate,
  askAgainSignal,
  pauseUpdate,
  releaseSignal,
  resetUpdate,
  resumeUpdate,
  setDelayUpdate,
  slotQuery,
  stateQuery,
} from '../messages.ts';
import { throttleSteps } from '../proxies.ts';
import { receivedOrder, refuse, validateOrigin } from '../received-order.ts';

export interface ThrottleInput {
  domain: string;
  config: ThrottleConfig;
  /** Set by continue-as-new. */
  state?: ThrottleState;
  /** Set by continue-as-new: orders that the earlier run has carried out and not recorded. */
  orders?: CarriedOut[];
}

/** How often counters and averages are persisted while the throttle runs. Rules are at once. */
const SAVE_INTERVAL_MS = 5 * 60_000;

export async function DomainThrottle({ domain, config, state, orders }: ThrottleInput): Promise<void> {
  await new ThrottleRunner(state ?? rules.newThrottle(domain, config), orders ?? []).run();
}

class ThrottleRunner {
  /** The loop has not acted on the last change yet. */
  private changed = true;
  /** Signals on their way: one that is not awaited is dropped when this run ends. */
  private signalling = 0;
  /** When the running timers fire. None is ever cancelled: firing for nothing costs less than a cancellation. */
  private wakeups: number[] = [];
  private saving = false;
  private unsaved = false;
  private savedAt = Date.now();
  private persistedRules = '';
  private readonly answers = new AnswersFirst();

  constructor(
    private readonly state: ThrottleState,
    /** Orders that are not recorded yet. */
    private readonly orders: CarriedOut[],
  ) {
    // A run that continues another does not know what that one still had to persist.
    if (state.openedAt !== null) this.unsaved = true;
    // In the constructor, so that every message of the first activation finds its handler.
    this.registerHandlers();
  }

  async run(): Promise<void> {
    if (this.state.openedAt === null) await this.open();
    for (;;) {
      await this.serve();
      if (!this.unsaved) return;
      await this.save();
    }
  }

  private async open(): Promise<void> {
    const { domain } = this.state;
    const opened = await throttleSteps.openDomain.executeWithOptions(
      { summary: truncateSummary(`read the stored state of ${domain}`) },
      [{ domain }],
    );
    rules.open(this.state, opened, Date.now());
    this.persistedRules = this.currentRules();
  }

  /** Answers until the domain has been idle for long enough. */
  private async serve(): Promise<void> {
    const { state } = this;
    for (;;) {
      this.changed = false;
      const now = Date.now();
      if (rules.isIdle(state, now) && !this.saving && this.signalling === 0) return;
      if (workflowInfo().continueAsNewSuggested) await this.continueAsNew();
      if (!this.saving) {
        const mayWait = this.currentRules() === this.persistedRules && this.orders.length === 0;
        const saveAt = mayWait ? this.savedAt + SAVE_INTERVAL_MS : now;
        // Fails only when this workflow is cancelled, which the wait below notices by itself.
        if (this.unsaved && saveAt <= now) this.save().catch(() => {});
        else if (this.unsaved) this.scheduleWakeup(saveAt, 'persist the state');
      }
      // The end of a save wakes this loop by itself. Until then this time may have passed, and timers would spin.
      if (!this.saving) this.scheduleWakeup(rules.idleAt(state), 'end if idle,');
      await condition(() => this.changed);
      // Answers go out before anything else that a task leads to, even if the task brought more than the ask. One worker may
      // see one task where another sees two (temporalio/sdk-rust, issue 1146); both must send the same in the same order.
      await condition(allHandlersFinished);
    }
  }

  private registerHandlers(): void {
    const { state } = this;
    setHandler(
      acquireUpdate,
      async (asks, reports) => {
        await this.opened();
        return this.change(() => {
          const now = Date.now();
          for (const report of reports) rules.release(state, report, now, Math.random);
          return asks.map((ask) => rules.ask(state, ask, now, Math.random));
        });
      },
      { validator: (asks: Ask[], _reports: Release[]) => refuse(rules.validateAsks(asks)) },
    );
    setHandler(releaseSignal, async (reports: Release[]) => {
      await this.opened();
      this.change(() => {
        for (const report of reports) rules.release(state, report, Date.now(), Math.random);
      });
    });
    const withValidOrigin = { validator: validateOrigin };
    setHandler(
      pauseUpdate,
      (origin) => this.applyOrder(receivedOrder('pause', origin), () => rules.pause(state)),
      withValidOrigin,
    );
    setHandler(
      resumeUpdate,
      (origin) => this.applyOrder(receivedOrder('resume', origin), () => rules.resume(state)),
      withValidOrigin,
    );
    setHandler(
      setDelayUpdate,
      (raw, origin) =>
        this.applyOrder(receivedOrder('delay', origin), () => {
          const read = rules.parseOperatorDelay(raw);
          if (read.ok) rules.setDelay(state, read.delay);
        }),
      {
        validator: (raw, origin) => {
          const read = rules.parseOperatorDelay(raw);
          refuse(read.ok ? null : read.reason);
          validateOrigin(origin);
        },
      },
    );
    setHandler(
      resetUpdate,
      (origin) => this.applyOrder(receivedOrder('reset', origin), () => rules.reset(state, Date.now())),
      withValidOrigin,
    );
    setHandler(stateQuery, () => rules.view(state, Date.now()));
    setHandler(slotQuery, (workflowId) => rules.slotOf(state, workflowId));
  }

  /** What arrives before the row has been read waits for it: the row may change every answer. */
  private async opened(): Promise<void> {
    if (this.state.openedAt === null) await condition(() => this.state.openedAt !== null);
  }

  private change<T>(apply: () => T): T {
    this.changed = true;
    this.unsaved = true;
    return apply();
  }

  /** If it changes anything, slots that are planned for later are planned anew. */
  private async applyOrder(order: OperatorOrder, apply: () => void): Promise<rules.ThrottleView> {
    await this.opened();
    this.answers.receive();
    const before = rules.rulesOf(this.state);
    this.change(apply);
    const now = Date.now();
    const effect = rules.describeChange(before, rules.rulesOf(this.state));
    this.orders.push({ ...order, effect });
    if (this.currentRules() !== JSON.stringify(before))
      for (const workflowId of rules.replan(this.state, now)) void this.askToReturn(workflowId);
    return rules.view(this.state, now);
  }

  private async askToReturn(workflowId: string): Promise<void> {
    this.signalling += 1;
    // A page that has ended does not return, and one that does not get the signal asks again later by itself.
    await getExternalWorkflowHandle(workflowId)
      .signal(askAgainSignal)
      .catch(() => {});
    this.signalling -= 1;
    this.changed = true;
  }

  private currentRules(): string {
    return JSON.stringify(rules.rulesOf(this.state));
  }

  private scheduleWakeup(at: number | null, what: string): void {
    if (at === null || this.wakeups.some((earlier) => earlier <= at)) return;
    this.wakeups.push(at);
    const ms = Math.max(1, at - Date.now());
    const wake = (): void => {
      this.wakeups = this.wakeups.filter((wakeup) => wakeup !== at);
      this.changed = true;
    };
    // Rejected only on cancellation, as above.
    void sleep(ms, { summary: truncateSummary(`${what} in ${formatDuration(ms)}`) }).then(wake, wake);
  }

  private async save(): Promise<void> {
    const { state } = this;
    const { domain, epoch } = state;
    this.saving = true;
    this.unsaved = false;
    this.savedAt = Date.now();
    this.persistedRules = this.currentRules();
    const orders = this.orders.splice(0);
    const saved = await throttleSteps.saveDomain.executeWithOptions(
      { summary: truncateSummary(`persist the state of ${domain}`) },
      [{ domain, epoch, stored: rules.toStoredDomain(state), orders }],
    );
    if (!saved) await this.reopen(orders);
    this.saving = false;
    this.changed = true;
  }

  /**
   * A later execution has opened the row: Temporal was restored from a backup, and this one runs again. The row has what the later one
   * learned, but what operators have ordered since is only here.
   */
  private async reopen(unsaved: CarriedOut[]): Promise<void> {
    const { state } = this;
    const { paused, operatorDelay } = state;
    state.openedAt = null;
    await this.open();
    if (unsaved.length > 0) Object.assign(state, { paused, operatorDelay });
    this.orders.unshift(...unsaved);
    this.unsaved = true;
  }

  /**
   * Waits until nothing is in progress. The next run records the orders that this one has not: if each had to be recorded first, a
   * stream of them would keep this run from ever ending. An ask whose answer is rejected together with the task is repeated by its step.
   */
  private async continueAsNew(): Promise<never> {
    const isQuiet = (): boolean => this.signalling === 0 && !this.saving && allHandlersFinished();
    while (!isQuiet() || !this.answers.areSent) {
      await condition(isQuiet);
      await this.answers.sent();
    }
    const { state, orders } = this;
    const { domain, config } = state;
    return continueAsNew<typeof DomainThrottle>({ domain, config, state, orders });
  }
}
