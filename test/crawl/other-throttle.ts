/** Another program under the name of ours: what it leaves behind cannot be replayed by the real one. */
import { sleep } from '@temporalio/workflow';

export async function DomainThrottle(): Promise<void> {
  await sleep('1 hour');
}
