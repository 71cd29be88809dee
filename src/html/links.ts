/** The outlinks of a page: absolute, normalised, each once, bounded. */
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
}

const MAX_ANCHOR_LENGTH = 200;
const MAX_REL_LENGTH = 100;

/** Indented markup is mostly white space, which `tidy` takes away again. */
const RAW_ANCHOR_LENGTH = 4 * MAX_ANCHOR_LENGTH;

export function collectLinks(anchors: readonly Element[], baseUrl: string, maxLinks: number): PageLinks {
  const links = new Map<string, PageLink>();
  let linksFound = 0;
  for (const element of anchors) {
    // Beyond the bound links are only counted: to tell them apart would cost memory without a bound.
    if (links.size >= maxLinks) {
      linksFound += 1;
      continue;
    }
    const target = normaliseUrl(element.attribs.href ?? '', baseUrl);
    if (!target.ok) continue;
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
  return { links: [...links.values()], linksFound };
}

function anchorOf(element: Element): string {
  return tidy(captionOf(element, RAW_ANCHOR_LENGTH), MAX_ANCHOR_LENGTH);
}

function relOf(element: Element): string | null {
  return tidy(element.attribs.rel ?? '', MAX_REL_LENGTH).toLowerCase() || null;
}
