/**
 * Optional rules that change a URL beyond the URL standard. They assume that two URLs are one page, which only the site knows for
 * certain, so each can be switched off.
 */
import type { UrlRules } from '../core/settings.ts';
import { TRACKING_PARAMETERS, TRACKING_PREFIXES } from './tracking-parameters.ts';

/**
 * RFC 3986, 2.3: these characters mean the same with and without their escape. The first alternative is a `%` that does not start
 * an escape, with the escapes after it: decoding them could create an escape that was not there before.
 */
const UNRESERVED_ESCAPE =
  /%(?![\dA-F]{2})[\dA-F]?(?:%[\dA-F]{2})*|%(2D|2E|5F|7E|3\d|[46][1-9A-F]|[57][\dA])/gi;

/** `href` is a serialised URL with escapes in upper case and without a fragment. */
export function applyRules(href: string, rules: UrlRules): string {
  const written = rules.decodeUnreserved ? decodeUnreserved(href) : href;
  const cut = written.indexOf('?');
  const pathAt = written.indexOf('/', written.indexOf('//') + 2);
  const path = cut === -1 ? written.slice(pathAt) : written.slice(pathAt, cut);
  const origin = written.slice(0, pathAt);
  return (
    origin +
    (rules.stripSessionIds ? withoutSession(path) : path) +
    (cut === -1 ? '' : queryOf(written.slice(cut + 1), rules))
  );
}

function decodeUnreserved(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(UNRESERVED_ESCAPE, (whole, code: string | undefined) =>
    code === undefined ? whole : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

interface Parameter {
  text: string;
  /** Decoded, whether or not `decodeUnreserved` is on. */
  name: string;
  value: string;
}

function queryOf(query: string, rules: UrlRules): string {
  const parameters = query.split('&').map(readParameter);
  const kept = parameters.filter((parameter) => !isStripped(parameter, rules));
  if (rules.sortQuery) {
    const named = kept.filter(({ text }) => text !== '');
    // Stable, because parameters of one name are a list, whose order matters.
    named.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    return named.length === 0 ? '' : `?${joined(named)}`;
  }
  return kept.length === 0 ? '' : `?${joined(kept)}`;
}

function joined(parameters: readonly Parameter[]): string {
  return parameters.map(({ text }) => text).join('&');
}

function readParameter(text: string): Parameter {
  const cut = text.indexOf('=');
  const name = decodeUnreserved(cut === -1 ? text : text.slice(0, cut));
  return { text, name, value: cut === -1 ? '' : text.slice(cut + 1) };
}

function isStripped({ name, value }: Parameter, rules: UrlRules): boolean {
  const lower = name.toLowerCase();
  return (
    (rules.stripTracking && isTracking(lower)) ||
    (rules.stripSessionIds && isSessionParameter(lower, value)) ||
    rules.stripParameters.includes(lower)
  );
}

function isTracking(name: string): boolean {
  return TRACKING_PARAMETERS.has(name) || TRACKING_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/**
 * Session ids: every visit sees new URLs for all pages, so a crawl that keeps them never ends. These are names that their
 * platforms use for nothing else, in lower case.
 */
const SESSION_PARAMETERS: ReadonlySet<string> = new Set([
  'jsessionid',
  'phpsessid',
  'asp.net_sessionid',
  'cfid',
  'cftoken',
  'oscsid',
  'zenid',
  'xtcsid',
]);

/** Names with other uses too: `?sid=7` selects a page, `?sid=` with a long random value is a session. */
const AMBIGUOUS_PARAMETERS: ReadonlySet<string> = new Set(['sid', 'sessionid', 'session_id', 'sessid', 's']);

const RANDOM_VALUE = /^(?=.*\d)(?=.*[a-z])[\da-z]{24,128}$/i;

/** Servlet containers append it to the last segment: `/shop;jsessionid=1A2B`. */
const MATRIX_PARAMETER = /;(?:jsessionid|phpsessid)=[^/;]*/gi;

/** ASP.NET without cookies puts it before the path: `/(S(lit3py55t21z5v55vlm25s55))/page.aspx`. */
const COOKIELESS_SEGMENT = /\/\((?:[A-Z]\([\da-z]{16,256}\))+\)(?=\/)/gi;

/** `name` in lower case. */
function isSessionParameter(name: string, value: string): boolean {
  return (
    SESSION_PARAMETERS.has(name) ||
    name.startsWith('aspsessionid') ||
    (AMBIGUOUS_PARAMETERS.has(name) && RANDOM_VALUE.test(value))
  );
}

function withoutSession(path: string): string {
  return path.replace(MATRIX_PARAMETER, '').replace(COOKIELESS_SEGMENT, '');
}
