/** How a worker talks to a domain's throttle: starts it if necessary, asks it for slots, and sends it reports. */
import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { WithStartWorkflowOperation } from '@temporalio/client';
import type { AmbleConfig } from '../../src/config/index.ts';
import { truncateSummary } from '../../src/core/format.ts';
import type { Ask, Release, SlotAnswer } from '../../src/core/slot-protocol.ts';
import { readClocks } from '../../src/worker/server-clock.ts';
import { throttleId, throttleQueue } from '../../workflows/ids.ts';
import { acquireUpdate, releaseSignal } from '../../workflows/messages.ts';
import type { DomainThrottle, ThrottleInput } from '../../workflows/throttle/domain-throttle.ts';
import type { Deps } from '../deps.ts';

/** How long a report is tried before the page has to deliver it. */
const REPORT_TIMEOUT_MS = 5_000;

/** Asks for a slot, and reads the throttle's clock from the answer. */
export async function askThrottle(
  { client, config, clock }: Deps,
  domain: string,
  ask: Ask,
  updateId: string,
): Promise<SlotAnswer> {
  const nonce = randomUUID();
  const before = readClocks();
  const throttle = new WithStartWorkflowOperation<typeof DomainThrottle>(
    'DomainThrottle',
    throttleStart(config, domain),
  );
  // A worker that stops must not wait for a throttle that no worker may be serving any more.
  const answer = await client.connection.withAbortSignal(Context.current().cancellationSignal, () =>
    client.workflow.executeUpdateWithStart(acquireUpdate, {
      args: [ask, nonce],
      updateId,
      startWorkflowOperation: throttle,
    }),
  );
  // Another nonce: this is the recorded answer to an earlier sending of this ask, and its `now` is old.
  if (answer.nonce === nonce) clock.sample(answer.now, before, readClocks());
  return answer;
}

/** Returns whether the signal is known to have been delivered. */
export async function signalThrottle(
  deps: Deps,
  domain: string,
  send: (throttle: ReturnType<Deps['client']['workflow']['getHandle']>) => Promise<void>,
): Promise<boolean> {
  const { client, dependencies, log } = deps;
  const throttle = client.workflow.getHandle(throttleId(domain));
  try {
    await client.connection.withDeadline(Date.now() + REPORT_TIMEOUT_MS, () => send(throttle));
    return true;
  } catch (error) {
    if (!dependencies.reportIfUnavailable(error))
      log.warn({ domain, err: error }, 'could not send a report to the throttle; the page will');
    return false;
  }
}

/**
 * Sends a Crawl-delay to a throttle that did not grant the lease: of the release only the Crawl-delay counts there. Starts the
 * throttle if necessary, because the delay must not get lost.
 */
export function sendCrawlDelay(deps: Deps, domain: string, release: Release): Promise<boolean> {
  return signalThrottle(deps, domain, async () => {
    await deps.client.workflow.signalWithStart<typeof DomainThrottle, [Release]>('DomainThrottle', {
      ...throttleStart(deps.config, domain),
      signal: releaseSignal,
      signalArgs: [release],
    });
  });
}

/** The options with which the first ask, Crawl-delay or operator's change starts a domain's throttle. */
export function throttleStart({ taskQueue, throttle }: AmbleConfig, domain: string) {
  const args: [ThrottleInput] = [{ domain, config: throttle }];
  return {
    workflowId: throttleId(domain),
    taskQueue: throttleQueue(taskQueue),
    args,
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: truncateSummary(`grants fetch slots for ${domain}`),
  } as const;
}
