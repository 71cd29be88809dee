/** A domain that is paused before the first ask: its pages stay queued until the test resumes it. */
import { WithStartWorkflowOperation } from '@temporalio/client';
import { expect } from 'vitest';
import { throttleStart } from '../../activities/slot/throttle-client.ts';
import type { ThrottleView } from '../../src/throttle/view.ts';
import { throttleId } from '../../workflows/ids.ts';
import { pauseUpdate, resumeUpdate, stateQuery } from '../../workflows/messages.ts';
import type { DomainThrottle } from '../../workflows/throttle/domain-throttle.ts';
import type { Amble } from './amble.ts';

export interface PausedDomain {
  /** By its id only: whichever run of the throttle is open now. */
  throttle: ReturnType<Amble['client']['workflow']['getHandle']>;
  state(): Promise<ThrottleView>;
  resume(): Promise<void>;
  /** Terminates the throttle, and returns once another one runs, because a page has asked again. */
  restart(): Promise<void>;
}

export async function pauseDomain({ client, config }: Amble, domain: string): Promise<PausedDomain> {
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof DomainThrottle>(
    'DomainThrottle',
    throttleStart(config, domain, { searchAttributes: false, dashboardUrl: null }),
  );
  await client.workflow.executeUpdateWithStart(pauseUpdate, { startWorkflowOperation });
  const throttle = client.workflow.getHandle(throttleId(domain));
  return {
    throttle,
    state: () => throttle.query(stateQuery),
    async resume() {
      await throttle.executeUpdate(resumeUpdate, { args: [null] });
    },
    async restart() {
      const { runId } = await throttle.describe();
      await throttle.terminate();
      await expect.poll(async () => (await throttle.describe()).runId, { timeout: 20_000 }).not.toBe(runId);
    },
  };
}
