/** The outlinks of a page, frames among them: absolute, normalised, each once, bounded. */
import type { NormalisedUrl } from '../urls/index.ts';
import { captionOf } from './page-elements.ts';
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
  maxLinks: number;
  /** Makes of what a link says the address it leads to. */
  resolve: (href: string) => NormalisedUrl;
  /** Where a <meta> refresh leads, normalised. */
  refreshUrl: string | null;
}

const MAX_ANCHOR_LENGTH = 200;
const MAX_REL_LENGTH = 100;
const NOFOLLOW = /(?:^|\s)nofollow(?:\s|$)/i;

/** Indented markup is mostly white space, which `tidy` takes away again. */
const RAW_ANCHOR_LENGTH = 4 * MAX_ANCHOR_LENGTH;

export class LinkCollector {
  private readonly links = new Map<string, PageLink>();
  private linksFound = 0;
  private linksTooLong = 0;

  constructor(private readonly rules: LinkRules) {
    const { refreshUrl, maxLinks } = rules;
    if (refreshUrl === null || maxLinks === 0) return;
    this.linksFound += 1;
    this.links.set(refreshUrl, { url: refreshUrl, anchor: '', rel: 'refresh', nofollow: false });
  }

  add(element: Element): void {
    // Beyond the bound links are only counted: to tell them apart would cost memory without a bound.
    if (this.links.size >= this.rules.maxLinks) {
      this.linksFound += 1;
      return;
    }
    const target = this.rules.resolve(element.attribs.href ?? element.attribs.src ?? '');
    if (!target.ok) {
      if (target.problem === 'too long') this.linksTooLong += 1;
      return;
    }
    const rel = relOf(element);
    // Wherever in it that stands; only what is kept has a bound.
    const nofollow = NOFOLLOW.test(element.attribs.rel ?? '');
    const known = this.links.get(target.url);
    if (known === undefined) {
      this.linksFound += 1;
      this.links.set(target.url, { url: target.url, anchor: anchorOf(element), rel, nofollow });
    } else {
      known.nofollow &&= nofollow;
      if (known.anchor === '') known.anchor = anchorOf(element);
    }
  }

  found(): PageLinks {
    const { linksFound, linksTooLong } = this;
    return { links: [...this.links.values()], linksFound, linksTooLong };
  }
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
