/**
 * Who cancelled a Crawl workflow by Temporal's own means, and why. The SDK keeps the reason from the workflow, but the event in its
 * history has it. Read once per cancelled crawl.
 */
import type { Client } from '@temporalio/client';
import type { CrawlOrder } from '../src/core/activities.ts';
import { parseOrigin } from '../src/core/order.ts';

/** The request is among the last events: the workflow reacts to it at once. */
const MAX_EVENTS = 50;

/** The order as it is, if it came as a message or nothing is known. */
export async function withCancellationOrigin(
  { workflowService, options: { namespace } }: Client,
  workflowId: string,
  order: CrawlOrder,
): Promise<CrawlOrder> {
  // As workflows/received-order.ts names it.
  const [runId = '', cause] = order.id.split('/');
  if (order.kind !== 'cancel' || cause !== 'cancel') return order;
  const execution = { workflowId, runId };
  const request = { namespace, execution, maximumPageSize: MAX_EVENTS };
  // Without it the crawl is cancelled all the same.
  const response = await workflowService.getWorkflowExecutionHistoryReverse(request).catch(() => null);
  const [requested] = (response?.history?.events ?? []).flatMap(
    ({ workflowExecutionCancelRequestedEventAttributes: attributes }) => attributes ?? [],
  );
  const parsed = parseOrigin({ by: requested?.identity || null, reason: requested?.cause || null });
  return parsed.ok ? { ...order, origin: parsed.origin } : order;
}
