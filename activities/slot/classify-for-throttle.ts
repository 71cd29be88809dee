/** How the site took a request, as its throttle is told. */

import type { ResponseClass } from '../../src/core/slot-protocol.ts';
import {
  type FailedExchange,
  isTimeout,
  parseRetryAfter,
  type ResponseExchange,
} from '../../src/http/index.ts';

type Answered = ResponseExchange | FailedExchange;

/** There is no such page. A site that says so is well, also one most of whose links lead nowhere. */
const ABSENT = new Set([404, 410]);

/** Only a connection that did not come about speaks for all pages of its origin. */
export function classifyForThrottle(
  exchange: Answered,
  { stoodStill }: { stoodStill: boolean },
): ResponseClass {
  if (exchange.kind === 'error') {
    const isOurFault = exchange.errorKind === 'aborted' || (isTimeout(exchange.errorKind) && stoodStill);
    if (isOurFault) return 'unknown';
    return exchange.startedAt === null ? 'unreachable' : 'broken';
  }
  const { status } = exchange;
  if (asksForLess(status)) return 'overloaded';
  if (status < 400) return 'ok';
  return ABSENT.has(status) ? 'not-found' : 'client-error';
}

/** For how long the site wants to be left alone; null: it does not say. A redirect's Retry-After is about its target. */
export function retryAfterOf(exchange: Answered, now: number): number | null {
  if (exchange.kind === 'error' || !asksForLess(exchange.status)) return null;
  return parseRetryAfter(exchange.headers['retry-after'], now);
}

function asksForLess(status: number): boolean {
  return status === 429 || status >= 500;
}
