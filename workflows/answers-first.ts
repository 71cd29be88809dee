/** The end of a run that receives orders. */
import { sleep, workflowInfo } from '@temporalio/workflow';

/**
 * A task that answers an order must not end the run too. If an event arrives meanwhile, the server rejects such a task with all that is in
 * it: the sender is told that the order failed, although a local activity may have carried it out.
 */
export class AnswersFirst {
  /** Length of the history at the task that brought the last order. */
  private orderedAt = -1;

  /** For handlers of updates. */
  receive(): void {
    this.orderedAt = workflowInfo().historyLength;
  }

  get areSent(): boolean {
    return workflowInfo().historyLength !== this.orderedAt;
  }

  /** Resolves in a task that has brought no order. */
  async sent(): Promise<void> {
    while (!this.areSent) await sleep(1, { summary: 'answer, then continue' });
  }
}
