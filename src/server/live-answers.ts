/** What the running workflows of domains and pages say, as far as they answer soon. */
import { type DomainReport, queryThrottle, queryThrottles, readDomainRow } from '../operator/domains.ts';
import { type PagePlace, readPagePlace } from '../operator/page-context.ts';
import type { KnownDomain } from '../storage/domains.ts';
import type { PageReport } from '../storage/reports/page-report.ts';
import type { ThrottleView } from '../throttle/view.ts';
import { askTemporal, type Services } from './services.ts';

/** A list asks a hundred throttles. */
const LIST_FRESH_MS = 5_000;

/** So that an open page, which is made every two seconds, shows something new each time. */
const SINGLE_FRESH_MS = 1_000;

/** By domain; null: its throttle is not running. One without an answer is not among them. */
export function readThrottles(
  services: Services,
  domains: readonly string[],
): Promise<Map<string, ThrottleView | null>> {
  return services.throttles.read(
    domains,
    async (asked, onAnswer) => {
      const views = await askTemporal(services, (client) => queryThrottles(client, asked, onAnswer));
      if (views !== null) for (const domain of asked) if (!views.has(domain)) onAnswer(domain, null);
    },
    LIST_FRESH_MS,
  );
}

/** null: it is not running, or has not answered yet. */
async function readThrottle(services: Services, domain: string): Promise<ThrottleView | null> {
  const views = await services.throttles.read(
    [domain],
    (_, onAnswer) =>
      askTemporal(services, async (client) => onAnswer(domain, await queryThrottle(client, domain))),
    SINGLE_FRESH_MS,
  );
  return views.get(domain) ?? null;
}

export async function readDomainNow(services: Services, domain: string): Promise<DomainReport> {
  return readDomainRow(services.db, domain, await readThrottle(services, domain));
}

/** From the rows alone if the workflows do not answer soon. */
export async function readPlaceNow(services: Services, report: PageReport): Promise<PagePlace> {
  const id = String(report.page.id);
  const { db } = services;
  const ask = (client: Services['client']) => readPagePlace(db, client, report);
  const places = await services.places.read(
    // Another status is another question.
    [`${id} ${report.page.status}`],
    async ([name = ''], onAnswer) => {
      const place = await askTemporal(services, ask);
      if (place !== null) onAnswer(name, place);
    },
    SINGLE_FRESH_MS,
  );
  const [place] = places.values();
  return place ?? readPagePlace(db, null, report);
}

export function asReports(
  known: readonly KnownDomain[],
  live: ReadonlyMap<string, ThrottleView | null>,
): DomainReport[] {
  return known.map((one) => ({
    domain: one.name,
    known: one,
    live: live.get(one.name) ?? null,
    unanswered: !live.has(one.name),
  }));
}
