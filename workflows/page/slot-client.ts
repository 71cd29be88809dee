/** How a page comes by slots: one ticket a slot, asked for until it is granted, given back when it is not used. */
import { ApplicationFailure } from '@temporalio/common';
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
import { grantedSignal, releaseSignal, withdrawSignal } from '../messages.ts';
import { apart, local, regular } from '../proxies.ts';
import { durably } from '../run-step.ts';

export interface Granted {
  kind: 'granted';
  lease: Lease;
  ask: Ask;
  domain: string;
  askedAt: number;
}

export type Slot =
  | Granted
  /** The page has nothing to do any more; `crawlOver` when that is because its crawl ended. */
  | { kind: 'over'; crawlOver: boolean }
  /** The site cannot be reached: stand aside until then. `givenUp`: it has been so for so long that it is no use. */
  | { kind: 'down'; until: number; since: number; why: string; givenUp: boolean; askedAt: number }
  /** No slot was to be had in the time it was wanted for: the line was left. */
  | { kind: 'left'; why: string; askedAt: number }
  /** The history is long enough: go on in a new run, with the same ticket. */
  | { kind: 'renew' };

/** What one ask came to. */
type Asked =
  | Pick<Granted, 'kind' | 'lease'>
  | Extract<Slot, { kind: 'over' }>
  | Omit<Extract<Slot, { kind: 'down' }>, 'askedAt'>
  | Omit<Extract<Slot, { kind: 'left' }>, 'askedAt'>;

export interface Wanted {
  domain: string;
  origin: string;
  atFront: boolean;
  /** Later than this after it was first asked for it is of no use; null: it is waited for as long as it takes. */
  withinMs: number | null;
}

export class Slots {
  /** Grants by ticket: one may overtake the answer "queued" to the ask it answers. */
  private readonly grants = new Map<string, Lease>();
  private readonly firstRunId: string;
  private tickets: number;
  private open: PageCarry['open'];
  private heard: Trigger<void> | null = null;
  /** Grants on their way back. */
  private strays: Promise<void>[] = [];

  constructor(private readonly input: PageInput) {
    this.firstRunId = input.carry?.firstRunId ?? workflowInfo().runId;
    this.tickets = input.carry?.tickets ?? 0;
    this.open = input.carry?.open ?? null;
    setHandler(grantedSignal, (lease) => {
      if (!this.isOurs(lease)) {
        this.strays.push(this.sendBack(lease));
        return;
      }
      this.grants.set(lease.ticket, lease);
      this.heard?.resolve();
    });
  }

  carry(): Pick<PageCarry, 'firstRunId' | 'tickets' | 'open'> {
    return { firstRunId: this.firstRunId, tickets: this.tickets, open: this.open };
  }

  /** Returns with a lease, or with the reason why there will be none. Never called while a lease is held. */
  async acquire({ withinMs, ...wanted }: Wanted): Promise<Slot> {
    if (this.open === null) {
      this.tickets += 1;
      this.open = { ...wanted, asks: 0, askedAt: Date.now() };
    }
    const { domain, askedAt } = this.open;
    const ask = this.ask(this.open);
    for (;;) {
      if (workflowInfo().continueAsNewSuggested && !this.grants.has(ask.ticket)) return { kind: 'renew' };
      const slot = await this.askOnce(domain, ask, withinMs === null ? Infinity : askedAt + withinMs);
      if (slot === null) continue;
      // Left in line, the ticket would be granted to a later run of this page, which knows nothing of it.
      if (slot.kind === 'left' || (slot.kind === 'over' && this.open.asks > 1)) await this.leave();
      this.open = null;
      switch (slot.kind) {
        case 'over':
          return slot;
        case 'left':
        case 'down':
          return { ...slot, askedAt };
        case 'granted':
          return { ...slot, ask, domain, askedAt };
      }
    }
  }

  /** To be awaited before the page ends. */
  async sentBack(): Promise<void> {
    // Another may come while the last ones are on their way.
    for (let sent = 0; sent < this.strays.length; ) {
      sent = this.strays.length;
      await Promise.all(this.strays);
    }
  }

  /** A page that was terminated and started again hears the grants of its former life, which nobody else will ever use. */
  private isOurs({ ticket }: Lease): boolean {
    return ticket.startsWith(`${this.firstRunId}:`);
  }

  /** As lost: the former life may have heard of it in another way, and have its fetch under way still. */
  private sendBack(lease: Lease): Promise<void> {
    return CancellationScope.nonCancellable(() =>
      this.giveBack(domainOfLease(lease), lease.id, { use: { kind: 'lost' } }),
    );
  }

  /** Says what became of a lease, where its fetch did not. */
  async giveBack(domain: string, leaseId: string, said: LeaseReport): Promise<void> {
    await tell(domain, (throttle) => throttle.signal(releaseSignal, { leaseId, ...said }));
  }

  /** Leaves the line, if it stands in one; what it may have been granted meanwhile goes back with that. */
  async leave(): Promise<void> {
    if (this.open === null) return;
    const { domain } = this.open;
    const { ticket } = this.ask(this.open);
    this.open = null;
    await tell(domain, (throttle) => throttle.signal(withdrawSignal, { ticket }));
  }

  /** The timer is not cancelled: the page is about to end, and a cancellation would cost more than a stray wake-up. */
  private async heardOrOverdue(ticket: string, ms: number, why: string): Promise<void> {
    if (this.grants.has(ticket)) return;
    this.heard = new Trigger();
    await Promise.race([this.heard, sleep(ms, { summary: truncateSummary(why) })]);
    this.heard = null;
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

  /** One ask and the wait for its grant, until `leaveAt` at most; null: ask again. */
  private async askOnce(domain: string, ask: Ask, leaveAt: number): Promise<Asked | null> {
    const asks = this.open === null ? 1 : ++this.open.asks;
    const summary = truncateSummary(`slot for ${domain}${asks > 1 ? `, asked ${asks} times` : ''}`);
    const wanted = { pageId: this.input.page.pageId, domain, ask, asks };
    // Local, although it waits for another workflow: throttles have a worker of their own and answer at once.
    const answer = await durably(
      () => local.acquireSlot.executeWithOptions({ summary }, [wanted]),
      () => regular.acquireSlot.executeWithOptions(apart(summary), [wanted]),
    );
    if (answer.kind === 'over') return answer;
    if (answer.kind === 'granted') return { kind: 'granted', lease: answer.lease };
    if (answer.kind === 'down') {
      const { retryAt: until, since, reason: why, givenUp } = answer;
      return { kind: 'down', until, since, why, givenUp };
    }
    const left = { kind: 'left', why: `No slot of ${domain} is to be had in time.` } as const;
    const expectedAt = answer.kind === 'queued' ? answer.expectedAt : answer.retryAt;
    if (expectedAt >= leaveAt) return left;
    const now = Date.now();
    const [until, why] =
      answer.kind === 'queued'
        ? [
            Math.max(expectedAt, now) + slackFor(asks, this.input.settings.asking),
            `slot for ${domain}, ${ordinal(answer.position)} in line`,
          ]
        : [
            expectedAt,
            `slot for ${domain}, its line is full: ask again in ${formatDuration(expectedAt - now)}`,
          ];
    await this.heardOrOverdue(ask.ticket, Math.max(1, Math.min(until, leaveAt) - now), why);
    const lease = this.grants.get(ask.ticket);
    if (lease !== undefined) return { kind: 'granted', lease };
    return Date.now() >= leaveAt ? left : null;
  }
}

/** How long after its expected time a grant is overdue. */
function slackFor(asks: number, { slackMs, maxSlackMs }: Asking): number {
  return Math.min(maxSlackMs, slackMs * 2 ** (asks - 1));
}

type Throttle = ReturnType<typeof getExternalWorkflowHandle>;

/** A throttle that is gone needs no message: its next life assumes the worst about the leases of the last. */
async function tell(domain: string, say: (throttle: Throttle) => Promise<void>): Promise<void> {
  try {
    await say(getExternalWorkflowHandle(throttleId(domain)));
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

export function isGone(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === 'ExternalWorkflowExecutionNotFound';
}
