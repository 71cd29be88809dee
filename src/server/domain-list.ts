/** The domains as an operator sees them, for the page and for the API. */
import type { DomainReport } from '../operator/domains.ts';
import { countDomains, type KnownDomain, listDomains, MAX_COUNTED_DOMAINS } from '../storage/domains.ts';
import { asReports, readThrottles } from './live-answers.ts';
import type { Services } from './services.ts';

export interface DomainList {
  domains: DomainReport[];
  /** Known ones that are not listed. */
  more: number;
  /** There are more than are counted. */
  moreAtLeast: boolean;
}

/** Those whose name contains `find`: paused, blocked and unreachable ones first, then the most recent. */
export async function loadDomains(
  services: Services,
  { limit, find = '' }: { limit: number; find?: string | undefined },
): Promise<DomainList> {
  const { db } = services;
  const [known, all] = await Promise.all([listDomains(db, limit, find), countDomains(db, find)]);
  return {
    domains: await withThrottles(services, known),
    more: all - known.length,
    moreAtLeast: all >= MAX_COUNTED_DOMAINS,
  };
}

/** With what their throttles say, as far as they answer soon. */
export async function withThrottles(
  services: Services,
  known: readonly KnownDomain[],
): Promise<DomainReport[]> {
  const names = known.map(({ name }) => name);
  return asReports(known, await readThrottles(services, names));
}
