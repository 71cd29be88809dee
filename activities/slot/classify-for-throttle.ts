/** What a response means for the throttle of its site. */
import type { ResponseClass } from '../../src/core/slot-protocol.ts';
import {
  type FailedExchange,
  isTimeout,
  parseRetryAfter,
  type ResponseExchange,
} from '../../src/http/index.ts';

type Answered = ResponseExchange | FailedExchange;

/** There is no such page. A site that responds so is healthy, even if most of its links are dead. */
const NOT_FOUND = new Set([404, 410]);

/** Only a failed connection concerns all pages of the origin. */
export function classifyForThrottle(
  exchange: Answered,
  { wasStalled }: { wasStalled: boolean },
): ResponseClass {
  if (exchange.kind === 'error') {
    const { errorKind } = exchange;
    const isOurFault =
      errorKind === 'aborted' || errorKind === 'no-memory' || (isTimeout(errorKind) && wasStalled);
    if (isOurFault) return 'unknown';
    return exchange.startedAt === null ? 'unreachable' : 'broken';
  }
  const { status } = exchange;
  if (isOverload(status)) return 'overloaded';
  if (status < 400) return 'ok';
  return NOT_FOUND.has(status) ? 'not-found' : 'client-error';
}

/** In ms; null: none. The Retry-After of a redirect is about its target. */
export function retryAfterOf(exchange: Answered, now: number): number | null {
  if (exchange.kind === 'error' || !isOverload(exchange.status)) return null;
  return parseRetryAfter(exchange.headers['retry-after'], now);
}

function isOverload(status: number): boolean {
  return status === 429 || status >= 500;
}
