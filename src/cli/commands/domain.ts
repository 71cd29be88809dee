/** `amble domain`: lists and shows domains, and changes how they are treated, whether or not their throttle is running. */
import { changeDomain, type DomainChange } from '../../operator/domain-orders.ts';
import { type DomainReport, parseDomain, queryThrottles, readDomainReport } from '../../operator/domains.ts';
import { listDomains, readDomain } from '../../storage/domains.ts';
import { claimPolitenessKey } from '../../storage/installation.ts';
import { type CommonOptions, configFor } from '../common-options.ts';
import { storeName, withDatabaseAndTemporal } from '../connect/read-session.ts';
import { withSession } from '../connect/session.ts';
import { cliOrigin, type OrderOptions } from '../order-options.ts';
import { renderDomain, renderDomains } from '../render/domain.ts';
import { EXIT, type ExitCode, writeErr, writeOut } from '../terminal.ts';
import { warnIfStopped } from './stop.ts';

export interface DomainOptions extends CommonOptions {
  json?: boolean;
}

type ChangeOptions = DomainOptions & OrderOptions;

export interface ListOptions extends DomainOptions {
  all?: boolean;
}

const MAX_DOMAINS = 100;

export async function listDomainsCommand(options: ListOptions): Promise<ExitCode> {
  const config = configFor(options);
  return withDatabaseAndTemporal(config, async (db, client) => {
    const known = db ? await listDomains(db, options.all ? null : MAX_DOMAINS) : [];
    const more = db ? (await db.domain.count()) - known.length : 0;
    const live = await queryThrottles(
      client,
      known.map(({ name }) => name),
    );
    const reports = known.map((one) => ({ domain: one.name, known: one, live: live.get(one.name) ?? null }));
    if (options.json) writeOut(JSON.stringify(reports));
    else if (reports.length === 0)
      writeOut(`No domains in ${storeName(config)} yet; a crawl adds the domains it visits.`);
    else for (const line of renderDomains(reports, new Date())) writeOut(line);
    if (more > 0)
      writeErr(
        `Paused, blocked and down domains come first, then the most recent; --all lists the other ${more}.`,
      );
    return EXIT.ok;
  });
}

export async function showDomainCommand(typed: string, options: DomainOptions): Promise<ExitCode> {
  const config = configFor(options);
  const domain = parseDomain(typed, config.politenessKey);
  return withDatabaseAndTemporal(config, async (db, client) => {
    if (db) await claimPolitenessKey(db, config.politenessKey);
    if (db) await warnIfStopped(db, options);
    const report = db && (await readDomainReport(db, client, domain));
    writeReport(report ?? { domain, known: null, live: null }, options);
    return EXIT.ok;
  });
}

/** Predicates of a sentence about the domain. */
const CONFIRMATIONS = {
  pause: 'is paused. No requests are sent to it until you resume it, even after a restart.',
  resume: 'is resumed.',
  reset: 'is reset: no pause, no delay of its own, no backoff, no outage.',
};

export async function changeDomainCommand(
  typed: string,
  options: ChangeOptions,
  change: DomainChange,
): Promise<ExitCode> {
  const config = configFor(options);
  // Bad input is refused before anything is started.
  const domain = parseDomain(typed, config.politenessKey);
  const origin = cliOrigin(options);
  return withSession(config, { worker: null }, async (session) => {
    const { db, client } = session;
    const isNew = (await readDomain(db, domain)) === null;
    // If no worker is running, this process runs the throttle itself.
    await changeDomain({ ...session, config }, domain, change, origin, () => session.serveThrottles('file'));
    writeErr(`${domain} ${confirmation(change)}`);
    if (isNew) writeErr('No crawl has requested anything from it yet; the change applies when one does.');
    writeReport(await readDomainReport(db, client, domain), options);
    return EXIT.ok;
  });
}

function confirmation(change: DomainChange): string {
  if (change.kind !== 'delay') return CONFIRMATIONS[change.kind];
  return change.delay === null
    ? 'no longer has a delay of its own.'
    : `now has a minimum gap of ${change.delay}, starting with the next request.`;
}

function writeReport(report: DomainReport, { json }: DomainOptions): void {
  if (json) writeOut(JSON.stringify(report));
  else for (const line of renderDomain(report, new Date())) writeOut(line);
}
