/** How a page gets slots: one ticket per slot, asked for until it is granted, and returned if it is no longer wanted. */
import { CancellationScope, setHandler, sleep, Trigger, workflowInfo } from '@temporalio/workflow';
import type { UndeliveredReport } from '../../src/core/activities.ts';
import { formatDuration, truncateSummary } from '../../src/core/format.ts';
import type { OpenAsk, PageCarry, PageInput, ReservedSlot } from '../../src/core/page-input.ts';
import { type Ask, askOf, LEAD_MS, type Lease, MAX_STAY_MS } from '../../src/core/slot-protocol.ts';
import { askAgainSignal } from '../messages.ts';
import { runStep } from '../run-step.ts';

export interface SlotRequest {
  domain: string;
  origin: string;
  atFront: boolean;
  /** The slot is of no use later than this after the first ask; null: wait for as long as it takes. */
  withinMs: number | null;
  /** The fetch may be done within the workflow task that asks. */
  mayStay: boolean;
}

export interface GrantedSlot {
  kind: 'granted';
  lease: Lease;
  ask: Ask;
  domain: string;
  askedAt: number;
}

export type NoSlot =
  /** The site cannot be reached: ask again at `until`. `givenUp`: this has lasted for too long. */
  | { kind: 'down'; until: number; since: number; reason: string; givenUp: boolean; askedAt: number }
  /** There was no slot within the time limit. */
  | { kind: 'timed-out'; reason: string; askedAt: number };

export type SlotResult =
  | GrantedSlot
  | NoSlot
  /** The page has nothing left to do; `crawlOver`: because its crawl has ended. */
  | { kind: 'page-over'; crawlOver: boolean }
  /** The history is long enough: continue in a new run, with the same ticket. */
  | { kind: 'continue-as-new' };

export class SlotClient {
  private readonly firstRunId: string;
  private tickets: number;
  private open: OpenAsk | null = null;
  /** To the first ask, if that was sent when the page was admitted. */
  private reservedAnswer: ReservedSlot['answer'];
  /** Resolved by the signal `askAgain`. */
  private woken = new Trigger<void>();
  /** The slot that the page sleeps for. */
  private reserved: { domain: string; lease: Lease } | null = null;

  constructor(private readonly input: PageInput) {
    this.firstRunId = input.carry?.firstRunId ?? workflowInfo().runId;
    this.tickets = input.carry?.tickets ?? 0;
    this.open = input.carry?.open ?? null;
    if (input.carry === undefined && input.page.slot !== undefined) this.takeReserved(input.page.slot);
    // Before the first await, so that no signal finds the handler missing.
    setHandler(askAgainSignal, () => this.woken.resolve());
  }

  carry(): Pick<PageCarry, 'firstRunId' | 'tickets' | 'open'> {
    return { firstRunId: this.firstRunId, tickets: this.tickets, open: this.open };
  }

  /** Returns a lease that is due, or the reason why there is none. Never called while a lease is held. */
  async acquire({ withinMs, mayStay, ...request }: SlotRequest): Promise<SlotResult> {
    if (this.open === null) {
      this.tickets += 1;
      const ticket = `${this.firstRunId}:${this.tickets}`;
      this.open = { ...request, ticket, asks: 0, askedAt: Date.now() };
    }
    const { domain, askedAt } = this.open;
    const ask = this.ask(this.open);
    const deadline = withinMs === null ? Infinity : askedAt + withinMs;
    const timedOut = {
      kind: 'timed-out',
      reason: `No slot for ${domain} was free in time.`,
      askedAt,
    } as const;
    for (;;) {
      if (workflowInfo().continueAsNewSuggested) return { kind: 'continue-as-new' };
      const answer = this.reservedAnswer ?? (await this.askOnce(domain, ask));
      this.reservedAnswer = undefined;
      switch (answer.kind) {
        case 'page-over':
          this.open = null;
          return answer;
        case 'down': {
          this.open = null;
          const { retryAt: until, since, reason, givenUp } = answer;
          return { kind: 'down', until, since, reason, givenUp, askedAt };
        }
        case 'later':
          if (answer.retryAt >= deadline) {
            this.open = null;
            return timedOut;
          }
          await this.sleepUntil(answer.retryAt, `${answer.reason}: ask ${domain} again`);
          break;
        case 'granted': {
          const { lease } = answer;
          this.reserved = { domain, lease };
          if (lease.notBefore >= deadline) {
            await this.giveBack();
            this.open = null;
            return timedOut;
          }
          const isNear = answer.stays && mayStay && lease.notBefore - Date.now() <= MAX_STAY_MS;
          const isDue = isNear || (await this.sleepUntil(lease.notBefore - LEAD_MS, `slot for ${domain}`));
          if (!isDue) break;
          this.reserved = null;
          this.open = null;
          return { kind: 'granted', lease, ask, domain, askedAt };
        }
      }
    }
  }

  /** Reports what became of a lease, for a fetch that could not. */
  async release(domain: string, leaseId: string, report: UndeliveredReport): Promise<{ passed: boolean }> {
    return CancellationScope.nonCancellable(() =>
      runStep('releaseSlot', `return the slot for ${domain}`, { domain, leaseId, report }),
    );
  }

  /** Returns the slot that the page sleeps for, if there is one. */
  async giveBack(): Promise<void> {
    if (this.reserved === null) return;
    const { domain, lease } = this.reserved;
    this.reserved = null;
    await this.release(domain, lease.id, { use: { kind: whenNotPassedOn(lease) } });
  }

  /** The page that admitted this one has asked for its first slot. */
  private takeReserved({ ticket, answer }: ReservedSlot): void {
    const { domain, url } = this.input.page;
    this.tickets = 1;
    const asks = answer === undefined ? 0 : 1;
    this.open = { ticket, domain, origin: new URL(url).origin, atFront: false, asks, askedAt: Date.now() };
    this.reservedAnswer = answer;
  }

  private ask({ ticket, origin, atFront }: OpenAsk): Ask {
    const { crawlId, settings } = this.input;
    const { workflowId } = workflowInfo();
    return askOf(settings, { ticket, workflowId, crawlId, origin, atFront });
  }

  private askOnce(domain: string, ask: Ask) {
    const asks = this.open === null ? 1 : ++this.open.asks;
    const { pageId } = this.input.page;
    // A signal that came earlier was about an earlier answer.
    this.woken = new Trigger();
    // A local activity, although it waits for another workflow: throttles have a worker of their own and answer at once.
    const summary = `slot for ${domain}${asks > 1 ? `, ask ${asks}` : ''}`;
    return runStep('acquireSlot', summary, { pageId, domain, ask, asks, ...this.waitedForTask(asks) });
  }

  private waitedForTask(asks: number): { waitedMs?: number } {
    const isFirst = asks === 1 && this.tickets === 1 && this.input.page.nextAt === null;
    return isFirst ? { waitedMs: Date.now() - workflowInfo().startTime.getTime() } : {};
  }

  /** false: the page is to ask again instead. */
  private async sleepUntil(at: number, why: string): Promise<boolean> {
    const ms = at - Date.now();
    if (ms <= 0) return true;
    const summary = truncateSummary(`${why} in ${formatDuration(ms)}`);
    // The timer is not cancelled by the signal: a cancellation costs more than a stray wake-up.
    return Promise.race([sleep(ms, { summary }).then(() => true), this.woken.then(() => false)]);
  }
}

/** What becomes of a lease that its page does not use. An earlier run of this workflow task, which was lost, may still fetch with a quick one. */
export function whenNotPassedOn({ quick }: Lease): 'lost' | 'unused' {
  return quick ? 'lost' : 'unused';
}
