/**
 * Asks for the slots of pages that are about to start, all together: one message to the throttle and one task of it, instead of one
 * for each page. A page that gets no slot in this way asks for one itself.
 */
import { Context } from '@temporalio/activity';
import { politenessFor } from '../../src/core/domain-politeness.ts';
import type { AdmittedPage } from '../../src/core/page-input.ts';
import type { CrawlSettings } from '../../src/core/settings.ts';
import { type Ask, askOf, type SlotAnswer } from '../../src/core/slot-protocol.ts';
import { originOf } from '../../src/urls/index.ts';
import { pageWorkflowId } from '../../workflows/ids.ts';
import type { Deps } from '../deps.ts';
import { withRoom } from './acquire-slot.ts';
import { askThrottle } from './throttle-client.ts';

/** A throttle answers within milliseconds. If it does not, the pages do not wait for it: they lose nothing without slots. */
const ANSWER_WITHIN_MS = 1_000;

/** With a shorter delay the slots are now, when the pages have not started. */
const MIN_DELAY_MS = 1_000;

export interface Reservation {
  crawlId: string;
  settings: CrawlSettings;
  /** The same whenever these pages are returned again by a repeated step. */
  admissionId: string;
}

/** The pages with slots, if all are of one domain that is crawled with a delay. */
export async function reserveSlots(
  deps: Deps,
  { crawlId, settings, admissionId }: Reservation,
  pages: AdmittedPage[],
): Promise<AdmittedPage[]> {
  const [first] = pages;
  if (first === undefined || pages.some(({ domain, nextAt }) => domain !== first.domain || nextAt !== null))
    return pages;
  const { domain } = first;
  const polite = { ...settings, ...politenessFor(settings, domain) };
  if (polite.delay.minMs < MIN_DELAY_MS) return pages;
  const asks = pages.map((page) =>
    askOf(polite, {
      ticket: `${admissionId}:${page.pageId}`,
      workflowId: pageWorkflowId(crawlId, page),
      crawlId,
      origin: originOf(page.url),
      atFront: false,
    }),
  );
  const signal = AbortSignal.any([
    Context.current().cancellationSignal,
    AbortSignal.timeout(ANSWER_WITHIN_MS),
  ]);
  const answers = await askThrottle(deps, domain, {
    asks,
    updateId: `admission:${admissionId}`,
    signal,
  }).catch((error: unknown) => {
    deps.log.debug({ domain, err: error }, 'could not reserve slots for admitted pages; they will ask');
    return [];
  });
  return pages.map((page, i) => withSlot(deps, page, asks[i], answers[i]));
}

/** Without an answer, the page asks with the same ticket: if the throttle has reserved a slot for it, it gets that one. */
function withSlot(
  deps: Deps,
  page: AdmittedPage,
  ask: Ask | undefined,
  answer: SlotAnswer | undefined,
): AdmittedPage {
  if (ask === undefined) return page;
  const { ticket } = ask;
  const isUsable = answer !== undefined && answer.kind !== 'down' && isFor(ticket, answer);
  return { ...page, slot: { ticket, ...(isUsable && { answer: withRoom(deps, answer) }) } };
}

/** A repeated step gets the recorded answers, perhaps for more pages and in another order. */
function isFor(ticket: string, answer: SlotAnswer): boolean {
  return answer.kind !== 'granted' || answer.lease.ticket === ticket;
}
