/** How a page gets slots: one ticket per slot, asked for until it is granted, and withdrawn if it is no longer wanted. */
import {
  CancellationScope,
  getExternalWorkflowHandle,
  setHandler,
  sleep,
  Trigger,
  workflowInfo,
} from '@temporalio/workflow';
import { formatDuration, ordinal, truncateSummary } from '../../src/core/format.ts';
import type { Asking, PageCarry, PageInput } from '../../src/core/page-input.ts';
import type { Ask, Lease, LeaseReport } from '../../src/core/slot-protocol.ts';
import { domainOfLease } from '../../src/throttle/grant.ts';
import { throttleId } from '../ids.ts';
import { grantedSignal, isReceiverGone, releaseSignal, withdrawSignal } from '../messages.ts';
import { runStep } from '../run-step.ts';

export interface SlotRequest {
  domain: string;
  origin: string;
  atFront: boolean;
  /** The slot is of no use later than this after the first ask; null: wait for as long as it takes. */
  withinMs: number | null;
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
  /** There was no slot within the time limit: the page has left the queue. */
  | { kind: 'timed-out'; reason: string; askedAt: number };

type PageOver = { kind: 'page-over'; crawlOver: boolean };

export type SlotResult =
  | GrantedSlot
  | NoSlot
  /** The page has nothing left to do; `crawlOver`: because its crawl has ended. */
  | PageOver
  /** The history is long enough: continue in a new run, with the same ticket. */
  | { kind: 'continue-as-new' };

type WithoutAskedAt<T> = T extends unknown ? Omit<T, 'askedAt'> : never;

/** The result of one ask. */
type AskResult = Pick<GrantedSlot, 'kind' | 'lease'> | WithoutAskedAt<NoSlot> | PageOver;

export class SlotClient {
  /** Grants by ticket: one may overtake the answer "queued" to its own ask. */
  private readonly grants = new Map<string, Lease>();
  private readonly firstRunId: string;
  private tickets: number;
  private open: PageCarry['open'];
  private granted: Trigger<void> | null = null;
  private strayReleases: Promise<void>[] = [];

  constructor(private readonly input: PageInput) {
    this.firstRunId = input.carry?.firstRunId ?? workflowInfo().runId;
    this.tickets = input.carry?.tickets ?? 0;
    this.open = input.carry?.open ?? null;
    // Before the first await, so that no grant finds the handler missing.
    setHandler(grantedSignal, (lease) => {
      if (!this.isOurs(lease)) {
        this.strayReleases.push(this.releaseStray(lease));
        return;
      }
      this.grants.set(lease.ticket, lease);
      this.granted?.resolve();
    });
  }

  carry(): Pick<PageCarry, 'firstRunId' | 'tickets' | 'open'> {
    return { firstRunId: this.firstRunId, tickets: this.tickets, open: this.open };
  }

  /** Returns a lease, or the reason why there is none. Never called while a lease is held. */
  async acquire({ withinMs, ...request }: SlotRequest): Promise<SlotResult> {
    if (this.open === null) {
      this.tickets += 1;
      this.open = { ...request, asks: 0, askedAt: Date.now() };
    }
    const { domain, askedAt } = this.open;
    const ask = this.ask(this.open);
    const deadline = withinMs === null ? Infinity : askedAt + withinMs;
    for (;;) {
      if (workflowInfo().continueAsNewSuggested && !this.grants.has(ask.ticket))
        return { kind: 'continue-as-new' };
      const result = await this.askOnce(domain, ask, deadline);
      if (result === null) continue;
      // Left in the queue, the ticket would be granted to a later run of this page, which does not know it.
      if (result.kind === 'timed-out' || (result.kind === 'page-over' && this.open.asks > 1))
        await this.withdraw();
      this.open = null;
      switch (result.kind) {
        case 'page-over':
          return result;
        case 'timed-out':
        case 'down':
          return { ...result, askedAt };
        case 'granted':
          return { ...result, ask, domain, askedAt };
      }
    }
  }

  /** Reports what became of a lease, for a fetch that could not. */
  async release(domain: string, leaseId: string, report: LeaseReport): Promise<void> {
    await signalThrottle(domain, (throttle) => throttle.signal(releaseSignal, { leaseId, ...report }));
  }

  /** Leaves the queue, if the page is in one. This also releases a lease that was granted meanwhile. */
  async withdraw(): Promise<void> {
    if (this.open === null) return;
    const { domain } = this.open;
    const { ticket } = this.ask(this.open);
    this.open = null;
    await signalThrottle(domain, (throttle) => throttle.signal(withdrawSignal, { ticket }));
  }

  /** To be awaited before the page ends. */
  async strayLeasesReleased(): Promise<void> {
    // Another one may arrive while these are being released.
    for (let released = 0; released < this.strayReleases.length; ) {
      released = this.strayReleases.length;
      await Promise.all(this.strayReleases);
    }
  }

  /** A page that was terminated and started again receives the grants of its former run, which no other workflow will use. */
  private isOurs({ ticket }: Lease): boolean {
    return ticket.startsWith(`${this.firstRunId}:`);
  }

  /** As lost: the former run may have got the lease as an answer, and its fetch may still be running. */
  private releaseStray(lease: Lease): Promise<void> {
    return CancellationScope.nonCancellable(() =>
      this.release(domainOfLease(lease), lease.id, { use: { kind: 'lost' } }),
    );
  }

  private ask({ origin, atFront }: Pick<Ask, 'origin' | 'atFront'>): Ask {
    const { page, crawlId, settings } = this.input;
    return {
      ticket: `${this.firstRunId}:${this.tickets}`,
      workflowId: workflowInfo().workflowId,
      crawlId,
      origin,
      priority: page.priority,
      atFront,
      delay: settings.delay,
      concurrency: settings.concurrency,
      targetConcurrency: settings.targetConcurrency,
      maxFetchMs: settings.fetch.totalTimeoutMs,
    };
  }

  /** One ask and the wait for its grant, until `deadline` at most; null: ask again. */
  private async askOnce(domain: string, ask: Ask, deadline: number): Promise<AskResult | null> {
    const asks = this.open === null ? 1 : ++this.open.asks;
    const { pageId } = this.input.page;
    // A local activity, although it waits for another workflow: throttles have a worker of their own and answer at once.
    const summary = `slot for ${domain}${asks > 1 ? `, ask ${asks}` : ''}`;
    const answer = await runStep('acquireSlot', summary, { pageId, domain, ask, asks });
    switch (answer.kind) {
      case 'page-over':
        return answer;
      case 'granted':
        return { kind: 'granted', lease: answer.lease };
      case 'down': {
        const { retryAt: until, since, reason, givenUp } = answer;
        return { kind: 'down', until, since, reason, givenUp };
      }
      case 'queued': {
        const { expectedAt, position } = answer;
        const until = Math.max(expectedAt, Date.now()) + slackFor(asks, this.input.settings.asking);
        const why = `slot for ${domain}, ${ordinal(position)} in the queue`;
        return this.waitForGrant(domain, ask.ticket, { expectedAt, until, deadline, why });
      }
      case 'full': {
        const { retryAt } = answer;
        const why = `slot for ${domain}, its queue is full: ask again in ${formatDuration(retryAt - Date.now())}`;
        return this.waitForGrant(domain, ask.ticket, { expectedAt: retryAt, until: retryAt, deadline, why });
      }
    }
  }

  /** null: the time to ask again has come first. */
  private async waitForGrant(
    domain: string,
    ticket: string,
    {
      expectedAt,
      until,
      deadline,
      why,
    }: { expectedAt: number; until: number; deadline: number; why: string },
  ): Promise<AskResult | null> {
    const timedOut = { kind: 'timed-out', reason: `No slot for ${domain} was free in time.` } as const;
    if (expectedAt >= deadline) return timedOut;
    if (!this.grants.has(ticket)) {
      this.granted = new Trigger();
      const ms = Math.max(1, Math.min(until, deadline) - Date.now());
      // The timer is not cancelled by a grant: the page ends soon, and a cancellation costs more than a stray wake-up.
      await Promise.race([this.granted, sleep(ms, { summary: truncateSummary(why) })]);
      this.granted = null;
    }
    const lease = this.grants.get(ticket);
    if (lease !== undefined) return { kind: 'granted', lease };
    return Date.now() >= deadline ? timedOut : null;
  }
}

/** How long after its expected time a grant is overdue. */
function slackFor(asks: number, { slackMs, maxSlackMs }: Asking): number {
  return Math.min(maxSlackMs, slackMs * 2 ** (asks - 1));
}

type Throttle = ReturnType<typeof getExternalWorkflowHandle>;

/** A throttle that has ended needs no message: its next run assumes the worst about the leases of the last. */
async function signalThrottle(domain: string, send: (throttle: Throttle) => Promise<void>): Promise<void> {
  try {
    await send(getExternalWorkflowHandle(throttleId(domain)));
  } catch (error) {
    if (!isReceiverGone(error)) throw error;
  }
}
