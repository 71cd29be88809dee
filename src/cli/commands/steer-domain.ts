/** `amble domain pause|resume|delay|reset`: a hand on a domain, whether its throttle runs or not. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WithStartWorkflowOperation } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { throttleStart } from '../../../activities/throttle-start.ts';
import type { DomainThrottle } from '../../../workflows/domain-throttle.ts';
import { delayUpdate, pauseUpdate, resetUpdate, resumeUpdate } from '../../../workflows/messages.ts';
import type { StoredDomain } from '../../../workflows/throttle/types.ts';
import type { ThrottleView } from '../../../workflows/throttle/view.ts';
import { BadInput, parseDelayRange } from '../../config/index.ts';
import { readDomain } from '../../storage/read-domains.ts';
import { domainOf, throttleView } from '../domains.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type Session, withSession } from '../session.ts';
import { configFor } from '../settings.ts';
import { say } from '../terminal.ts';
import { type DomainOptions, show } from './domain.ts';

const ANSWERED_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 50;
const WRITTEN_WITHIN_MS = 10_000;

/** What an operator can tell a domain, and what its row says once it has been written down. */
interface Order {
  update: UpdateDefinition<ThrottleView, []> | { delay: string | null };
  isWritten(stored: StoredDomain): boolean;
  done: string;
}

export function pauseDomainCommand(domain: string, options: DomainOptions): Promise<ExitCode> {
  const done = 'is paused: nothing more is asked of it, whatever ends or restarts, until it is resumed.';
  return steer(domain, options, { update: pauseUpdate, isWritten: ({ paused }) => paused, done });
}

export function resumeDomainCommand(domain: string, options: DomainOptions): Promise<ExitCode> {
  const done = 'is resumed.';
  return steer(domain, options, { update: resumeUpdate, isWritten: ({ paused }) => !paused, done });
}

export function delayDomainCommand(domain: string, time: string, options: DomainOptions): Promise<ExitCode> {
  const wanted = time === 'none' ? null : parseDelayRange(time);
  if (wanted === undefined) {
    throw new BadInput(
      `The delay ${JSON.stringify(time)} is refused: give a time such as 30s, a range such as 5s-15s, at most 24h, or none.`,
    );
  }
  return steer(domain, options, {
    update: { delay: wanted === null ? null : time },
    isWritten: ({ delay }) => delay?.minMs === wanted?.minMs && delay?.maxMs === wanted?.maxMs,
    done:
      wanted === null
        ? 'has no delay of its own any more.'
        : `is asked at most every ${time}, from the next slot on.`,
  });
}

export function resetDomainCommand(domain: string, options: DomainOptions): Promise<ExitCode> {
  return steer(domain, options, {
    update: resetUpdate,
    isWritten: ({ paused, delay, backoffMs, blockedUntil }) =>
      !paused && delay === null && backoffMs === 0 && blockedUntil === null,
    done: 'is treated as though it were new: no delay of its own, no pause, no backoff, no outage.',
  });
}

async function steer(typed: string, options: DomainOptions, order: Order): Promise<ExitCode> {
  const config = configFor(options);
  const domain = domainOf(typed, config.politenessKey);
  return withSession(config, { worker: null, say }, async (session) => {
    const { db } = session;
    const isNew = (await readDomain(db, domain)) === null;
    await answered(session, tell(session, throttleStart(config, domain), order.update));
    await untilWritten(session, domain, order);
    say(`${domain} ${order.done}`);
    if (isNew) say('No crawl has met it yet; that will hold when one does.');
    const [known, live] = [await readDomain(db, domain), await throttleView(session.client, domain)];
    show({ domain, known, live }, options);
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
  update: Order['update'],
): Promise<void> {
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof DomainThrottle>(
    'DomainThrottle',
    start,
  );
  if ('delay' in update) {
    const args: [string | null] = [update.delay];
    await client.workflow.executeUpdateWithStart(delayUpdate, { args, startWorkflowOperation });
  } else {
    await client.workflow.executeUpdateWithStart(update, { startWorkflowOperation });
  }
}

/** From then on it survives the throttle, the Temporal server and everybody's restart. */
async function untilWritten({ db }: Session, domain: string, { isWritten }: Order): Promise<void> {
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
