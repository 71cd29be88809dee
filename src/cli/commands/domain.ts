/** `amble domain`: lists and shows domains, and changes how they are treated, whether or not their throttle is running. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { throttleStart } from '../../../activities/slot/throttle-client.ts';
import { setDelayUpdate } from '../../../workflows/messages.ts';
import type { DomainThrottle } from '../../../workflows/throttle/domain-throttle.ts';
import { listDomains, readDomain } from '../../storage/domains.ts';
import { claimPolitenessKey } from '../../storage/installation.ts';
import { type CommonOptions, configFor } from '../common-options.ts';
import { type DomainReport, parseDomain, queryThrottles, readDomainReport } from '../connect/domains.ts';
import { storeName, withDatabaseAndTemporal } from '../connect/read-session.ts';
import { type Session, withSession } from '../connect/session.ts';
import type { DomainChange } from '../domain-changes.ts';
import { renderDomain, renderDomains } from '../render/domain.ts';
import { EXIT, type ExitCode, writeErr, writeOut } from '../terminal.ts';

export interface DomainOptions extends CommonOptions {
  json?: boolean;
}

export interface ListOptions extends DomainOptions {
  all?: boolean;
}

const MAX_DOMAINS = 100;

/** A worker answers at once. After this time, none is running. */
const ANSWER_TIMEOUT_MS = 1_000;
const POLL_INTERVAL_MS = 50;
const STORE_TIMEOUT_MS = 10_000;

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
    const report = db && (await readDomainReport(db, client, domain));
    writeReport(report ?? { domain, known: null, live: null }, options);
    return EXIT.ok;
  });
}

export async function changeDomainCommand(
  typed: string,
  options: DomainOptions,
  change: DomainChange,
): Promise<ExitCode> {
  const config = configFor(options);
  // Bad input is refused before anything is started.
  const domain = parseDomain(typed, config.politenessKey);
  return withSession(config, { worker: null }, async (session) => {
    const { db, client } = session;
    const isNew = (await readDomain(db, domain)) === null;
    await withThrottleWorker(session, sendUpdate(session, throttleStart(config, domain), change.update));
    await waitUntilStored(session, domain, change);
    writeErr(`${domain} ${change.confirmation}`);
    if (isNew) writeErr('No crawl has requested anything from it yet; the change applies when one does.');
    writeReport(await readDomainReport(db, client, domain), options);
    return EXIT.ok;
  });
}

function writeReport(report: DomainReport, { json }: DomainOptions): void {
  if (json) writeOut(JSON.stringify(report));
  else for (const line of renderDomain(report, new Date())) writeOut(line);
}

/** Waits for an update. If no worker handles it soon, this process runs the throttle itself. */
async function withThrottleWorker(session: Session, update: Promise<void>): Promise<void> {
  const answered = new AbortController();
  const helped = sleep(ANSWER_TIMEOUT_MS, undefined, { signal: answered.signal }).then(
    () => session.serveThrottles('file'),
    // Not needed.
    () => {},
  );
  await Promise.race([update, helped.then(() => update)]).finally(() => answered.abort());
  await helped;
}

/** Update-with-start: a throttle that has ended is started again and loads what it had learned. */
async function sendUpdate(
  { client }: Session,
  start: ReturnType<typeof throttleStart>,
  update: DomainChange['update'],
): Promise<void> {
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof DomainThrottle>(
    'DomainThrottle',
    start,
  );
  if ('delay' in update) {
    const args: [string | null] = [update.delay];
    await client.workflow.executeUpdateWithStart(setDelayUpdate, { args, startWorkflowOperation });
  } else {
    await client.workflow.executeUpdateWithStart(update, { startWorkflowOperation });
  }
}

/** Once stored, the change survives the throttle, the Temporal server and every restart. */
async function waitUntilStored({ db }: Session, domain: string, { isStored }: DomainChange): Promise<void> {
  const giveUpAt = performance.now() + STORE_TIMEOUT_MS;
  while (performance.now() < giveUpAt) {
    const known = await readDomain(db, domain);
    if (known !== null && isStored(known.stored)) return;
    await sleep(POLL_INTERVAL_MS);
  }
  throw new Error(
    `The throttle of ${domain} accepted the change but did not store it within 10 s; check the worker's log, then try again.`,
  );
}
