/** The domains as an operator sees them, for the page and for the API. */
import { type DomainReport, queryThrottles } from '../operator/domains.ts';
import { listDomains } from '../storage/domains.ts';
import { askTemporal, type Services } from './services.ts';

export interface DomainList {
  domains: DomainReport[];
  /** Known ones that are not listed. */
  more: number;
}

/** Paused, blocked and unreachable ones first, then the most recent. */
export async function loadDomains(services: Services, limit: number): Promise<DomainList> {
  const { db } = services;
  const [known, all] = await Promise.all([listDomains(db, limit), db.domain.count()]);
  const names = known.map(({ name }) => name);
  const live = await services.throttles.read(names, (asked, onView) =>
    askTemporal(services, (client) => queryThrottles(client, asked, onView)),
  );
  return {
    domains: known.map((one) => ({ domain: one.name, known: one, live: live.get(one.name) ?? null })),
    more: all - known.length,
  };
}
