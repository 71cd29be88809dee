/** The baseline: a workflow that runs one activity, which does nothing. */
import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' });

export async function Bare(): Promise<void> {
  await nothing();
}
