/** `amble domain pause|resume|delay|reset`: a hand on a domain, whether its throttle runs or not. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { throttleStart } from '../../../activities/slot/throttle-start.ts';
import { setDelayUpdate } from '../../../workflows/messages.ts';
import type { DomainThrottle } from '../../../workflows/throttle/domain-throttle.ts';
import { readDomain } from '../../storage/reports/domains.ts';
import { domainOf, readDomainReport } from '../connect/domains.ts';
import { type Session, withSession } from '../connect/session.ts';
import { type DomainOrder, delayOrder, PAUSE, RESET, RESUME } from '../domain-orders.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { say } from '../render/terminal.ts';
import { configFor } from '../settings.ts';
import { type DomainOptions, show } from './domain.ts';

const ANSWERED_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 50;
const WRITTEN_WITHIN_MS = 10_000;

export function pauseDomainCommand(domain: string, options: DomainOptions): Promise<ExitCode> {
  return steer(domain, options, PAUSE);
}

export function resumeDomainCommand(domain: string, options: DomainOptions): Promise<ExitCode> {
  return steer(domain, options, RESUME);
}

export function delayDomainCommand(domain: string, time: string, options: DomainOptions): Promise<ExitCode> {
  return steer(domain, options, delayOrder(time));
}

export function resetDomainCommand(domain: string, options: DomainOptions): Promise<ExitCode> {
  return steer(domain, options, RESET);
}

async function steer(typed: string, options: DomainOptions, order: DomainOrder): Promise<ExitCode> {
  const config = configFor(options);
  // What is no domain is refused before anything is started.
  const domain = domainOf(typed, config.politenessKey);
  return withSession(config, { worker: null, say }, async (session) => {
    const { db, client } = session;
    const isNew = (await readDomain(db, domain)) === null;
    await answered(session, tell(session, throttleStart(config, domain), order.update));
    await untilWritten(session, domain, order);
    say(`${domain} ${order.done}`);
    if (isNew) say('No crawl has met it yet; that will hold when one does.');
    show(await readDomainReport(db, client, domain), options);
    return EXIT.ok;
  });
}

/** A worker that runs answers at once. Where none does, this process answers for the throttle itself. */
async function answered(session: Session, told: Promise<void>): Promise<void> {
  const heard = new AbortController();
  const helped = sleep(ANSWERED_WITHIN_MS, undefined, { signal: heard.signal }).then(
    () => session.serveThrottles('file'),
    // Not needed any more.
    () => {},
  );
  await Promise.race([told, helped.then(() => told)]).finally(() => heard.abort());
  await helped;
}

/** With a start: a throttle that has ended is revived, and reads back what it had learned. */
async function tell(
  { client }: Session,
  start: ReturnType<typeof throttleStart>,
  update: DomainOrder['update'],
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

/** From then on it survives the throttle, the Temporal server and everybody's restart. */
async function untilWritten({ db }: Session, domain: string, { isWritten }: DomainOrder): Promise<void> {
  const giveUpAt = performance.now() + WRITTEN_WITHIN_MS;
  while (performance.now() < giveUpAt) {
    const known = await readDomain(db, domain);
    if (known !== null && isWritten(known.stored)) return;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(
    `The throttle of ${domain} was told, but did not write it down within 10 s; see the worker's log, then try again.`,
  );
}
