/**
 * What a crawl may change in a URL beyond the URL standard, each rule with a switch of its own: they judge that two
 * addresses are one page, which only a site itself knows for certain.
 */
import type { UrlRules } from '../core/settings.ts';
import { isSessionParameter, withoutSession } from './session-ids.ts';
import { TRACKING_PARAMETERS, TRACKING_PREFIXES } from './tracking-parameters.ts';

/**
 * RFC 3986, 2.3: to write these as an escape or as themselves makes no difference to anybody. The first alternative is a
 * `%` that begins no escape, with the escapes after it: unescaped they could make one that was not there before.
 */
const UNRESERVED_ESCAPE =
  /%(?![\dA-F]{2})[\dA-F]?(?:%[\dA-F]{2})*|%(2D|2E|5F|7E|3\d|[46][1-9A-F]|[57][\dA])/gi;

/** `href` is serialised by the URL standard, with escapes in upper case and without a fragment. */
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
  /** As its reader sees it, whether unescaping is switched on or not. */
  name: string;
  value: string;
}

function queryOf(query: string, rules: UrlRules): string {
  const parameters = query.split('&').map(readParameter);
  const kept = parameters.filter((parameter) => !isStripped(parameter, rules));
  if (rules.sortQuery) {
    const named = kept.filter(({ text }) => text !== '');
    // Stable: parameters of one name are a list, whose order is its meaning.
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
