/** Turns untrusted text into a URL, so that one page always has the same URL. */
import { hash } from 'node:crypto';
import type { UrlRules } from '../core/settings.ts';
import { applyRules } from './rules.ts';

export type NormalisedUrl = { ok: true; url: string } | { ok: false; problem: UrlProblem; reason: string };

export type UrlProblem = 'invalid' | 'scheme' | 'too long';

/** What common servers and sitemaps accept. Longer URLs are mostly traps. */
export const MAX_URL_LENGTH = 2_000;

/** The URL standard alone, for URLs that must be requested exactly as given. */
export const NO_RULES: UrlRules = {
  maxLength: MAX_URL_LENGTH,
  decodeUnreserved: false,
  sortQuery: false,
  stripTracking: false,
  stripSessionIds: false,
  stripParameters: [],
};

const PERCENT_ESCAPE = /%[0-9a-f]{2}/gi;

/** `http://./` is a valid URL without a valid host name. */
const EMPTY_LABEL = /^\.|\.\./;

/** The limit of DNS. Longer names cannot be looked up, and are too long for the ids that are made from them. */
const MAX_HOST_LENGTH = 253;
const LONG_HOST = `its host name is longer than ${MAX_HOST_LENGTH} characters`;

/** Of host, port and credentials as written. Legitimate ones stay far below, even with every character escaped. */
const MAX_AUTHORITY_LENGTH = 1_000;

/**
 * Converting a label to punycode takes quadratic time (122 ms for 7,900 characters), and the result of a longer one would exceed
 * the 63 characters that DNS allows.
 */
const MAX_LABEL_LENGTH = 63;
const NON_ASCII = /[^\0-\x7f]/;

/** As the URL standard finds it: tabs and line breaks are ignored everywhere, and a backslash is a slash. */
const AUTHORITY = /^[\0-\x20]*(?:(?:https?|wss?|ftp|file):[/\\]*|[/\\]{2,})([^/\\?#]*)/i;
const IGNORED = /[\t\n\r]+/g;

/** The dots that separate labels. */
const DOT = /[.\u3002\uff0e\uff61]/;

/** These URLs are long by nature. An embedded image is not a page that was skipped for its length. */
const DATA_SCHEME = /^\s{0,100}data:/i;

/**
 * Parses like browsers (WHATWG), relative to `base` if given: host in lower case and punycode, no default port, no dot segments.
 * Also removes fragment, credentials and the final dot of the host, and writes escapes in upper case. Then applies the crawl's own rules. Idempotent.
 */
export function normaliseUrl(raw: string, base?: string, rules: UrlRules = NO_RULES): NormalisedUrl {
  // Without fragment and dot segments a URL may get shorter, so the limit for the raw text is higher. It saves the cost of parsing.
  if (raw.length > 4 * rules.maxLength) return DATA_SCHEME.test(raw) ? otherScheme('data') : tooLong(rules);
  if (hasLongHost(raw)) return invalid(LONG_HOST);
  const url = parse(raw, base);
  if (url === null || EMPTY_LABEL.test(url.hostname)) return invalid('it is not a valid URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return otherScheme(url.protocol.slice(0, -1));
  }
  // `example.org.` is the same server as `example.org`: one origin, one robots.txt, and one page for both.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  if (url.hostname.length > MAX_HOST_LENGTH) return invalid(LONG_HOST);
  // Each assignment serialises the whole URL again, and most links need none. Only `href` shows an empty fragment.
  if (url.href.includes('#')) url.hash = '';
  // Credentials in a link are not ours to use: they are never sent and never logged.
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  const standard = url.href.includes('%')
    ? url.href.replace(PERCENT_ESCAPE, (triplet) => triplet.toUpperCase())
    : url.href;
  const ruled = applyRules(standard, rules);
  // Removing a part may leave a dot segment behind.
  const normalised = ruled === standard ? standard : new URL(ruled).href;
  return normalised.length > rules.maxLength ? tooLong(rules) : { ok: true, url: normalised };
}

/**
 * The target of a redirect. A server may redirect a page to its own URL with an additional session id or parameter. The rules
 * would remove it, and the redirect would lead to the page itself, so in this case the target is kept exactly.
 */
export function normaliseRedirect(location: string, from: string, rules: UrlRules): NormalisedUrl {
  const target = normaliseUrl(location, from, rules);
  return target.ok && target.url === from ? normaliseUrl(location, from) : target;
}

/** The fixed-size name of a normalised URL, by which pages are unique. */
export function urlHash(url: string): Buffer {
  return hash('sha256', url, 'buffer');
}

/** URL.canParse would double the cost, and in Node 20 it accepts host names that then throw, such as "Ã\u0080". */
function parse(raw: string, base: string | undefined): URL | null {
  try {
    return new URL(raw, base);
  } catch {
    return null;
  }
}

/** Judges the host before it is parsed, because parsing it would take too long. */
function hasLongHost(raw: string): boolean {
  const authority = AUTHORITY.exec(raw.replace(IGNORED, ''))?.[1] ?? '';
  if (authority.length <= MAX_LABEL_LENGTH) return false;
  if (authority.length > MAX_AUTHORITY_LENGTH) return true;
  const labels = authority.slice(authority.lastIndexOf('@') + 1).split(DOT);
  return labels.some((label) => label.length > MAX_LABEL_LENGTH && NON_ASCII.test(label));
}

function invalid(reason: string): NormalisedUrl {
  return { ok: false, problem: 'invalid', reason };
}

function otherScheme(scheme: string): NormalisedUrl {
  return {
    ok: false,
    problem: 'scheme',
    reason: `its scheme is ${scheme}, and only http and https are crawled`,
  };
}

function tooLong({ maxLength }: UrlRules): NormalisedUrl {
  return { ok: false, problem: 'too long', reason: `it is longer than ${maxLength} characters` };
}
