/** Orders from the dashboard and the API: both lead here, and from here to the functions that the command line uses. */

import { isCrawlId } from '../../workflows/ids.ts';
import { BadInput, parseCrawlInput, withCrawlDefaults } from '../config/index.ts';
import { type OrderChannel, type OrderOrigin, parseOrigin } from '../core/order.ts';
import { cancelCrawl, pauseCrawl, resumeCrawl } from '../operator/crawl-orders.ts';
import { changeDomain, delayChange } from '../operator/domain-orders.ts';
import { parseDomain } from '../operator/domains.ts';
import { CrawlConflict } from '../operator/errors.ts';
import { excludePattern, parsePattern } from '../operator/exclude-orders.ts';
import { newCrawlId } from '../operator/new-crawl-id.ts';
import { parseCause, type RetryOrder, retryPages } from '../operator/retry-orders.ts';
import { findOrStartCrawl } from '../operator/start-crawl.ts';
import { resumeAll, stopAll } from '../operator/stop-orders.ts';
import { findCrawl } from '../storage/crawls.ts';
import type { RetrySelection } from '../storage/frontier/retry.ts';
import type { Services } from './services.ts';

export const CRAWL_ORDER_KINDS = ['pause', 'resume', 'cancel'] as const;
export type CrawlOrderKind = (typeof CRAWL_ORDER_KINDS)[number];

export const DOMAIN_ORDER_KINDS = ['pause', 'resume', 'delay', 'reset'] as const;
export type DomainOrderKind = (typeof DOMAIN_ORDER_KINDS)[number];

/** Throws BadInput. */
export function orderOrigin(channel: OrderChannel, given: { by?: unknown; reason?: unknown }): OrderOrigin {
  const parsed = parseOrigin({ channel, by: given.by || null, reason: given.reason || null });
  if (parsed.ok) return parsed.origin;
  throw new BadInput('The reason may have at most 500 characters, and the name at most 100.');
}

export async function orderCrawl(
  services: Services,
  crawlId: string,
  kind: CrawlOrderKind,
  origin: OrderOrigin,
): Promise<void> {
  switch (kind) {
    case 'pause':
      return pauseCrawl(services, crawlId, origin);
    case 'resume':
      return resumeCrawl(services, crawlId, origin);
    case 'cancel':
      await cancelCrawl(services, crawlId, origin);
  }
}

/** `delay`: of an order of that kind. Returns the domain, as it is known. */
export async function orderDomain(
  services: Services,
  typed: string,
  { kind, delay }: { kind: DomainOrderKind; delay?: string | undefined },
  origin: OrderOrigin,
): Promise<string> {
  const domain = parseDomain(typed, services.config.politenessKey);
  const change = kind === 'delay' ? delayChange(delay?.trim() || 'none') : { kind };
  await changeDomain(services, domain, change, origin);
  services.throttles.forget(domain);
  return domain;
}

export const ALL_ORDER_KINDS = ['stop-all', 'resume-all'] as const;

/** Returns once no request starts any more, or what ran before runs again. */
export function orderAll(
  services: Services,
  kind: (typeof ALL_ORDER_KINDS)[number],
  origin: OrderOrigin,
): Promise<void> {
  return kind === 'stop-all' ? stopAll(services, origin) : resumeAll(services, origin);
}

/** Failed pages, as operators choose them. */
export interface RetryFields {
  /** `timeout`, `status/503`. Missing: whatever the cause. */
  cause?: string | undefined;
  domain?: string | undefined;
}

/** Throws BadInput. */
export function retrySelection({ config }: Services, { cause, domain }: RetryFields): RetrySelection {
  return {
    ...(cause && parseCause(cause)),
    ...(domain && { domain: parseDomain(domain, config.politenessKey) }),
  };
}

export function orderRetry(
  services: Services,
  crawlId: string,
  fields: RetryFields,
  origin: OrderOrigin,
): Promise<RetryOrder> {
  return retryPages(services, crawlId, retrySelection(services, fields), origin);
}

/** Returns the number of pending pages that were rejected. */
export function orderExclude(
  services: Services,
  crawlId: string,
  pattern: string,
  origin: OrderOrigin,
): Promise<number> {
  return excludePattern(services, crawlId, parsePattern(pattern), origin);
}

/** `settings` are written as in the config file; seeds as in a crawl's input. */
export interface NewCrawl {
  id?: string | undefined;
  seeds: unknown[];
  [setting: string]: unknown;
}

/** Returns the id of the crawl. */
export async function startCrawl(services: Services, input: NewCrawl): Promise<string> {
  const target = await prepareCrawl(services, input);
  await findOrStartCrawl({ ...services, ...target });
  return target.crawlId;
}

/** What would be started. Throws BadInput or CrawlConflict. */
export async function prepareCrawl({ config, db }: Services, { id, ...input }: NewCrawl) {
  const request = parseCrawlInput(input, config);
  const crawlId = id ?? newCrawlId(request.seeds[0]?.url ?? '', new Date());
  if (!isCrawlId(crawlId))
    throw new BadInput(
      `Invalid id ${JSON.stringify(crawlId)}: use at most 100 letters, digits, dots, dashes and underscores, starting with a letter or digit and not ending in .json.`,
    );
  if ((await findCrawl(db, crawlId)) !== null)
    throw new CrawlConflict(`There is a crawl named ${crawlId} already; choose another name.`);
  const { seeds: _, ...settings } = input;
  return { config: withCrawlDefaults(config, settings), crawlId, request };
}
