/** Untrusted text becomes a URL here, once: the same page always gets the same string. */
import { createHash } from 'node:crypto';
import type { UrlRules } from '../core/settings.ts';
import { applyRules } from './rules.ts';

export type NormalisedUrl = { ok: true; url: string } | { ok: false; problem: UrlProblem; reason: string };

export type UrlProblem = 'invalid' | 'scheme' | 'too long';

/** What common servers and sitemaps accept; beyond it lie mostly traps. */
export const MAX_URL_LENGTH = 2_000;

/** The URL standard alone: for addresses that must be asked for exactly as they were given. */
export const NO_RULES: UrlRules = {
  maxLength: MAX_URL_LENGTH,
  decodeUnreserved: false,
  sortQuery: false,
  stripTracking: false,
  stripSessionIds: false,
  stripParameters: [],
};

const PERCENT_ESCAPE = /%[0-9a-f]{2}/gi;

/** `http://./` is a URL, but the name of no host. */
const EMPTY_LABEL = /^\.|\.\./;

/** The one that is long by nature: a picture in a link is no page that was missed. */
const DATA_SCHEME = /^\s*data:/i;

/**
 * Parses as browsers do (WHATWG), relative to `base` if given: host in lower case and punycode, no default port, no dot
 * segments; beyond that no fragment, no login, and escapes in upper case. Then the crawl's own rules. Idempotent.
 */
export function normaliseUrl(raw: string, base?: string, rules: UrlRules = NO_RULES): NormalisedUrl {
  // Fragments and dot segments may shrink a URL, so the raw text gets some room before the cost of parsing is refused.
  if (raw.length > 4 * rules.maxLength) return DATA_SCHEME.test(raw) ? otherScheme('data') : tooLong(rules);
  const url = parse(raw, base);
  if (url === null || EMPTY_LABEL.test(url.hostname))
    return { ok: false, problem: 'invalid', reason: 'it is not a valid URL' };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return otherScheme(url.protocol.slice(0, -1));
  }
  // Each of these writes the whole URL anew, and most links have none of them. `href` alone shows a bare `#`.
  if (url.href.includes('#')) url.hash = '';
  // Never sent and never logged: a login in a link is not ours to use.
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  const standard = url.href.includes('%')
    ? url.href.replace(PERCENT_ESCAPE, (triplet) => triplet.toUpperCase())
    : url.href;
  const ruled = applyRules(standard, rules);
  // What a rule took away may leave a dot segment behind.
  const normalised = ruled === standard ? standard : new URL(ruled).href;
  return normalised.length > rules.maxLength ? tooLong(rules) : { ok: true, url: normalised };
}

/**
 * Where a redirect leads. A server that answers a page by redirecting it to its own address with a session id or a
 * parameter more means that address exactly: by the rules it would be the page itself, and lost.
 */
export function normaliseRedirect(location: string, from: string, rules: UrlRules): NormalisedUrl {
  const target = normaliseUrl(location, from, rules);
  return target.ok && target.url === from ? normaliseUrl(location, from) : target;
}

/** The fixed-size name of a normalised URL, by which pages are unique. */
export function urlHash(url: string): Buffer {
  return createHash('sha256').update(url).digest();
}

/** Not by URL.canParse: it costs as much again, and Node 20's says yes to some host names that then throw, as "Ã\u0080". */
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
