/** acquireSlot: marks the page as alive, then asks the domain's throttle for a slot. releaseSlot: returns one. */
import { Context } from '@temporalio/activity';
import type { Activities } from '../../src/core/activities.ts';
import { politenessFor } from '../../src/core/domain-politeness.ts';
import type { Ask, SlotAnswer, Staying } from '../../src/core/slot-protocol.ts';
import { leaveGate } from '../../src/storage/gate.ts';
import { pageAgeMs } from '../../src/storage/pages/page-row.ts';
import { touchPage } from '../../src/storage/pages/touch-page.ts';
import type { Deps } from '../deps.ts';
import { toSlotFault } from '../errors.ts';
import { gateEndOf } from './held-reports.ts';
import { askThrottle, sendReleases } from './throttle-client.ts';

/** Much less than the time after which a sweep checks on a page that has been admitted. */
const NEW_PAGE_MS = 10_000;

export function createAcquireSlot(deps: Deps): Activities['acquireSlot'] {
  return async function acquireSlot({ pageId, domain, ask, asks, waitedMs }) {
    if (waitedMs !== undefined) deps.lateness.recordPage(waitedMs);
    // A page that was admitted just now may have its slot at once: what could prevent that is read before its fetch too.
    if (waitedMs === undefined || waitedMs > NEW_PAGE_MS) {
      const standing = await touchPage(deps.db, pageId, deps.config.asking.quietMs);
      if (!standing.continues) return { kind: 'page-over', crawlOver: standing.crawlOver };
    }
    const polite = await withDomainRules(deps, domain, ask);
    // A worker that stops must not wait for a throttle that no worker may be serving any more.
    const signal = Context.current().cancellationSignal;
    const updateId = `${ask.ticket}:${asks}`;
    const [answer] = await askThrottle(deps, domain, { asks: [polite], updateId, signal }).catch(
      (error: unknown) => {
        throw toSlotFault(error, domain);
      },
    );
    if (answer === undefined) throw new Error(`The throttle of ${domain} gave no answer.`);
    return withRoom(deps, await withPagePatience(deps, pageId, answer));
  };
}

export function withRoom<A extends SlotAnswer>({ quickFetches }: Deps, answer: A): Staying<A> {
  const mayStay = answer.kind === 'granted' && answer.lease.quick && quickFetches.hasRoom;
  return mayStay ? { ...answer, stays: true } : answer;
}

export function createReleaseSlot(deps: Deps): Activities['releaseSlot'] {
  return async function releaseSlot({ domain, leaseId, report: { passId = null, ...report } }) {
    const passed = await leaveGate(deps.db, domain, { leaseId, passId }, gateEndOf(report));
    if (!(await sendReleases(deps, domain, [{ leaseId, ...report }])))
      throw new Error(`The throttle of ${domain} could not be reached.`);
    return { passed };
  };
}

/** A crawl's rules for single domains may be many, so they are looked up here instead of being carried by its pages. */
async function withDomainRules({ crawlOf }: Deps, domain: string, ask: Ask): Promise<Ask> {
  const { settings } = await crawlOf(ask.crawlId);
  return { ...ask, ...politenessFor(settings, domain) };
}

/** A page gives up an origin only after it has waited that long itself, even if the origin was down before. */
async function withPagePatience(
  { db, config }: Deps,
  pageId: string,
  answer: SlotAnswer,
): Promise<SlotAnswer> {
  if (answer.kind !== 'down' || !answer.givenUp) return answer;
  return { ...answer, givenUp: (await pageAgeMs(db, pageId)) >= config.throttle.outageGiveUpMs };
}
