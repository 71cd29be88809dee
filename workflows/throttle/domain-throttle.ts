/**
 * One domain's throttle: a long-lived workflow that carries messages and timers for the rules in ./throttle. Nothing is
 * decided here. Handlers answer at once and never wait; the loop below acts on what they left behind.
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
import { isGone } from '../page/slot-client.ts';
import { throttle as steps } from '../proxies.ts';

export interface ThrottleInput {
  domain: string;
  config: ThrottleConfig;
  /** Set by continue-as-new. */
  state?: ThrottleState;
  /** The run before learned something that is to be written down at once, and did not come to it. */
  writeAtOnce?: true;
}

/** How often what was learned is written down while the throttle lives. */
const SAVE_EVERY_MS = 60_000;

export async function DomainThrottle({ domain, config, state, writeAtOnce }: ThrottleInput): Promise<void> {
  await new Shell(state ?? rules.newThrottle(domain, config), writeAtOnce === true).run();
}

class Shell {
  /** Something happened that the loop has not looked at yet. */
  private stirred = true;
  /** Grants on their way: one that is not waited for is dropped when this run ends. */
  private delivering = 0;
  /** Times of the timers that run. None is ever cancelled: one that fires for nothing is cheaper than its cancellation. */
  private armed: number[] = [];
  private saving = false;
  private unsaved = false;
  /** 0: what was learned since is dear, and is written down at once. */
  private savedAt = Date.now();

  constructor(
    private readonly state: ThrottleState,
    writeAtOnce: boolean,
  ) {
    // A run that continues another does not know what that one had yet to write.
    if (state.openedAt !== null) this.unsaved = true;
    if (writeAtOnce) this.savedAt = 0;
    // In the constructor, so that no message of the first activation finds the door closed.
    this.listen();
  }

  async run(): Promise<void> {
    const { state } = this;
    const { domain } = state;
    for (;;) {
      if (state.openedAt === null) {
        const read = await steps.openDomain.executeWithOptions(
          { summary: truncateSummary(`read what is known of ${domain}`) },
          [{ domain, bounds: rules.boundsToPersist(state) }],
        );
        rules.open(state, read, Date.now());
      }
      await this.serve();
      // From here on asks are only queued: a grant after the clean end was written would be forgotten by the next life.
      rules.close(state);
      await this.save(true);
      if (rules.mayEnd(state) && !this.unsaved) return;
    }
  }

  /** Grants slots until nobody has wanted one for long. */
  private async serve(): Promise<void> {
    const { state } = this;
    for (;;) {
      const now = Date.now();
      if (rules.isIdle(state, now) && !this.saving) return;
      if (workflowInfo().continueAsNewSuggested) await this.renew();
      const { grants, wakeAt } = rules.tick(state, now, Math.random);
      for (const grant of grants) void this.deliver(grant);
      const saveDue = rules.boundsTooNarrow(state) || (this.unsaved && now >= this.savedAt + SAVE_EVERY_MS);
      if (saveDue && !this.saving) {
        // Fails only when this workflow is cancelled; the wait below hears of that by itself.
        this.save(false).catch(() => {});
      }
      this.arm(wakeAt, 'look at the line again');
      // The end of a write stirs this loop by itself; until then these times may have passed, and timers would spin.
      if (!this.saving) {
        this.arm(rules.idleAt(state), 'end, if nobody asks,');
        if (this.unsaved) this.arm(this.savedAt + SAVE_EVERY_MS, 'write down what was learned');
      }
      this.stirred = false;
      await condition(() => this.stirred);
      // Answers go before whatever else a task leads to, also where it brought more than the ask. What one worker takes for
      // one task another may take for two (temporalio/sdk-rust, issue 1146), and both must say the same in the same order.
      await condition(allHandlersFinished);
    }
  }

  private listen(): void {
    const { state } = this;
    setHandler(
      acquireUpdate,
      (ask, nonce) => ({ ...this.stir(() => rules.ask(state, ask, Date.now(), Math.random)), nonce }),
      { validator: (ask: Ask, _nonce: string) => refuse(rules.validateAsk(ask)) },
    );
    setHandler(releaseSignal, (release) =>
      this.stir(() => {
        rules.release(state, release, Date.now(), Math.random);
        if (isDearlyLearned(release)) this.savedAt = 0;
      }),
    );
    setHandler(startedSignal, ({ leaseId, ...start }) =>
      this.stir(() => rules.reportStarted(state, leaseId, start, Date.now())),
    );
    setHandler(withdrawSignal, ({ ticket }) => this.stir(() => rules.withdraw(state, ticket, Date.now())));
    setHandler(pauseUpdate, () => this.operate(() => rules.pause(state)));
    setHandler(resumeUpdate, () => this.operate(() => rules.resume(state)));
    setHandler(
      setDelayUpdate,
      (raw) => {
        const read = rules.parseOperatorDelay(raw);
        return this.operate(() => {
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
      this.operate(() => {
        rules.reset(state);
      }),
    );
    setHandler(stateQuery, () => rules.view(state, Date.now()));
    setHandler(positionQuery, (workflowId) => rules.queuePositionOf(state, workflowId, Date.now()));
  }

  private stir<T>(change: () => T): T {
    this.stirred = true;
    this.unsaved = true;
    return change();
  }

  /** An operator's word is written down at once. */
  private operate(change: () => void): rules.ThrottleView {
    this.stir(change);
    this.savedAt = 0;
    return rules.view(this.state, Date.now());
  }

  private async deliver({ workflowId, lease }: Grant): Promise<void> {
    this.delivering += 1;
    try {
      await getExternalWorkflowHandle(workflowId).signal(grantedSignal, lease);
    } catch (error) {
      const now = Date.now();
      // Closed: nobody has the lease, the next in line gets the slot. Any other failure: who knows.
      if (isGone(error)) this.stir(() => rules.reportUndelivered(this.state, lease.id, now));
      else
        this.stir(() =>
          rules.release(this.state, { leaseId: lease.id, use: { kind: 'lost' } }, now, Math.random),
        );
    } finally {
      this.delivering -= 1;
    }
  }

  private arm(at: number | null, what: string): void {
    if (at === null || this.armed.some((earlier) => earlier <= at)) return;
    this.armed.push(at);
    const ms = Math.max(1, at - Date.now());
    const wake = (): void => {
      this.armed = this.armed.filter((armed) => armed !== at);
      this.stirred = true;
    };
    // Rejected only on cancellation, as above.
    void sleep(ms, { summary: `${what} in ${formatDuration(ms)}` }).then(wake, wake);
  }

  private async save(clean: boolean): Promise<void> {
    const { state } = this;
    const { domain, epoch } = state;
    this.saving = true;
    this.unsaved = false;
    this.savedAt = Date.now();
    const stored = rules.toStoredDomain(state, clean);
    rules.beginPersist(state, stored);
    await steps.saveDomain.executeWithOptions(
      { summary: truncateSummary(`write down what was learned of ${domain}`) },
      [{ domain, epoch, stored }],
    );
    rules.endPersist(state, stored);
    this.saving = false;
    this.stirred = true;
  }

  /** Continues as new once nothing is under way; nothing is granted meanwhile, so that comes soon. */
  private async renew(): Promise<never> {
    await condition(() => this.delivering === 0 && !this.saving && allHandlersFinished());
    const { domain, config } = this.state;
    const next: ThrottleInput = { domain, config, state: this.state };
    return continueAsNew<typeof DomainThrottle>(this.savedAt === 0 ? { ...next, writeAtOnce: true } : next);
  }
}

/** A site's own wish, and an outage that somebody had to run into, are written down at once. */
function isDearlyLearned({ use, crawlDelay }: Release): boolean {
  const isBlock = use.kind === 'started' && (use.retryAfterMs ?? 0) > 0;
  return (
    crawlDelay !== undefined || isBlock || (use.kind === 'started' && use.responseClass === 'unreachable')
  );
}

function refuse(reason: string | null): void {
  if (reason !== null) throw ApplicationFailure.nonRetryable(reason, 'BadInput');
}
