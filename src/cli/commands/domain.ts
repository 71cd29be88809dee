/** `amble domain list` and `show`: how domains are treated, from their throttles or as it was last written down. */
import { claimPolitenessKey } from '../../storage/installation.ts';
import { listDomains } from '../../storage/reports/domains.ts';
import { type DomainReport, domainOf, readDomainReport, throttleViews } from '../connect/domains.ts';
import { joinTemporal } from '../connect/join-temporal.ts';
import { openStore } from '../connect/store.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderDomain, renderDomains } from '../render/domain.ts';
import { print, say } from '../render/terminal.ts';
import { type CommonOptions, configFor } from '../settings.ts';

export interface DomainOptions extends CommonOptions {
  json?: boolean;
}

const MOST_DOMAINS = 100;

export interface ListOptions extends DomainOptions {
  all?: boolean;
}

export async function listDomainsCommand(options: ListOptions): Promise<ExitCode> {
  const config = configFor(options);
  const store = await openStore(config);
  const temporal = store && (await joinTemporal(config));
  try {
    const known = store ? await listDomains(store.db, options.all ? null : MOST_DOMAINS) : [];
    const more = store ? (await store.db.domain.count()) - known.length : 0;
    const live = await throttleViews(
      temporal?.client ?? null,
      known.map(({ name }) => name),
    );
    const reports = known.map((one) => ({ domain: one.name, known: one, live: live.get(one.name) ?? null }));
    if (options.json) print(JSON.stringify(reports));
    else if (reports.length === 0) print(`No crawl has met a domain yet in ${config.home}.`);
    else for (const line of renderDomains(reports, new Date())) print(line);
    if (more > 0)
      say(
        `Domains that are paused, blocked or down, then those heard of last; ${more} more are on record: --all lists them.`,
      );
    return EXIT.ok;
  } finally {
    await temporal?.close();
    await store?.close();
  }
}

export async function showDomainCommand(typed: string, options: DomainOptions): Promise<ExitCode> {
  const config = configFor(options);
  const domain = domainOf(typed, config.politenessKey);
  const store = await openStore(config);
  const temporal = store && (await joinTemporal(config));
  try {
    if (store) await claimPolitenessKey(store.db, config.politenessKey);
    const report = store && (await readDomainReport(store.db, temporal?.client ?? null, domain));
    show(report ?? { domain, known: null, live: null }, options);
    return EXIT.ok;
  } finally {
    await temporal?.close();
    await store?.close();
  }
}

export function show(report: DomainReport, { json }: DomainOptions): void {
  if (json) print(JSON.stringify(report));
  else for (const line of renderDomain(report, new Date())) print(line);
}
