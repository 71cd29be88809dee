/** Makes of an HTML document what the crawl wants to know of it. */
import { readDirectives } from '../robots/directives.ts';
import type { UrlRules } from '../settings.ts';
import { normaliseUrl } from '../urls/index.ts';
import { decodeHtml } from './decode.ts';
import { parseDocument } from './document.ts';
import { collectLinks, type PageLinks } from './links.ts';
import { mainText } from './main-text.ts';
import { parseRefresh } from './refresh.ts';
import { captionOf, survey } from './survey.ts';
import { tidy } from './text.ts';
import type { Element } from './walk.ts';

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

/** A page that sends its reader on after more than this wants to be read; where it leads is then a link. */
const LONGEST_REDIRECT_S = 10;

/** Without `deep`, TooDeep is thrown for a page that would take long. */
export function parsePage(source: PageSource, { deep = true } = {}): ParsedPage {
  const { body, url, contentType, token, maxLinks, rules } = source;
  const document = parseDocument(decodeHtml(body, contentType), { deep });
  const found = survey(document);
  const { title, metas, relations } = found;
  const baseUrl = resolve(found.base?.attribs.href, url) ?? url;
  const canonical = relations.find((link) => hasWord(link.attribs.rel, 'canonical'));
  const refresh = refreshOf(metas);
  const refreshUrl = resolve(refresh?.target, baseUrl, rules);
  const redirects = refresh !== null && refresh.seconds <= LONGEST_REDIRECT_S && refreshUrl !== url;
  return {
    title: caption(title, MAX_TITLE_LENGTH) || null,
    language: languageOf(found.html, metas, source.contentLanguage),
    description: tidy(metaContent(metas, 'description') ?? '', MAX_DESCRIPTION_LENGTH) || null,
    canonical: resolve(canonical?.attribs.href, baseUrl, rules),
    headings: found.headings
      .map((heading) => ({ level: Number(heading.name[1]), text: caption(heading, MAX_HEADING_LENGTH) }))
      .filter(({ text }) => text !== ''),
    text: mainText(document, found),
    refreshTo: redirects ? refreshUrl : null,
    ...readDirectives(metaContents(metas, 'robots', token.toLowerCase()), token),
    ...collectLinks(found.anchors, { baseUrl, maxLinks, rules, refreshUrl }),
  };
}

function caption(element: Element | null, maxLength: number): string {
  // Indented markup is mostly white space, which `tidy` takes away again.
  return element === null ? '' : tidy(captionOf(element, 4 * maxLength), maxLength);
}

function resolve(href: string | undefined, baseUrl: string, rules?: UrlRules): string | null {
  if (href === undefined) return null;
  const target = normaliseUrl(href, baseUrl, rules);
  return target.ok ? target.url : null;
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

function refreshOf(metas: readonly Element[]): ReturnType<typeof parseRefresh> {
  const content = pragma(metas.filter(isForEverybody), 'refresh');
  return content === undefined ? null : parseRefresh(content);
}

/** What stands in <noscript> asks for scripts, or leads to a page that says so. */
function isForEverybody(meta: Element): boolean {
  return !(meta.parent !== null && 'name' in meta.parent && meta.parent.name === 'noscript');
}

function metaContent(metas: readonly Element[], name: string): string | undefined {
  return metaContents(metas, name)[0];
}

function metaContents(metas: readonly Element[], ...names: string[]): string[] {
  return metas
    .filter((meta) => names.includes(meta.attribs.name?.trim().toLowerCase() ?? ''))
    .map((meta) => meta.attribs.content ?? '');
}

function pragma(metas: readonly Element[], name: string): string | undefined {
  return metas.find((meta) => meta.attribs['http-equiv']?.trim().toLowerCase() === name)?.attribs.content;
}

function hasWord(attribute: string | undefined, word: string): boolean {
  return (attribute ?? '').toLowerCase().split(/\s+/).includes(word);
}
