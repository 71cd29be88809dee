/** The floor: what this server and this machine do when a workflow only runs one activity. */
import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' });

export async function Bare(): Promise<void> {
  await nothing();
}
