/** Collects the elements that describe a page and link to others, in one walk: a selector for each would need a walk each. */
import { type Document, type Element, isElement, walk } from './walk.ts';

export interface PageElements {
  html: Element | null;
  base: Element | null;
  title: Element | null;
  metas: Element[];
  /** <link> elements. */
  linkElements: Element[];
  /** <a> and <area> with an href, <frame> and <iframe> with a src, in the order of the document. */
  anchors: Element[];
  /** <h1> to <h6>, up to MAX_HEADINGS. */
  headings: Element[];
  /** What the author marked as the main content. */
  mains: Element[];
  articles: Element[];
}

const HTML_NAMESPACE = 'http://www.w3.org/1999/xhtml';

/** Enough for the text of any honest link; one that wraps half the page is not read to its end. */
const MAX_TEXT_NODES = 500;

const MAX_INDENTATION = 10_000;

/** Honest documents have fewer. */
export const MAX_HEADINGS = 200;

const HEADING = /^h[1-6]$/;

export function createPageElements(): PageElements {
  return {
    html: null,
    base: null,
    title: null,
    metas: [],
    linkElements: [],
    anchors: [],
    headings: [],
    mains: [],
    articles: [],
  };
}

export function findPageElements(document: Document): PageElements {
  const found = createPageElements();
  walk(document, (node) => {
    if (!isElement(node)) return 'enter';
    switch (node.name) {
      case 'html':
        found.html ??= node;
        break;
      case 'base':
        if (node.attribs.href !== undefined && isHtml(node)) found.base ??= node;
        break;
      case 'title':
        if (isHtml(node)) found.title ??= node;
        break;
      case 'meta':
        found.metas.push(node);
        break;
      case 'link':
        if (isHtml(node)) found.linkElements.push(node);
        break;
      case 'a':
      case 'area':
        if (node.attribs.href !== undefined) found.anchors.push(node);
        break;
      case 'frame':
      case 'iframe':
        if (node.attribs.src !== undefined) found.anchors.push(node);
        break;
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6':
        if (found.headings.length < MAX_HEADINGS) found.headings.push(node);
        break;
      case 'main':
        found.mains.push(node);
        break;
      case 'article':
        found.articles.push(node);
        break;
      case 'template':
        // Not part of the page until a script inserts it.
        return 'skip';
      default:
        if (node.attribs.role === 'main') found.mains.push(node);
    }
    return 'enter';
  });
  return found;
}

/** An <svg> has titles too, and its <base> and <link> mean nothing. Only the HTML parser sets namespaces, not that of XHTML. */
function isHtml({ namespace, parent }: Element): boolean {
  if (namespace !== undefined) return namespace === HTML_NAMESPACE;
  for (let above = parent; above !== null; above = above.parent)
    if (isElement(above) && (above.name === 'svg' || above.name === 'math')) return false;
  return true;
}

export function isHeading(name: string): boolean {
  return HEADING.test(name);
}

/**
 * The first `length` characters of an element's text, with the descriptions of images. Takes no more of a text than fits:
 * 200 nested headings may all contain the same one of half a megabyte.
 */
export function innerText(element: Element, length: number): string {
  let text = '';
  let nodes = 0;
  const add = (more: string): void => {
    // Indentation before the first word would take the place of the words.
    const words = text === '' ? more.slice(0, MAX_INDENTATION).trimStart() : more;
    text += words.slice(0, length - text.length);
  };
  walk(element, (node) => {
    nodes += 1;
    if (node.type === 'text') add(node.data);
    else if (node.type === 'script' || node.type === 'style') return 'skip';
    else if (isElement(node)) {
      if (node.name === 'br') add(' ');
      if (node.name === 'img' && node.attribs.alt !== undefined)
        add(` ${node.attribs.alt.slice(0, length)} `);
    }
    return text.length >= length || nodes >= MAX_TEXT_NODES ? 'stop' : 'enter';
  });
  return text;
}

export function metaContents(metas: readonly Element[], ...names: string[]): string[] {
  return metas
    .filter((meta) => names.includes(meta.attribs.name?.trim().toLowerCase() ?? ''))
    .map((meta) => meta.attribs.content ?? '');
}

export function httpEquiv(metas: readonly Element[], name: string): string | undefined {
  return metas.find((meta) => meta.attribs['http-equiv']?.trim().toLowerCase() === name)?.attribs.content;
}
