/** Where one page stands with this domain: what `amble page` asks. */
import { expectedAt } from './eta.ts';
import { eligible } from './origin-outage.ts';
import { positionOf } from './queue.ts';
import type { ThrottleState } from './state.ts';

export type QueuePosition =
  | {
      kind: 'queued';
      /** 1 is next. */
      position: number;
      /** Pages in the queue in all. */
      of: number;
      askedAt: number;
      /** null: not before a person resumes the domain. */
      expectedAt: number | null;
    }
  /** It has leave to send its request; `startedAt` null: it has not said yet that it did. */
  | { kind: 'granted'; notBefore: number; startBy: number; startedAt: number | null }
  /** It asks for nothing: it is fetched, parsed or recorded right now, or sleeps. */
  | { kind: 'absent' };

export function queuePositionOf(state: ThrottleState, workflowId: string, now: number): QueuePosition {
  const open = state.leases.find((lease) => lease.workflowId === workflowId);
  if (open) {
    const { notBefore, startBy } = open.lease;
    return { kind: 'granted', notBefore, startBy, startedAt: open.startedAt };
  }
  const waiting = state.queue.waiting.find((ticket) => ticket.workflowId === workflowId);
  if (!waiting) return { kind: 'absent' };
  const queue = eligible(state, now);
  const position = positionOf(queue.waiting.includes(waiting) ? queue : state.queue, waiting);
  return {
    kind: 'queued',
    position,
    of: state.queue.waiting.length,
    askedAt: waiting.askedAt,
    expectedAt: state.paused ? null : expectedAt(state, waiting, position, now),
  };
}
