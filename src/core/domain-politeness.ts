/** Rules per domain: what an operator said of one domain stands for what the crawl says of all. */

import { type PolitenessUnit, siteOf } from '../urls/index.ts';
import type { Adaptive, CrawlSettings, DomainRule } from './settings.ts';
import type { DelayRange } from './slot-protocol.ts';

/** How a crawl asks for slots of one domain. */
export interface Manners {
  delay: DelayRange;
  concurrency: number;
  /** null: off. */
  adaptive: Adaptive | null;
}

/** The throttle goes further where it has to: Crawl-delay, backoff and other crawls' wishes come on top. */
export function mannersFor(settings: CrawlSettings, domain: string): Manners {
  const { delay, concurrency, adaptive, domains } = settings;
  return { delay, concurrency, adaptive, ...ruleFor(domains, domain) };
}

/** The rule of the domain itself, else of the nearest domain above it; never two of them mixed. */
export function ruleFor(rules: CrawlSettings['domains'], domain: string): DomainRule | null {
  for (let name = domain; name !== ''; name = parentOf(name)) {
    // Not by plain indexing: a host may be called "constructor".
    if (Object.hasOwn(rules, name)) return rules[name] ?? null;
  }
  return null;
}

function parentOf(domain: string): string {
  const dot = domain.indexOf('.');
  return dot < 0 ? '' : domain.slice(dot + 1);
}

/** Why a rule could never apply where gaps are kept in this unit, as a sentence; null: they all can. */
export function whyRulesUnusable(rules: CrawlSettings['domains'], unit: PolitenessUnit): string | null {
  if (unit === 'host') return null;
  const below = Object.keys(rules).find((domain) => siteOf(domain) !== domain);
  if (below === undefined) return null;
  return `The rule for ${below} cannot apply, because this installation keeps one gap for all of ${siteOf(below)}; make it a rule for ${siteOf(below)}.`;
}
