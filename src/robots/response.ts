/** What a response to a request for robots.txt means (RFC 9309, 2.3.1). */
import type { FailedExchange, ResponseExchange } from '../http/exchange.ts';
import { normaliseUrl } from '../urls/index.ts';
import { robotsText } from './text.ts';

export type RobotsResponse =
  | { kind: 'rules'; text: string }
  /** The site has none, so everything may be fetched. */
  | { kind: 'allow-all' }
  /** To be followed, which takes another slot. */
  | { kind: 'redirect'; to: string }
  /** It is unknown what is allowed, so nothing is: the origin's pages are deferred. */
  | { kind: 'unreachable'; reason: string };

/** Whether the body matters. For any other status the headers are enough. */
export function hasRulesInBody(status: number): boolean {
  return status >= 200 && status < 300;
}

/** `url` is the URL of the request, which redirects are relative to. */
export function readRobotsResponse(exchange: ResponseExchange | FailedExchange, url: string): RobotsResponse {
  if (exchange.kind === 'error') return { kind: 'unreachable', reason: exchange.message };
  const { status } = exchange;
  if (hasRulesInBody(status)) {
    const { body, cut } = exchange;
    if (body !== null) return { kind: 'rules', text: robotsText(body, cut !== null) };
    // A body that was not read may contain rules.
    return cut === null
      ? { kind: 'rules', text: '' }
      : { kind: 'unreachable', reason: 'The body of robots.txt was not read.' };
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
