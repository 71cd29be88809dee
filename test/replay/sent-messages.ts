/**
 * Bundled with the workflows when they are replayed: reports the signals they send and the answers they give. Replay itself
 * compares only the order and kinds of commands. A throttle that granted a slot to another page would go unnoticed.
 */
import { proxySinks, type WorkflowInterceptors } from '@temporalio/workflow';

/** `to`: a workflow and a signal, or the id of an update. */
export interface SentMessage {
  to: string;
  content: unknown;
}

// A type and not an interface, because sinks need an index signature.
export type SentMessageSinks = { sentMessages: { add(message: SentMessage): void } };

const { sentMessages } = proxySinks<SentMessageSinks>();

export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      // Not awaited: one turn later, commands would come in another order than without this interceptor.
      handleUpdate(input, next) {
        const answer = next(input);
        void answer.then((content) => sentMessages.add({ to: input.updateId, content }));
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
        sentMessages.add({ to: `${workflowId} ${signalName}`, content: args[0] });
        return next(input);
      },
    },
  ],
});
