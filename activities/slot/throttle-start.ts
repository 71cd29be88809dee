/** The options with which the first ask, Crawl-delay or operator's change starts a domain's throttle. */
import type { AmbleConfig } from '../../src/config/index.ts';
import { truncateSummary } from '../../src/core/format.ts';
import { throttleId, throttleQueue } from '../../workflows/ids.ts';
import type { ThrottleInput } from '../../workflows/throttle/domain-throttle.ts';

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
