/** How a worker talks to a domain's throttle: starts it if necessary, asks it for slots, and sends it reports. */
import { WithStartWorkflowOperation, WorkflowNotFoundError } from '@temporalio/client';
import type { AmbleConfig } from '../../src/config/index.ts';
import { truncateSummary } from '../../src/core/format.ts';
import type { Labels } from '../../src/core/page-input.ts';
import type { Ask, Release, SlotAnswer } from '../../src/core/slot-protocol.ts';
import { throttleId, throttleQueue } from '../../workflows/ids.ts';
import { throttleLabels } from '../../workflows/labels.ts';
import { acquireUpdate, releaseSignal } from '../../workflows/messages.ts';
import type { DomainThrottle, ThrottleInput } from '../../workflows/throttle/domain-throttle.ts';
import type { Deps } from '../deps.ts';
import { isNews } from './held-reports.ts';

/** How long a report is tried before the page has to deliver it. */
const REPORT_TIMEOUT_MS = 5_000;

/** The server refuses an eleventh update in flight for one workflow, and the client then waits seconds to try again. */
export const MAX_ASKS_IN_FLIGHT = 4;

/** Asks for slots. The reports that this process still holds go out with it. */
export function askThrottle(deps: Deps, domain: string, asked: Asked): Promise<SlotAnswer[]> {
  return deps.limitAsks(domain, () => sendAsks(deps, domain, asked), asked.signal);
}

export interface Asked {
  asks: Ask[];
  /** The same whenever these asks are repeated: then the recorded answer comes back. */
  updateId: string;
  signal: AbortSignal;
}

async function sendAsks(
  { client, config, reports, labels }: Deps,
  domain: string,
  { asks, updateId, signal }: Asked,
): Promise<SlotAnswer[]> {
  const held = reports.takeFor(updateId, domain);
  const throttle = new WithStartWorkflowOperation<typeof DomainThrottle>(
    'DomainThrottle',
    throttleStart(config, domain, labels),
  );
  try {
    return await client.connection.withAbortSignal(signal, () =>
      client.workflow.executeUpdateWithStart(acquireUpdate, {
        args: [asks, held],
        updateId,
        startWorkflowOperation: throttle,
      }),
    );
  } catch (error) {
    // They may have arrived; a report that arrives twice changes nothing.
    reports.returnFrom(updateId, domain, held);
    throw error;
  }
}

type Sender = Pick<Deps, 'client' | 'config' | 'dependencies' | 'log' | 'labels'>;

/**
 * Returns whether the reports are known to have been delivered. A throttle that has ended is started for news, such as a
 * Crawl-delay. It needs nothing else: the gate knows when requests started, and the plan has ended with it.
 */
export function sendReleases(deps: Sender, domain: string, releases: Release[]): Promise<boolean> {
  const { client, config, labels } = deps;
  if (!releases.some(isNews)) {
    return signalThrottle(deps, domain, () =>
      client.workflow.getHandle(throttleId(domain)).signal(releaseSignal, releases).catch(unlessEnded),
    );
  }
  return signalThrottle(deps, domain, async () => {
    await client.workflow.signalWithStart<typeof DomainThrottle, [Release[]]>('DomainThrottle', {
      ...throttleStart(config, domain, labels),
      signal: releaseSignal,
      signalArgs: [releases],
    });
  });
}

function unlessEnded(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}

async function signalThrottle(
  { client, dependencies, log }: Sender,
  domain: string,
  send: () => Promise<void>,
): Promise<boolean> {
  try {
    await client.connection.withDeadline(Date.now() + REPORT_TIMEOUT_MS, send);
    return true;
  } catch (error) {
    if (!dependencies.reportIfUnavailable(error))
      log.warn({ domain, err: error }, 'could not send a report to the throttle; the page will');
    return false;
  }
}

/** The options with which the first ask, Crawl-delay or operator's change starts a domain's throttle. */
export function throttleStart({ taskQueue, throttle }: AmbleConfig, domain: string, labels: Labels) {
  const args: [ThrottleInput] = [{ domain, config: throttle }];
  return {
    workflowId: throttleId(domain),
    taskQueue: throttleQueue(taskQueue),
    args,
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: truncateSummary(`grants fetch slots for ${domain}`),
    ...throttleLabels(labels, domain),
  } as const;
}
