/** Turns untrusted text into a URL, so that one page always has the same URL. */
import { createHash } from 'node:crypto';
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

/** These URLs are long by nature. An embedded image is not a page that was skipped for its length. */
const DATA_SCHEME = /^\s*data:/i;

/**
 * Parses like browsers (WHATWG), relative to `base` if given: host in lower case and punycode, no default port, no dot segments.
 * Also removes fragment and credentials, and writes escapes in upper case. Then applies the crawl's own rules. Idempotent.
 */
export function normaliseUrl(raw: string, base?: string, rules: UrlRules = NO_RULES): NormalisedUrl {
  // Without fragment and dot segments a URL may get shorter, so the limit for the raw text is higher. It saves the cost of parsing.
  if (raw.length > 4 * rules.maxLength) return DATA_SCHEME.test(raw) ? otherScheme('data') : tooLong(rules);
  const url = parse(raw, base);
  if (url === null || EMPTY_LABEL.test(url.hostname))
    return { ok: false, problem: 'invalid', reason: 'it is not a valid URL' };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return otherScheme(url.protocol.slice(0, -1));
  }
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
  return createHash('sha256').update(url).digest();
}

/** URL.canParse would double the cost, and in Node 20 it accepts host names that then throw, such as "Ã\u0080". */
function parse(raw: string, base: string | undefined): URL | null {
  try {
    return new URL(raw, base);
  } catch {
    return null;
  }
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
