/** Collects the outlinks of a page, including frames: absolute, normalised, each once, up to a maximum. */
import type { NormalisedUrl } from '../urls/index.ts';
import { innerText } from './page-elements.ts';
import { collapseWhitespace } from './text.ts';
import type { Element } from './walk.ts';

export interface PageLink {
  url: string;
  /** Text of the first link to this URL that has any. */
  anchor: string;
  /** The rel of the first link to this URL, in lower case. */
  rel: string | null;
  /** Whether every link to this URL has nofollow. */
  nofollow: boolean;
}

export interface PageLinks {
  /** As many as the caller wants, within MAX_LINKS_LENGTH. */
  links: PageLink[];
  /** Distinct links up to the maximum; beyond it every link counts. */
  linksFound: number;
  /** Links whose URL is too long to be crawled. */
  linksTooLong: number;
}

export interface LinkRules {
  maxLinks: number;
  /** Resolves the href of a link. */
  resolve: (href: string) => NormalisedUrl;
  /** Target of a <meta> refresh, normalised. */
  refreshUrl: string | null;
}

/**
 * Characters of all links of a page. A <base> lends its length to every link: a page of 150 kB had 10,000 links of 2,000 characters
 * each, which held the event loop for 0.25 s and took 40 MB of the database when they were recorded.
 */
export const MAX_LINKS_LENGTH = 2_000_000;

const MAX_ANCHOR_LENGTH = 200;
const MAX_REL_LENGTH = 100;

/** Words are separated by white space. Authors also write commas. */
const NOFOLLOW = /(?:^|[\s,])nofollow(?:[\s,]|$)/i;

/** What is read of an attribute: the elements of a page may all share one of half a megabyte. */
const MAX_READ_LENGTH = 1_000;

/** Indented markup is mostly white space, which is collapsed afterwards. */
const RAW_ANCHOR_LENGTH = 4 * MAX_ANCHOR_LENGTH;

export class LinkCollector {
  private readonly links = new Map<string, PageLink>();
  private linksFound = 0;
  private linksTooLong = 0;
  /** Characters of `links`. */
  private length = 0;

  constructor(private readonly rules: LinkRules) {
    const { refreshUrl, maxLinks } = rules;
    if (refreshUrl === null || maxLinks === 0) return;
    this.keep({ url: refreshUrl, anchor: '', rel: 'refresh', nofollow: false });
  }

  add(element: Element): void {
    // Beyond the maximum links are only counted: telling them apart would take unbounded memory.
    if (this.links.size >= this.rules.maxLinks || this.length >= MAX_LINKS_LENGTH) {
      this.linksFound += 1;
      return;
    }
    const target = this.rules.resolve(element.attribs.href ?? element.attribs.src ?? '');
    if (!target.ok) {
      if (target.problem === 'too long') this.linksTooLong += 1;
      return;
    }
    const rel = relOf(element);
    const nofollow = NOFOLLOW.test(startOf(element.attribs.rel));
    const known = this.links.get(target.url);
    if (known === undefined) {
      this.keep({ url: target.url, anchor: anchorOf(element), rel, nofollow });
    } else {
      known.nofollow &&= nofollow;
      if (known.anchor === '') known.anchor = anchorOf(element);
    }
  }

  private keep(link: PageLink): void {
    this.linksFound += 1;
    this.length += link.url.length + link.anchor.length + (link.rel?.length ?? 0);
    this.links.set(link.url, link);
  }

  found(): PageLinks {
    const { linksFound, linksTooLong } = this;
    return { links: [...this.links.values()], linksFound, linksTooLong };
  }
}

function anchorOf(element: Element): string {
  return (
    collapseWhitespace(innerText(element, RAW_ANCHOR_LENGTH), MAX_ANCHOR_LENGTH) ||
    collapseWhitespace(startOf(element.attribs.title), MAX_ANCHOR_LENGTH)
  );
}

function relOf(element: Element): string | null {
  return collapseWhitespace(startOf(element.attribs.rel), MAX_REL_LENGTH).toLowerCase() || null;
}

function startOf(attribute = ''): string {
  return attribute.slice(0, MAX_READ_LENGTH);
}
