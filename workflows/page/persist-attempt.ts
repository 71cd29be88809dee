/**
 * How an attempt is recorded: a document is parsed first, a sitemap is read into the frontier. A page that makes one of
 * these steps fail is retried by the crawl's policy, because a fix may be deployed meanwhile, and finally ends Failed.
 */
import type { AttemptEvent, PageFault, PersistResult } from '../../src/core/activities.ts';
import type { AttemptReport } from '../../src/core/attempt.ts';
import { truncateSummary } from '../../src/core/format.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { PageInput } from '../../src/core/page-input.ts';
import { retryDelayMs } from '../../src/core/retry-policy.ts';
import { onStepQueue, readSitemap } from '../proxies.ts';
import { failureOf, runStep } from '../run-step.ts';
import { startPages } from './start-pages.ts';
import { persistEvent, sleepUntil } from './steps.ts';

/** Whether the page continues, and what it became if it does not. The outcome is as it was recorded at last. */
export interface PersistedAttempt extends Pick<PersistResult, 'continues' | 'page'> {
  outcome: Outcome;
}

export async function persistAttempt(input: PageInput, event: AttemptEvent): Promise<PersistedAttempt> {
  const { found } = event.report;
  if (found.kind !== 'document') return persistWithRetries(input, event);
  return input.page.sitemap ? persistSitemap(input, event, found) : persistDocument(input, event);
}

async function persistDocument(input: PageInput, event: AttemptEvent): Promise<PersistedAttempt> {
  const { crawlId, settings, page } = input;
  const { pageId, url } = page;
  const processed = await retryFaults(input, 'parse and record', () =>
    runStep('processPage', `parse and record ${url}`, { crawlId, pageId, url, event }),
  );
  if (!processed.ok) return persistFault(input, event, processed.fault);
  await startPages(crawlId, settings, processed.value.start);
  return { ...processed.value, outcome: event.report.outcome };
}

async function persistSitemap(
  input: PageInput,
  event: AttemptEvent,
  { contentHash, contentType }: Extract<AttemptReport['found'], { kind: 'document' }>,
): Promise<PersistedAttempt> {
  const { crawlId, page } = input;
  const { pageId, url } = page;
  const summary = truncateSummary(`read the sitemap ${url}`);
  const read = await retryFaults(input, 'read the sitemap', () =>
    readSitemap.executeWithOptions(onStepQueue(summary), [
      { crawlId, pageId, url, contentHash, contentType },
    ]),
  );
  if (!read.ok) return persistFault(input, event, read.fault);
  const { report } = event;
  if (!read.value.ok) {
    const { reason } = read.value;
    return persistWithRetries(input, {
      ...event,
      report: { ...report, outcome: 'Rejected', errorKind: 'type', error: reason },
    });
  }
  const { remark, counts: sitemap } = read.value;
  return persistWithRetries(input, { ...event, report: { ...report, error: remark }, sitemap });
}

async function persistWithRetries(input: PageInput, event: AttemptEvent): Promise<PersistedAttempt> {
  const persisted = await retryFaults(input, 'record', () => persistEvent(input, event));
  return persisted.ok
    ? { ...persisted.value, outcome: event.report.outcome }
    : persistFault(input, event, persisted.fault);
}

/** Fetching the page again would not help. If even what it brought cannot be recorded, the page ends without it. */
async function persistFault(
  input: PageInput,
  { sitemap: _, ...event }: AttemptEvent,
  fault: Fault,
): Promise<PersistedAttempt> {
  const failed = { ...event.report, outcome: 'Failed', error: fault.reason } as const;
  if (fault.stage === 'ParseFault')
    return persistWithRetries(input, { ...event, report: { ...failed, errorKind: 'parse' }, retryAt: null });
  const report: AttemptReport = { ...failed, errorKind: 'record', found: { kind: 'nothing' } };
  const persisted = await persistEvent(input, { ...event, report, retryAt: null });
  return { ...persisted, outcome: report.outcome };
}

interface Fault {
  stage: PageFault;
  reason: string;
}

type Tried<T> = { ok: true; value: T } | { ok: false; fault: Fault };

async function retryFaults<T>(
  { settings: { retry } }: PageInput,
  what: string,
  step: () => Promise<T>,
): Promise<Tried<T>> {
  for (let tries = 1; ; tries += 1) {
    try {
      return { ok: true, value: await step() };
    } catch (error) {
      const fault = faultOf(error);
      if (fault === null) throw error;
      const delayMs = retryDelayMs(retry, tries, Math.random);
      if (delayMs === null) return { ok: false, fault };
      await sleepUntil(Date.now() + delayMs, `${what} again, try ${tries + 1} of ${retry.maximumAttempts},`);
    }
  }
}

const STAGES: readonly PageFault[] = ['ParseFault', 'RecordFault', 'SlotFault'];

/** null: the page is not the reason. */
function faultOf(error: unknown): Fault | null {
  const failure = failureOf(error);
  const stage = STAGES.find((stage) => stage === failure?.type);
  return failure === null || stage === undefined ? null : { stage, reason: failure.message };
}

/** Why a page ends that can get no slot, or whose last event could not be recorded either; null: something else went wrong. */
export function finalFailureReason(error: unknown): string | null {
  const fault = faultOf(error);
  return fault === null || fault.stage === 'ParseFault' ? null : fault.reason;
}
