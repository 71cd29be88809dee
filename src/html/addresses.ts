/** Resolves the addresses in a page: links (against its base and in its encoding), canonical address and refresh. */
import type { UrlRules } from '../core/settings.ts';
import { type NormalisedUrl, normaliseUrl } from '../urls/index.ts';
import { encodeQuery } from './encodings.ts';
import { httpEquiv, type PageElements } from './page-elements.ts';
import type { Element } from './walk.ts';

export interface PageAddresses {
  /** Resolves the href of a link. */
  resolve: (href: string) => NormalisedUrl;
  canonical: string | null;
  /** Target of a <meta> refresh with any delay. */
  refreshUrl: string | null;
  /** The same, if the delay is so short that the refresh acts as a redirect. */
  refreshTo: string | null;
}

/** A page that refreshes later than this is meant to be read; the target counts as a link. */
const MAX_REDIRECT_DELAY_S = 10;

/** As many as a page may have links; they take little memory. */
const MAX_CACHED = 10_000;

export function resolveAddresses(
  { base, metas, linkElements }: PageElements,
  { url, rules, encoding }: { url: string; rules: UrlRules; encoding: string },
): PageAddresses {
  const baseUrl = urlOrNull(normaliseUrl(base?.attribs.href ?? '', url)) ?? url;
  const resolve = cached((href) => {
    // Encoding comes after the check of the length, which refuses what would take long to encode.
    const text = href.length > 4 * rules.maxLength ? href : inEncoding(href, encoding);
    return normaliseUrl(text, baseUrl, rules);
  }, rules);
  const canonical = linkElements.find((link) => hasWord(link.attribs.rel, 'canonical'))?.attribs.href;
  const refresh = parseRefresh(httpEquiv(metas.filter(isOutsideNoscript), 'refresh') ?? '');
  const refreshUrl = refresh === null ? null : urlOrNull(resolve(refresh.target));
  const redirects = refresh !== null && refresh.seconds <= MAX_REDIRECT_DELAY_S && refreshUrl !== url;
  return {
    resolve,
    canonical: canonical === undefined ? null : urlOrNull(resolve(canonical)),
    refreshUrl,
    refreshTo: redirects ? refreshUrl : null,
  };
}

/** Every second link of a page has the target of an earlier one, apart from the fragment. */
function cached(resolve: PageAddresses['resolve'], { maxLength }: UrlRules): PageAddresses['resolve'] {
  const known = new Map<string, NormalisedUrl>();
  return (href) => {
    // A longer one may be refused for its length after escaping, which includes the fragment.
    const key = href.length > maxLength / 4 ? href : withoutFragment(href);
    const before = known.get(key);
    if (before !== undefined) return before;
    const target = resolve(key);
    if (known.size < MAX_CACHED) known.set(key, target);
    return target;
  };
}

/** Fragments are dropped anyway. A space before one is kept: at the end of the URL the standard would strip it. */
function withoutFragment(href: string): string {
  const cut = href.indexOf('#');
  return cut === -1 || (cut > 0 && href.charCodeAt(cut - 1) <= 0x20) ? href : href.slice(0, cut);
}

function urlOrNull(target: NormalisedUrl): string | null {
  return target.ok ? target.url : null;
}

/** Only the query: the path is UTF-8 in any page, and a fragment is never sent. */
function inEncoding(href: string, encoding: string): string {
  const [, path, query, fragment] = /^([^?#]*\?)([^#]*)(.*)$/s.exec(href) ?? [];
  return path === undefined || query === undefined ? href : path + encodeQuery(query, encoding) + fragment;
}

/** A refresh in <noscript> leads to a page that asks for scripts. */
function isOutsideNoscript(meta: Element): boolean {
  return !(meta.parent !== null && 'name' in meta.parent && meta.parent.name === 'noscript');
}

function hasWord(attribute: string | undefined, word: string): boolean {
  return (attribute ?? '').toLowerCase().split(/\s+/).includes(word);
}

interface Refresh {
  seconds: number;
  /** As written, relative to the page's base. */
  target: string;
}

/** <meta http-equiv="refresh"> as the HTML standard reads it: a time, a separator, and an address with or without `url=` and quotes. */
const REFRESH =
  /^\s*(?=[\d.])(\d*)(?:\.[\d.]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?:"([^"]*)"?|'([^']*)'?|(.*))/is;

/** Returns null if the value is invalid or only reloads the page. */
function parseRefresh(content: string): Refresh | null {
  const match = REFRESH.exec(content);
  const target = (match?.[2] ?? match?.[3] ?? match?.[4] ?? '').trim();
  return target === '' ? null : { seconds: Number(match?.[1] ?? 0), target };
}
