/**
 * What makes workflows findable and readable for people in Temporal: search attributes, and the address of what they stand for in
 * the dashboard. Attributes given at the start cost no event.
 */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { Outcome } from '../src/core/outcome.ts';
import type { Labels, PageInput } from '../src/core/page-input.ts';
import { SEARCH_ATTRIBUTES } from '../src/core/search-attributes.ts';

const CRAWL = defineSearchAttributeKey(SEARCH_ATTRIBUTES.crawl, 'KEYWORD');
const DOMAIN = defineSearchAttributeKey(SEARCH_ATTRIBUTES.domain, 'KEYWORD');
const OUTCOME = defineSearchAttributeKey(SEARCH_ATTRIBUTES.outcome, 'KEYWORD');

/** Options of a workflow's start. */
export interface StartLabels {
  staticDetails?: string;
  typedSearchAttributes?: SearchAttributePair[];
}

export function pageLabels({ crawlId, page: { url, domain }, settings }: PageInput): StartLabels {
  const path = `/page?url=${encodeURIComponent(url)}&crawl=${encodeURIComponent(crawlId)}`;
  return startLabels(settings.labels, path, [
    { key: CRAWL, value: crawlId },
    { key: DOMAIN, value: domain },
  ]);
}

export function throttleLabels(labels: Labels, domain: string): StartLabels {
  return startLabels(labels, `/domains/${encodeURIComponent(domain)}`, [{ key: DOMAIN, value: domain }]);
}

export function crawlLabels(labels: Labels, crawlId: string): StartLabels {
  return startLabels(labels, crawlPath(crawlId), [{ key: CRAWL, value: crawlId }]);
}

/** For the current details of a crawl: Temporal's CLI may have started it, without static ones. */
export function crawlLink(labels: Labels | undefined, crawlId: string): string | null {
  return dashboardLink(labels, crawlPath(crawlId));
}

const crawlPath = (crawlId: string): string => `/crawls/${encodeURIComponent(crawlId)}`;

function startLabels(
  labels: Labels | undefined,
  path: string,
  typedSearchAttributes: SearchAttributePair[],
): StartLabels {
  const staticDetails = dashboardLink(labels, path);
  return {
    ...(staticDetails !== null && { staticDetails }),
    ...(labels?.searchAttributes && { typedSearchAttributes }),
  };
}

function dashboardLink(labels: Labels | undefined, path: string): string | null {
  const dashboardUrl = labels?.dashboardUrl ?? null;
  if (dashboardUrl === null) return null;
  // In Markdown, a parenthesis would end the address.
  const address = `${dashboardUrl}${path}`.replaceAll('(', '%28').replaceAll(')', '%29');
  return `[In the dashboard](${address})`;
}

/** A crawl may have been started by Temporal's CLI, which knows nothing of the attribute. */
export function labelCrawl(labels: Labels | undefined, crawlId: string): void {
  if (labels?.searchAttributes) upsertSearchAttributes([{ key: CRAWL, value: crawlId }]);
}

/**
 * One event and one write to the visibility store, so only a page with an attempt that did not succeed pays for it: those are the
 * ones that people look for, and while such a page waits for its next attempt it is found too.
 */
export class OutcomeLabel {
  private shown: Outcome = 'Success';

  constructor(private readonly labels: Labels | undefined) {}

  show(outcome: Outcome): void {
    if (!this.labels?.searchAttributes || outcome === this.shown) return;
    this.shown = outcome;
    upsertSearchAttributes([{ key: OUTCOME, value: outcome }]);
  }
}
