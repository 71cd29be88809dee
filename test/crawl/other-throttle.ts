/** Another workflow named DomainThrottle: the real one cannot replay its history. */
import { sleep } from '@temporalio/workflow';

export async function DomainThrottle(): Promise<void> {
  await sleep('1 hour');
}
