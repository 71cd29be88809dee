/** Orders about a domain. Only its throttle changes it, and is started for that if it is not running. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { throttleStart } from '../../activities/slot/throttle-client.ts';
import { pauseUpdate, resetUpdate, resumeUpdate, setDelayUpdate } from '../../workflows/messages.ts';
import type { DomainThrottle } from '../../workflows/throttle/domain-throttle.ts';
import { parseDelayRange } from '../core/duration.ts';
import { BadInput } from '../core/errors.ts';
import type { OrderOrigin } from '../core/order.ts';
import type { ThrottleView } from '../throttle/view.ts';
import { hasSearchAttributes } from '../worker/search-attributes.ts';
import { NoWorker } from './errors.ts';
import { isUnanswered } from './query-workflow.ts';
import type { Operation } from './start-crawl.ts';

export type DomainChange =
  | { kind: 'pause' | 'resume' | 'reset' }
  /** As people write it: `30s`, `5s-15s`. null: none. */
  | { kind: 'delay'; delay: string | null };

/** A worker answers at once. After this time, none is running. */
const ANSWER_TIMEOUT_MS = 1_000;
/** Long enough for a worker that is started only then. */
const GIVE_UP_MS = 15_000;
const STORE_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 50;

/** From what an operator types: a time, a range, or `none`. */
export function delayChange(typed: string): DomainChange {
  if (typed === 'none') return { kind: 'delay', delay: null };
  if (parseDelayRange(typed) !== undefined) return { kind: 'delay', delay: typed };
  throw new BadInput(
    `Invalid delay ${JSON.stringify(typed)}: give a time such as 30s, a range such as 5s-15s (at most 24h), or none.`,
  );
}

/**
 * Returns once the change and the order are stored: then they survive the throttle, the Temporal server and every restart.
 * `startWorker` is called if no worker answers for a while.
 */
export async function changeDomain(
  on: Operation,
  domain: string,
  change: DomainChange,
  origin: OrderOrigin,
  startWorker: () => Promise<void> = async () => {},
): Promise<ThrottleView> {
  const updateId = randomUUID();
  const view = await answered(sendUpdate(on, domain, change, origin, updateId), domain, startWorker);
  await untilRecorded(on, domain, updateId);
  return view;
}

/** Update-with-start: a throttle that has ended is started again and loads what it had learned. */
async function sendUpdate(
  { client, config }: Operation,
  domain: string,
  change: DomainChange,
  origin: OrderOrigin,
  updateId: string,
): Promise<ThrottleView> {
  return client.withDeadline(Date.now() + GIVE_UP_MS, async () => {
    const startWorkflowOperation = new WithStartWorkflowOperation<typeof DomainThrottle>(
      'DomainThrottle',
      throttleStart(config, domain, {
        searchAttributes: await hasSearchAttributes((query) => client.workflow.count(query)),
        dashboardUrl: config.dashboardUrl,
      }),
    );
    const options = { updateId, startWorkflowOperation };
    if (change.kind === 'delay') {
      const args: [string | null, OrderOrigin] = [change.delay, origin];
      return client.workflow.executeUpdateWithStart(setDelayUpdate, { args, ...options });
    }
    const update = { pause: pauseUpdate, resume: resumeUpdate, reset: resetUpdate }[change.kind];
    const args: [OrderOrigin] = [origin];
    return client.workflow.executeUpdateWithStart(update, { args, ...options });
  });
}

async function answered(
  update: Promise<ThrottleView>,
  domain: string,
  startWorker: () => Promise<void>,
): Promise<ThrottleView> {
  const done = new AbortController();
  const helped = sleep(ANSWER_TIMEOUT_MS, undefined, { signal: done.signal }).then(startWorker, () => {});
  try {
    return await Promise.race([update, helped.then(() => update)]);
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    throw new NoWorker(`No worker answers for ${domain}: start one with "amble up" or "amble worker".`);
  } finally {
    done.abort();
    await helped;
  }
}

/** Its id ends with that of the update. */
async function untilRecorded({ db }: Operation, domain: string, updateId: string): Promise<void> {
  const giveUpAt = performance.now() + STORE_TIMEOUT_MS;
  while (performance.now() < giveUpAt) {
    if ((await db.order.count({ where: { domain, id: { endsWith: `/${updateId}` } } })) > 0) return;
    await sleep(POLL_INTERVAL_MS);
  }
  throw new Error(
    `The throttle of ${domain} accepted the order but did not store it within 10 s; check the worker's log, then try again.`,
  );
}
