/** The outlinks of a page, frames among them: absolute, normalised, each once, bounded. */
import type { UrlRules } from '../settings.ts';
import { normaliseUrl } from '../urls/index.ts';
import { captionOf } from './survey.ts';
import { tidy } from './text.ts';
import type { Element } from './walk.ts';

export interface PageLink {
  url: string;
  /** Text of the first such link that has some. */
  anchor: string;
  /** Lower-case words of the first such link. */
  rel: string | null;
  /** Every such link on the page says nofollow. */
  nofollow: boolean;
}

export interface PageLinks {
  links: PageLink[];
  /** Links kept, and those beyond the bound as often as they occur. */
  linksFound: number;
  /** Links to addresses longer than any that are crawled. */
  linksTooLong: number;
}

export interface LinkRules {
  baseUrl: string;
  maxLinks: number;
  rules: UrlRules;
  /** Where a <meta> refresh leads, normalised. */
  refreshUrl: string | null;
}

const MAX_ANCHOR_LENGTH = 200;
const MAX_REL_LENGTH = 100;

/** Indented markup is mostly white space, which `tidy` takes away again. */
const RAW_ANCHOR_LENGTH = 4 * MAX_ANCHOR_LENGTH;

export function collectLinks(
  anchors: readonly Element[],
  { baseUrl, maxLinks, rules, refreshUrl }: LinkRules,
): PageLinks {
  const links = new Map<string, PageLink>();
  let linksFound = 0;
  let linksTooLong = 0;
  if (refreshUrl !== null && maxLinks > 0) {
    linksFound += 1;
    links.set(refreshUrl, { url: refreshUrl, anchor: '', rel: 'refresh', nofollow: false });
  }
  for (const element of anchors) {
    // Beyond the bound links are only counted: to tell them apart would cost memory without a bound.
    if (links.size >= maxLinks) {
      linksFound += 1;
      continue;
    }
    const target = normaliseUrl(element.attribs.href ?? element.attribs.src ?? '', baseUrl, rules);
    if (!target.ok) {
      if (target.problem === 'too long') linksTooLong += 1;
      continue;
    }
    const rel = relOf(element);
    const nofollow = (rel ?? '').split(' ').includes('nofollow');
    const known = links.get(target.url);
    if (known === undefined) {
      linksFound += 1;
      links.set(target.url, { url: target.url, anchor: anchorOf(element), rel, nofollow });
    } else {
      known.nofollow &&= nofollow;
      if (known.anchor === '') known.anchor = anchorOf(element);
    }
  }
  return { links: [...links.values()], linksFound, linksTooLong };
}

function anchorOf(element: Element): string {
  return (
    tidy(captionOf(element, RAW_ANCHOR_LENGTH), MAX_ANCHOR_LENGTH) ||
    tidy(element.attribs.title ?? '', MAX_ANCHOR_LENGTH)
  );
}

function relOf(element: Element): string | null {
  return tidy(element.attribs.rel ?? '', MAX_REL_LENGTH).toLowerCase() || null;
}
