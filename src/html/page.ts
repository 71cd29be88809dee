/** Makes of an HTML document what the crawl wants to know of it. */

import type { UrlRules } from '../core/settings.ts';
import { readDirectives } from '../robots/directives.ts';
import { addressesOf } from './addresses.ts';
import { decodeHtml } from './decode.ts';
import { parseDocument, type TreeOptions } from './document.ts';
import { LinkCollector, type PageLinks } from './links.ts';
import { mainText } from './main-text.ts';
import { metaContents, pragma } from './metas.ts';
import { captionOf, type Survey, survey } from './page-elements.ts';
import { DocumentTooComplexError, ParseTimeoutError } from './parse-limits.ts';
import { flatAnchors, readFlat } from './streaming-extract.ts';
import { tidy } from './text.ts';

import type { Document, Element } from './walk.ts';

export interface ParsedPage extends PageLinks {
  title: string | null;
  /** As the page declares it: <html lang>, or else a content-language in <meta> or header. */
  language: string | null;
  description: string | null;
  /** Normalised and absolute. */
  canonical: string | null;
  headings: Heading[];
  /** What the page says, a block a line, without menus and the like. */
  text: string;
  /** Where a <meta> refresh takes the reader before he has read; null: he stays. */
  refreshTo: string | null;
  /** From <meta name="robots">, or one that names us. */
  noindex: boolean;
  nofollow: boolean;
}

export interface Heading {
  /** 1 to 6. */
  level: number;
  text: string;
}

export interface PageSource {
  body: Buffer;
  /** Normalised; where the body came from. */
  url: string;
  contentType: string | undefined;
  /** The product token by which <meta> may address us alone. */
  token: string;
  /** The header Content-Language. */
  contentLanguage?: string | undefined;
  maxLinks: number;
  /** How links are written. */
  rules: UrlRules;
}

const MAX_TITLE_LENGTH = 500;
const MAX_DESCRIPTION_LENGTH = 1_000;
const MAX_HEADING_LENGTH = 300;
/** BCP 47 recommends that much room for a tag. */
const MAX_LANGUAGE_LENGTH = 35;

export interface ParseOptions {
  /** For the tree. What takes longer is read without one ... */
  treeMs?: number;
  /** ... or, so it is asked, not at all: ParseTimeoutError is thrown. */
  orThrow?: boolean;
}

export function parsePage(
  source: PageSource,
  { treeMs = Number.POSITIVE_INFINITY, orThrow = false }: ParseOptions = {},
): ParsedPage {
  const { body, url, contentType, maxLinks, rules } = source;
  const { text: html, encoding } = decodeHtml(body, contentType);
  const document = treeOf(html, { contentType, timeoutMs: treeMs }, orThrow);
  const { found, text } = document === null ? readFlat(html) : surveyed(document);
  const { canonical, refreshTo, ...addresses } = addressesOf(found, { url, rules, encoding });
  const collector = new LinkCollector({ maxLinks, ...addresses });
  if (document === null) flatAnchors(html, (anchor) => collector.add(anchor));
  else for (const anchor of found.anchors) collector.add(anchor);
  return { ...factsOf(source, found), text, canonical, refreshTo, ...collector.found() };
}

/** null: none is built of this one. */
function treeOf(html: string, options: TreeOptions, orThrow: boolean): Document | null {
  try {
    return parseDocument(html, options);
  } catch (error) {
    if (error instanceof DocumentTooComplexError || (error instanceof ParseTimeoutError && !orThrow))
      return null;
    throw error;
  }
}

function surveyed(document: Document): { found: Survey; text: string } {
  const found = survey(document);
  return { found, text: mainText(document, found) };
}

type Facts = Pick<ParsedPage, 'title' | 'language' | 'description' | 'headings' | 'noindex' | 'nofollow'>;

function factsOf({ token, contentLanguage }: PageSource, { html, title, metas, headings }: Survey): Facts {
  return {
    title: caption(title, MAX_TITLE_LENGTH) || null,
    language: languageOf(html, metas, contentLanguage),
    description: tidy(metaContents(metas, 'description')[0] ?? '', MAX_DESCRIPTION_LENGTH) || null,
    headings: headings
      .map((heading) => ({ level: Number(heading.name[1]), text: caption(heading, MAX_HEADING_LENGTH) }))
      .filter(({ text }) => text !== ''),
    ...readDirectives(metaContents(metas, 'robots', token.toLowerCase()), token),
  };
}

function caption(element: Element | null, maxLength: number): string {
  // Indented markup is mostly white space, which `tidy` takes away again.
  return element === null ? '' : tidy(captionOf(element, 4 * maxLength), maxLength);
}

function languageOf(
  html: Element | null,
  metas: readonly Element[],
  header: string | undefined,
): string | null {
  const declared =
    html?.attribs.lang || html?.attribs['xml:lang'] || pragma(metas, 'content-language') || header || '';
  // A list names the readers a page is for, not the language it is in.
  return declared.includes(',') ? null : tidy(declared, MAX_LANGUAGE_LENGTH) || null;
}
