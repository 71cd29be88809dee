/** Rules per domain. What an operator sets for one domain replaces what the crawl sets for all domains. */

import type { CrawlSettings, DomainRule } from './settings.ts';
import type { DelayRange } from './slot-protocol.ts';

/** What a crawl asks of the throttle for the slots of one domain. */
export interface DomainPoliteness {
  delay: DelayRange;
  concurrency: number;
  /** null: off. */
  targetConcurrency: number | null;
}

/** The least the throttle keeps: Crawl-delay, backoff and the settings of other crawls may make it slower. */
export function politenessFor(settings: CrawlSettings, domain: string): DomainPoliteness {
  const { delay, concurrency, targetConcurrency, domains } = settings;
  return { delay, concurrency, targetConcurrency, ...ruleFor(domains, domain) };
}

/** The rule of the domain itself, or else of its nearest parent domain. Rules are never merged. */
export function ruleFor(rules: CrawlSettings['domains'], domain: string): DomainRule | null {
  for (let name = domain; name !== ''; name = parentOf(name)) {
    // hasOwn, because a host may be called "constructor".
    if (Object.hasOwn(rules, name)) return rules[name] ?? null;
  }
  return null;
}

function parentOf(domain: string): string {
  const dot = domain.indexOf('.');
  return dot < 0 ? '' : domain.slice(dot + 1);
}
