/** What an answer to a request for robots.txt means (RFC 9309, 2.3.1). */
import type { FailedExchange, ResponseExchange } from '../http/exchange.ts';
import { normaliseUrl } from '../urls/index.ts';

/** RFC 9309, 2.5: at least this much is parsed; the request for it reads no more. */
export const MAX_ROBOTS_BYTES = 500 * 1024;

export type RobotsVerdict =
  | { kind: 'rules'; text: string }
  /** There is none: everything may be fetched. */
  | { kind: 'allow-all'; reason: string }
  /** To be followed, with a slot of its own. */
  | { kind: 'redirect'; to: string }
  /** Not known what is allowed, so nothing is: the origin's pages are held. */
  | { kind: 'unreachable'; reason: string };

/** `url` is where the request went: redirects are relative to it. */
export function robotsVerdict(exchange: ResponseExchange | FailedExchange, url: string): RobotsVerdict {
  if (exchange.kind === 'error') return { kind: 'unreachable', reason: exchange.message };
  const { status } = exchange;
  if (status >= 200 && status < 300) return { kind: 'rules', text: readRules(exchange) };
  if (status >= 300 && status < 400) {
    const { location } = exchange.headers;
    const target = location === undefined ? null : normaliseUrl(location, url);
    return target?.ok
      ? { kind: 'redirect', to: target.url }
      : { kind: 'allow-all', reason: `robots.txt answered ${status} without a usable Location.` };
  }
  if (status >= 400 && status < 500 && status !== 429) {
    return { kind: 'allow-all', reason: `There is no robots.txt (status ${status}).` };
  }
  return { kind: 'unreachable', reason: `robots.txt answered ${status}.` };
}

function readRules({ body, cut }: ResponseExchange): string {
  if (body === null) return '';
  const isCut = cut !== null || body.length > MAX_ROBOTS_BYTES;
  // TextDecoder drops a BOM, which would hide the first line, and never fails on bytes that are not UTF-8.
  const text = new TextDecoder().decode(body.subarray(0, MAX_ROBOTS_BYTES));
  // A line cut in two would be another rule: "Disallow: /private" could become "Disallow: /".
  return isCut ? text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1) : text;
}
