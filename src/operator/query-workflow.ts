/** What Temporal knows about a workflow: whether it runs, and its answer to a query. */
import {
  type Client,
  isGrpcServiceError,
  QueryNotRegisteredError,
  QueryRejectedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { QueryDefinition } from '@temporalio/common';
import { causesOf } from '../core/errors.ts';

/** A worker answers a query within milliseconds. Without a worker, a query waits forever. */
const QUERY_TIMEOUT_MS = 3_000;

/** Temporal's name for it, `RUNNING` or how it ended. null: the server never had this workflow, or no longer has it. */
export async function workflowStatus(client: Client, workflowId: string): Promise<string | null> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** null: there is no server, the workflow is not running, or no worker answers for it. */
export async function queryWorkflow<Answer, Args extends unknown[]>(
  client: Client | null,
  workflowId: string,
  query: QueryDefinition<Answer, Args>,
  ...args: Args
): Promise<Answer | null> {
  if (client === null) return null;
  try {
    return await client.withDeadline(Date.now() + QUERY_TIMEOUT_MS, () =>
      client.workflow.getHandle(workflowId).query(query, ...args),
    );
  } catch (error) {
    if (isUnanswered(error)) return null;
    throw error;
  }
}

/** Whether a query failed because nothing was there to answer it. */
export function isUnanswered(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError ||
    error instanceof QueryRejectedError ||
    // A worker of another version.
    error instanceof QueryNotRegisteredError ||
    // A timeout, or the server knows that no worker polls. The SDK wraps the gRPC error.
    causesOf(error).some(isGrpcServiceError)
  );
}
