import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/** As Temporal names it, `RUNNING` or how it ended; null: the server has never heard of it, or has forgotten it. */
export async function workflowStatus(client: Client, workflowId: string): Promise<string | null> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
