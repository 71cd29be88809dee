/** How far a crawl may wander from its seeds. */
import type { Scope } from '../settings.ts';
import { hostnameOf, siteOf } from './hosts.ts';

export interface ScopeRule {
  scope: Scope;
  /** Host names of the seeds and of where their redirects led. */
  seedHosts: readonly string[];
}

/** `url` is a normalised URL. */
export function inScope(url: string, { scope, seedHosts }: ScopeRule): boolean {
  if (scope === 'any') return true;
  const hostname = hostnameOf(url);
  if (seedHosts.includes(hostname)) return true;
  if (scope === 'host') return false;
  const site = siteOf(hostname);
  return seedHosts.some((seedHost) => siteOf(seedHost) === site);
}
