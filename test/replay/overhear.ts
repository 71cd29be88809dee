/**
 * Bundled with the workflows when they are replayed: says what they tell each other. Replay compares the order and the kinds
 * of commands, not what is in them; a throttle could grant to another page, or answer otherwise, and it would not notice.
 */
import { proxySinks, type WorkflowInterceptors } from '@temporalio/workflow';

/** `to` names a workflow and a signal, or an update. */
export interface Said {
  to: string;
  what: unknown;
}

// A type and not an interface: sinks have to have an index signature.
export type Overheard = { overheard: { said(said: Said): void } };

const { overheard } = proxySinks<Overheard>();

export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      // Beside the answer and not before it: one turn later, commands would come in another order than without us.
      handleUpdate(input, next) {
        const answer = next(input);
        void answer.then((what) => overheard.said({ to: input.updateId, what }));
        return answer;
      },
    },
  ],
  outbound: [
    {
      signalWorkflow(input, next) {
        const { target, signalName, args } = input;
        const workflowId =
          target.type === 'child' ? target.childWorkflowId : target.workflowExecution.workflowId;
        overheard.said({ to: `${workflowId} ${signalName}`, what: args[0] });
        return next(input);
      },
    },
  ],
});
