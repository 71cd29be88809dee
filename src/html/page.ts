/** Extracts everything that a crawl needs from an HTML document. */
import type { UrlRules } from '../core/settings.ts';
import { readDirectives } from '../robots/directives.ts';
import { resolveAddresses } from './addresses.ts';
import { parseDocument, type TreeOptions } from './document.ts';
import { decodeHtml } from './encodings.ts';
import { LinkCollector, type PageLinks } from './links.ts';
import { mainText } from './main-text.ts';
import { findPageElements, httpEquiv, innerText, metaContents, type PageElements } from './page-elements.ts';
import { Deadline, DocumentTooComplexError, ParseTimeoutError } from './parse-limits.ts';
import { extractLinks, extractPage } from './streaming-extract.ts';
import { collapseWhitespace } from './text.ts';
import type { Document, Element } from './walk.ts';

export interface ParsedPage extends PageLinks {
  title: string | null;
  /** As declared by <html lang>, or else by a content-language in <meta> or the header. */
  language: string | null;
  description: string | null;
  /** Normalised and absolute. */
  canonical: string | null;
  headings: Heading[];
  /** The main text, one block per line, without menus and other boilerplate. */
  text: string;
  /** The target of a <meta> refresh that acts as a redirect, or null. */
  refreshTo: string | null;
  /** From <meta name="robots">, or one that names our product token. */
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
  /** Where the body came from; normalised. */
  url: string;
  contentType: string | undefined;
  /** Our product token, by which a <meta> may address us alone. */
  token: string;
  /** The header Content-Language. */
  contentLanguage?: string | undefined;
  maxLinks: number;
  /** How links are normalised. */
  rules: UrlRules;
}

const MAX_TITLE_LENGTH = 500;
const MAX_DESCRIPTION_LENGTH = 1_000;
const MAX_HEADING_LENGTH = 300;
/** The length that BCP 47 recommends to allow for a tag. */
const MAX_LANGUAGE_LENGTH = 35;

export interface ParseOptions {
  /** Limit for building the tree. A document that takes longer is read without one. */
  treeTimeoutMs?: number;
  /** The limit is for everything, and ParseTimeoutError is thrown at its end. */
  throwOnTimeout?: boolean;
}

export function parsePage(
  source: PageSource,
  { treeTimeoutMs = Number.POSITIVE_INFINITY, throwOnTimeout = false }: ParseOptions = {},
): ParsedPage {
  const { body, url, contentType, maxLinks, rules } = source;
  const deadline = new Deadline(treeTimeoutMs);
  const checkTime = (): void => {
    if (throwOnTimeout && deadline.hasPassed()) throw new ParseTimeoutError();
  };
  const { text: html, encoding } = decodeHtml(body, contentType);
  const document = buildTree(html, { contentType, deadline }, throwOnTimeout);
  const { elements, text } = document === null ? extractPage(html) : readTree(document, checkTime);
  checkTime();
  const { canonical, refreshTo, ...addresses } = resolveAddresses(elements, { url, rules, encoding });
  const collector = new LinkCollector({ maxLinks, ...addresses });
  const addLink = (anchor: Element): void => {
    checkTime();
    collector.add(anchor);
  };
  if (document === null) extractLinks(html, addLink);
  else for (const anchor of elements.anchors) addLink(anchor);
  return { ...factsOf(source, elements), text, canonical, refreshTo, ...collector.found() };
}

/** Returns null if the document exceeds a limit and has to be read without a tree. */
function buildTree(html: string, options: TreeOptions, throwOnTimeout: boolean): Document | null {
  try {
    return parseDocument(html, options);
  } catch (error) {
    if (error instanceof DocumentTooComplexError || (error instanceof ParseTimeoutError && !throwOnTimeout))
      return null;
    throw error;
  }
}

function readTree(document: Document, checkTime: () => void): { elements: PageElements; text: string } {
  const elements = findPageElements(document);
  checkTime();
  return { elements, text: mainText(document, elements) };
}

type Facts = Pick<ParsedPage, 'title' | 'language' | 'description' | 'headings' | 'noindex' | 'nofollow'>;

function factsOf(
  { token, contentLanguage }: PageSource,
  { html, title, metas, headings }: PageElements,
): Facts {
  return {
    title: textOf(title, MAX_TITLE_LENGTH) || null,
    language: languageOf(html, metas, contentLanguage),
    description:
      collapseWhitespace(metaContents(metas, 'description')[0] ?? '', MAX_DESCRIPTION_LENGTH) || null,
    headings: headings
      .map((heading) => ({ level: Number(heading.name[1]), text: textOf(heading, MAX_HEADING_LENGTH) }))
      .filter(({ text }) => text !== ''),
    ...readDirectives(metaContents(metas, 'robots', token.toLowerCase()), token),
  };
}

function textOf(element: Element | null, maxLength: number): string {
  // Indented markup is mostly white space, which is collapsed afterwards.
  return element === null ? '' : collapseWhitespace(innerText(element, 4 * maxLength), maxLength);
}

function languageOf(
  html: Element | null,
  metas: readonly Element[],
  header: string | undefined,
): string | null {
  const declared =
    html?.attribs.lang || html?.attribs['xml:lang'] || httpEquiv(metas, 'content-language') || header || '';
  // A list names the audiences of a page, not the language it is written in.
  return declared.includes(',') ? null : collapseWhitespace(declared, MAX_LANGUAGE_LENGTH) || null;
}
