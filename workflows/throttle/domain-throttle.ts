/**
 * One domain's throttle: a long-lived workflow that carries messages and timers for the rules in src/throttle, which decide
 * everything. Handlers answer at once and never wait; the loop in `serve` acts on the changes they made.
 */
import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { formatDuration, truncateSummary } from '../../src/core/format.ts';
import type { Ask, Grant, Release, ThrottleConfig, ThrottleState } from '../../src/throttle/index.ts';
import * as rules from '../../src/throttle/index.ts';
import {
  acquireUpdate,
  grantedSignal,
  isReceiverGone,
  pauseUpdate,
  positionQuery,
  releaseSignal,
  resetUpdate,
  resumeUpdate,
  setDelayUpdate,
  startedSignal,
  stateQuery,
  withdrawSignal,
} from '../messages.ts';
import { throttleSteps } from '../proxies.ts';

export interface ThrottleInput {
  domain: string;
  config: ThrottleConfig;
  /** Set by continue-as-new. */
  state?: ThrottleState;
  /** The run before had something to persist at once and did not get to it. */
  persistNow?: true;
}

/** How often changes are persisted while the throttle runs. */
const SAVE_INTERVAL_MS = 60_000;

export async function DomainThrottle({ domain, config, state, persistNow }: ThrottleInput): Promise<void> {
  await new ThrottleRunner(state ?? rules.newThrottle(domain, config), persistNow === true).run();
}

class ThrottleRunner {
  /** The loop has not acted on the last change yet. */
  private changed = true;
  /** Grants being delivered: one that is not awaited is dropped when this run ends. */
  private delivering = 0;
  /** When the running timers fire. None is ever cancelled: firing for nothing costs less than a cancellation. */
  private wakeups: number[] = [];
  private saving = false;
  private unsaved = false;
  /** 0: persist the unsaved changes now. */
  private savedAt = Date.now();

  constructor(
    private readonly state: ThrottleState,
    persistNow: boolean,
  ) {
    // A run that continues another does not know what that one still had to persist.
    if (state.openedAt !== null) this.unsaved = true;
    if (persistNow) this.savedAt = 0;
    // In the constructor, so that every message of the first activation finds its handler.
    this.registerHandlers();
  }

  async run(): Promise<void> {
    const { state } = this;
    const { domain } = state;
    for (;;) {
      if (state.openedAt === null) {
        const opened = await throttleSteps.openDomain.executeWithOptions(
          { summary: truncateSummary(`read the stored state of ${domain}`) },
          [{ domain, bounds: rules.boundsToPersist(state) }],
        );
        rules.open(state, opened, Date.now());
      }
      await this.serve();
      // From here on asks are only queued: the next run would not know of a grant after the clean end was persisted.
      rules.close(state);
      await this.save(true);
      if (rules.mayEnd(state) && !this.unsaved) return;
    }
  }

  /** Grants slots until the domain has been idle for long enough. */
  private async serve(): Promise<void> {
    const { state } = this;
    for (;;) {
      const now = Date.now();
      if (rules.isIdle(state, now) && !this.saving) return;
      if (workflowInfo().continueAsNewSuggested) await this.continueAsNew();
      const { grants, wakeAt } = rules.tick(state, now, Math.random);
      for (const grant of grants) void this.deliver(grant);
      const saveDue =
        rules.boundsTooNarrow(state) || (this.unsaved && now >= this.savedAt + SAVE_INTERVAL_MS);
      if (saveDue && !this.saving) {
        // Fails only when this workflow is cancelled, which the wait below notices by itself.
        this.save(false).catch(() => {});
      }
      this.scheduleWakeup(wakeAt, 'look at the queue again');
      // The end of a save wakes this loop by itself. Until then these times may have passed, and timers would spin.
      if (!this.saving) {
        this.scheduleWakeup(rules.idleAt(state), 'end if idle,');
        if (this.unsaved) this.scheduleWakeup(this.savedAt + SAVE_INTERVAL_MS, 'persist the state');
      }
      this.changed = false;
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
      (ask, nonce) => ({ ...this.change(() => rules.ask(state, ask, Date.now(), Math.random)), nonce }),
      { validator: (ask: Ask, _nonce: string) => refuse(rules.validateAsk(ask)) },
    );
    setHandler(releaseSignal, (release) =>
      this.change(() => {
        rules.release(state, release, Date.now(), Math.random);
        if (mustPersistNow(release)) this.savedAt = 0;
      }),
    );
    setHandler(startedSignal, ({ leaseId, ...start }) =>
      this.change(() => rules.reportStarted(state, leaseId, start, Date.now())),
    );
    setHandler(withdrawSignal, ({ ticket }) => this.change(() => rules.withdraw(state, ticket, Date.now())));
    setHandler(pauseUpdate, () => this.applyOperatorChange(() => rules.pause(state)));
    setHandler(resumeUpdate, () => this.applyOperatorChange(() => rules.resume(state)));
    setHandler(
      setDelayUpdate,
      (raw) => {
        const read = rules.parseOperatorDelay(raw);
        return this.applyOperatorChange(() => {
          if (read.ok) rules.setDelay(state, read.delay);
        });
      },
      {
        validator: (raw) => {
          const read = rules.parseOperatorDelay(raw);
          refuse(read.ok ? null : read.reason);
        },
      },
    );
    setHandler(resetUpdate, () =>
      this.applyOperatorChange(() => {
        rules.reset(state);
      }),
    );
    setHandler(stateQuery, () => rules.view(state, Date.now()));
    setHandler(positionQuery, (workflowId) => rules.queuePositionOf(state, workflowId, Date.now()));
  }

  private change<T>(apply: () => T): T {
    this.changed = true;
    this.unsaved = true;
    return apply();
  }

  /** What an operator changes is persisted at once. */
  private applyOperatorChange(apply: () => void): rules.ThrottleView {
    this.change(apply);
    this.savedAt = 0;
    return rules.view(this.state, Date.now());
  }

  private async deliver({ workflowId, lease }: Grant): Promise<void> {
    this.delivering += 1;
    try {
      await getExternalWorkflowHandle(workflowId).signal(grantedSignal, lease);
    } catch (error) {
      const now = Date.now();
      // If the page has ended, no page has the lease, and the next in the queue gets the slot. Otherwise the page may have it.
      if (isReceiverGone(error)) this.change(() => rules.reportUndelivered(this.state, lease.id, now));
      else
        this.change(() =>
          rules.release(this.state, { leaseId: lease.id, use: { kind: 'lost' } }, now, Math.random),
        );
    } finally {
      this.delivering -= 1;
    }
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

  private async save(clean: boolean): Promise<void> {
    const { state } = this;
    const { domain, epoch } = state;
    this.saving = true;
    this.unsaved = false;
    this.savedAt = Date.now();
    const stored = rules.toStoredDomain(state, clean);
    rules.beginPersist(state, stored);
    await throttleSteps.saveDomain.executeWithOptions(
      { summary: truncateSummary(`persist the state of ${domain}`) },
      [{ domain, epoch, stored }],
    );
    rules.endPersist(state, stored);
    this.saving = false;
    this.changed = true;
  }

  /** Waits until nothing is in progress. That is soon, because nothing is granted meanwhile. */
  private async continueAsNew(): Promise<never> {
    await condition(() => this.delivering === 0 && !this.saving && allHandlersFinished());
    const { domain, config } = this.state;
    const next: ThrottleInput = { domain, config, state: this.state };
    return continueAsNew<typeof DomainThrottle>(this.savedAt === 0 ? { ...next, persistNow: true } : next);
  }
}

/** A Crawl-delay, a Retry-After or an outage is persisted at once: each was learned at the site's cost. */
function mustPersistNow({ use, crawlDelay }: Release): boolean {
  const isBlock = use.kind === 'started' && (use.retryAfterMs ?? 0) > 0;
  return (
    crawlDelay !== undefined || isBlock || (use.kind === 'started' && use.responseClass === 'unreachable')
  );
}

function refuse(reason: string | null): void {
  if (reason !== null) throw ApplicationFailure.nonRetryable(reason, 'BadInput');
}
