/** What a response to a request for robots.txt means (RFC 9309, 2.3.1), and for how long. */
import { isUtf8 } from 'node:buffer';
import type { FailedExchange, ResponseExchange } from '../http/exchange.ts';
import { normaliseUrl } from '../urls/index.ts';
import { escapeBeyondAscii } from './octets.ts';

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
      : { kind: 'unreachable', reason: 'Its body was not read.' };
  }
  if (status >= 300 && status < 400) {
    const { location } = exchange.headers;
    const target = location === undefined ? null : normaliseUrl(location, url);
    return target?.ok ? { kind: 'redirect', to: target.url } : { kind: 'allow-all' };
  }
  if (status >= 400 && status < 500 && status !== 429) {
    return { kind: 'allow-all' };
  }
  return { kind: 'unreachable', reason: `It answered ${status}.` };
}

/** RFC 9309, 2.5: a crawler has to parse at least this much. Amble reads no more than that. */
export const MAX_ROBOTS_BYTES = 500 * 1024;

/**
 * Decodes a robots.txt to text that Postgres can store, without losing an octet that a rule may name. `cut`: the body is longer
 * than these bytes.
 */
function robotsText(body: Buffer, cut: boolean): string {
  const kept = body.subarray(0, MAX_ROBOTS_BYTES);
  // Without NULs, UTF-16 that lacks its BOM reads like ASCII. Postgres could not store them either.
  const text = decode(kept).replaceAll('\0', '');
  if (!cut && kept.length === body.length) return text;
  // Half a line would be another rule: "Disallow: /private" could become "Disallow: /".
  return text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

function decode(bytes: Buffer): string {
  // Some editors save "Unicode" as UTF-16. TextDecoder removes the BOM, which would make the first line unreadable.
  if (startsWith(bytes, 0xff, 0xfe)) return new TextDecoder('utf-16le').decode(bytes);
  if (startsWith(bytes, 0xfe, 0xff)) return new TextDecoder('utf-16be').decode(bytes);
  // Rules match an octet and its escape alike. A decoder would replace the octets that it does not know.
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : escapeBeyondAscii(withoutBom(bytes));
}

/** Half a BOM is skipped too, as the reference parser does. */
function withoutBom(bytes: Buffer): Buffer {
  const bom = [0xef, 0xbb, 0xbf];
  const present = bom.findIndex((octet, at) => bytes[at] !== octet);
  return bytes.subarray(present < 0 ? bom.length : present);
}

function startsWith(bytes: Buffer, ...start: number[]): boolean {
  return start.every((octet, at) => bytes[at] === octet);
}

/** The longest time also applies if the site states none. */
export interface FreshnessBounds {
  minMs: number;
  maxMs: number;
}

/** How long a robots.txt may be used before it has to be fetched again (RFC 9309, 2.4). */
export function freshnessMs(cacheControl: string | undefined, { minMs, maxMs }: FreshnessBounds): number {
  const requested = requestedMs(cacheControl ?? '');
  return requested === null ? maxMs : Math.min(maxMs, Math.max(minMs, requested));
}

/** null: the site states none. */
function requestedMs(cacheControl: string): number | null {
  const directives = cacheControl
    .toLowerCase()
    .split(',')
    .map((directive) => directive.trim());
  if (directives.some((directive) => /^no-(store|cache)\b/.test(directive))) return 0;
  const seconds = directives
    .map((directive) => /^max-age\s*=\s*"?(\d+)"?$/.exec(directive)?.[1])
    .find((digits) => digits !== undefined);
  return seconds === undefined ? null : Number(seconds) * 1_000;
}
