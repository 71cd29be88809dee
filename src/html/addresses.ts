/** Where a page says it leads: its links by its base and in its encoding, its canonical address, its refresh. */
import type { UrlRules } from '../core/settings.ts';
import { type NormalisedUrl, normaliseUrl } from '../urls/index.ts';
import { encodeQuery } from './encodings.ts';
import { pragma } from './metas.ts';
import type { Survey } from './page-elements.ts';
import { parseRefresh } from './refresh.ts';
import type { Element } from './walk.ts';

export interface Addresses {
  /** Makes of what a link says the address it leads to. */
  resolve: (href: string) => NormalisedUrl;
  canonical: string | null;
  /** Of a <meta> refresh, however late it comes. */
  refreshUrl: string | null;
  /** The same, where it takes the reader away before he has read. */
  refreshTo: string | null;
}

/** A page that sends its reader on after more than this wants to be read; where it leads is then a link. */
const LONGEST_REDIRECT_S = 10;

/** As many links as a page may have, and far from much memory. */
const MOST_KNOWN = 10_000;

export function addressesOf(
  { base, metas, relations }: Survey,
  { url, rules, encoding }: { url: string; rules: UrlRules; encoding: string },
): Addresses {
  const baseUrl = found(normaliseUrl(base?.attribs.href ?? '', url)) ?? url;
  const resolve = remembering((href) => normaliseUrl(inEncoding(href, encoding), baseUrl, rules), rules);
  const canonical = relations.find((link) => hasWord(link.attribs.rel, 'canonical'))?.attribs.href;
  const refresh = parseRefresh(pragma(metas.filter(isForEverybody), 'refresh') ?? '');
  const refreshUrl = refresh === null ? null : found(resolve(refresh.target));
  const redirects = refresh !== null && refresh.seconds <= LONGEST_REDIRECT_S && refreshUrl !== url;
  return {
    resolve,
    canonical: canonical === undefined ? null : found(resolve(canonical)),
    refreshUrl,
    refreshTo: redirects ? refreshUrl : null,
  };
}

/** Every second link of a page leads where another led, but for the fragment. */
function remembering(resolve: Addresses['resolve'], { maxLength }: UrlRules): Addresses['resolve'] {
  const known = new Map<string, NormalisedUrl>();
  return (href) => {
    // Escaped, a longer one may be refused for its length alone, fragment included.
    if (href.length > maxLength / 4) return resolve(href);
    const key = withoutFragment(href);
    const before = known.get(key);
    if (before !== undefined) return before;
    const target = resolve(key);
    if (known.size < MOST_KNOWN) known.set(key, target);
    return target;
  };
}

/** Fragments are dropped anyway. Not where a space would come to stand at the end: there the URL standard drops it. */
function withoutFragment(href: string): string {
  const cut = href.indexOf('#');
  return cut === -1 || (cut > 0 && href.charCodeAt(cut - 1) <= 0x20) ? href : href.slice(0, cut);
}

function found(target: NormalisedUrl): string | null {
  return target.ok ? target.url : null;
}

/** What precedes the query is UTF-8 whatever the page is written in, and a fragment is never sent. */
function inEncoding(href: string, encoding: string): string {
  const [, path, query, fragment] = /^([^?#]*\?)([^#]*)(.*)$/s.exec(href) ?? [];
  return path === undefined || query === undefined ? href : path + encodeQuery(query, encoding) + fragment;
}

/** What stands in <noscript> asks for scripts, or leads to a page that says so. */
function isForEverybody(meta: Element): boolean {
  return !(meta.parent !== null && 'name' in meta.parent && meta.parent.name === 'noscript');
}

function hasWord(attribute: string | undefined, word: string): boolean {
  return (attribute ?? '').toLowerCase().split(/\s+/).includes(word);
}
