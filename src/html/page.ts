/** Makes of an HTML document what the crawl wants to know of it. */
import { PRODUCT_TOKEN } from '../http/user-agent.ts';
import { normaliseUrl } from '../urls/index.ts';
import { decodeHtml } from './decode.ts';
import { parseDocument } from './document.ts';
import { collectLinks, type PageLink } from './links.ts';
import { captionOf, survey } from './survey.ts';
import { tidy } from './text.ts';
import type { Element } from './walk.ts';

export interface ParsedPage {
  title: string | null;
  /** As <html lang> declares it. */
  language: string | null;
  description: string | null;
  /** Normalised and absolute. */
  canonical: string | null;
  /** From <meta name="robots">, or one that names Amble. */
  noindex: boolean;
  nofollow: boolean;
  links: PageLink[];
  linksFound: number;
}

export interface PageSource {
  body: Buffer;
  /** Normalised; where the body came from. */
  url: string;
  contentType: string | undefined;
  maxLinks: number;
}

const MAX_TITLE_LENGTH = 500;
const MAX_DESCRIPTION_LENGTH = 1_000;
/** BCP 47 recommends that much room for a tag. */
const MAX_LANGUAGE_LENGTH = 35;

export function parsePage({ body, url, contentType, maxLinks }: PageSource): ParsedPage {
  const { html, base, title, metas, relations, anchors } = survey(
    parseDocument(decodeHtml(body, contentType)),
  );
  const baseUrl = resolve(base, url) ?? url;
  const canonical = relations.find((link) => hasWord(link.attribs.rel, 'canonical'));
  const robots = robotsWords(metas);
  return {
    title: title === null ? null : tidy(captionOf(title, 4 * MAX_TITLE_LENGTH), MAX_TITLE_LENGTH) || null,
    language: tidy(html?.attribs.lang ?? html?.attribs['xml:lang'] ?? '', MAX_LANGUAGE_LENGTH) || null,
    description: tidy(metaContent(metas, 'description') ?? '', MAX_DESCRIPTION_LENGTH) || null,
    canonical: resolve(canonical ?? null, baseUrl),
    noindex: robots.has('noindex') || robots.has('none'),
    nofollow: robots.has('nofollow') || robots.has('none'),
    ...collectLinks(anchors, baseUrl, maxLinks),
  };
}

function resolve(element: Element | null, baseUrl: string): string | null {
  const href = element?.attribs.href;
  if (href === undefined) return null;
  const target = normaliseUrl(href, baseUrl);
  return target.ok ? target.url : null;
}

function metaContent(metas: readonly Element[], name: string): string | undefined {
  return metas.find((meta) => meta.attribs.name?.trim().toLowerCase() === name)?.attribs.content;
}

function robotsWords(metas: readonly Element[]): Set<string> {
  const contents = ['robots', PRODUCT_TOKEN.toLowerCase()].map((name) => metaContent(metas, name) ?? '');
  return new Set(
    contents
      .join(',')
      .toLowerCase()
      .split(/[\s,]+/),
  );
}

function hasWord(attribute: string | undefined, word: string): boolean {
  return (attribute ?? '').toLowerCase().split(/\s+/).includes(word);
}
