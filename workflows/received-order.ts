/** Orders as workflows receive them: by updates, sent by Amble or by the stock Temporal CLI. */
import { ApplicationFailure } from '@temporalio/common';
import { currentUpdateInfo, workflowInfo } from '@temporalio/workflow';
import { type OperatorOrder, parseOrigin } from '../src/core/order.ts';

/** For a handler of an update whose validator has accepted the origin. */
export function receivedOrder<K extends OperatorOrder['kind']>(
  kind: K,
  rawOrigin: unknown,
): OperatorOrder & { kind: K } {
  const parsed = parseOrigin(rawOrigin);
  if (!parsed.ok) throw ApplicationFailure.nonRetryable(parsed.reason, 'BadInput');
  // Ids of updates are unique within a run only. A cancellation of the workflow has none.
  const id = `${workflowInfo().runId}/${currentUpdateInfo()?.id ?? kind}`;
  return { id, kind, origin: parsed.origin };
}

export function validateOrigin(rawOrigin: unknown): void {
  const parsed = parseOrigin(rawOrigin);
  refuse(parsed.ok ? null : parsed.reason);
}

/** The reason goes back to the sender. null: the message is accepted. */
export function refuse(reason: string | null): void {
  if (reason !== null) throw ApplicationFailure.nonRetryable(reason, 'BadInput');
}
