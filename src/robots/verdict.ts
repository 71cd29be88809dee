/** What an answer to a request for robots.txt means (RFC 9309, 2.3.1). */
import type { FailedExchange, ResponseExchange } from '../http/exchange.ts';
import { normaliseUrl } from '../urls/index.ts';
import { robotsText } from './text.ts';

export type RobotsVerdict =
  | { kind: 'rules'; text: string }
  /** There is none: everything may be fetched. */
  | { kind: 'allow-all' }
  /** To be followed, with a slot of its own. */
  | { kind: 'redirect'; to: string }
  /** Not known what is allowed, so nothing is: the origin's pages are held. */
  | { kind: 'unreachable'; reason: string };

/** Whether what counts is in the body; of every other answer it is in the head. */
export function statesRules(status: number): boolean {
  return status >= 200 && status < 300;
}

/** `url` is where the request went: redirects are relative to it. */
export function robotsVerdict(exchange: ResponseExchange | FailedExchange, url: string): RobotsVerdict {
  if (exchange.kind === 'error') return { kind: 'unreachable', reason: exchange.message };
  const { status } = exchange;
  if (statesRules(status)) {
    const { body, cut } = exchange;
    if (body !== null) return { kind: 'rules', text: robotsText(body, cut !== null) };
    // A body that nobody read is not an empty one.
    return cut === null
      ? { kind: 'rules', text: '' }
      : { kind: 'unreachable', reason: 'Nothing of the body of robots.txt was read.' };
  }
  if (status >= 300 && status < 400) {
    const { location } = exchange.headers;
    const target = location === undefined ? null : normaliseUrl(location, url);
    return target?.ok ? { kind: 'redirect', to: target.url } : { kind: 'allow-all' };
  }
  if (status >= 400 && status < 500 && status !== 429) {
    return { kind: 'allow-all' };
  }
  return { kind: 'unreachable', reason: `robots.txt answered ${status}.` };
}
