/** Where one page stands with this domain: what `amble page` asks. */
import { expectedAt } from './eta.ts';
import { servable } from './origin-outage.ts';
import { placeOf } from './queue.ts';
import type { ThrottleState } from './state.ts';

export type Place =
  | {
      kind: 'in-line';
      /** 1 is next. */
      position: number;
      /** Pages in line in all. */
      of: number;
      askedAt: number;
      /** null: not before a person resumes the domain. */
      expectedAt: number | null;
    }
  /** It has leave to send its request; `startedAt` null: it has not said yet that it did. */
  | { kind: 'granted'; notBefore: number; startBy: number; startedAt: number | null }
  /** It asks for nothing: it is fetched, parsed or recorded right now, or sleeps. */
  | { kind: 'absent' };

export function placeOfPage(state: ThrottleState, workflowId: string, now: number): Place {
  const open = state.leases.find((lease) => lease.workflowId === workflowId);
  if (open) {
    const { notBefore, startBy } = open.lease;
    return { kind: 'granted', notBefore, startBy, startedAt: open.startedAt };
  }
  const waiting = state.line.waiting.find((ticket) => ticket.workflowId === workflowId);
  if (!waiting) return { kind: 'absent' };
  const line = servable(state, now);
  const position = placeOf(line.waiting.includes(waiting) ? line : state.line, waiting);
  return {
    kind: 'in-line',
    position,
    of: state.line.waiting.length,
    askedAt: waiting.askedAt,
    expectedAt: state.paused ? null : expectedAt(state, waiting, position, now),
  };
}
