/** Picks out, in one walk, the elements that say what a page is and where it leads. A selector for each would be a walk each. */
import { type Document, type Element, isElement, walk } from './walk.ts';

export interface Survey {
  html: Element | null;
  base: Element | null;
  title: Element | null;
  metas: Element[];
  /** <link> elements. */
  relations: Element[];
  /** <a> and <area> with an href, <frame> and <iframe> with a src, in the order of the document. */
  anchors: Element[];
  /** <h1> to <h6>, the first of them. */
  headings: Element[];
  /** What the author marks as the page's own content. */
  mains: Element[];
  articles: Element[];
}

const HTML_NAMESPACE = 'http://www.w3.org/1999/xhtml';

/** Enough for the caption of any honest link; one that wraps half the page is not read to its end. */
const MAX_CAPTION_NODES = 500;

/** A document needs fewer; a page that is all headings says nothing by them. */
export const MAX_HEADINGS = 200;

const HEADING = /^h[1-6]$/;

export function nothingFound(): Survey {
  return {
    html: null,
    base: null,
    title: null,
    metas: [],
    relations: [],
    anchors: [],
    headings: [],
    mains: [],
    articles: [],
  };
}

export function survey(document: Document): Survey {
  const found = nothingFound();
  walk(document, (node) => {
    if (!isElement(node)) return 'into';
    switch (node.name) {
      case 'html':
        found.html ??= node;
        break;
      case 'base':
        if (node.attribs.href !== undefined) found.base ??= node;
        break;
      case 'title':
        // An <svg> has titles too; only the standard's parser tells namespaces.
        if ((node.namespace ?? HTML_NAMESPACE) === HTML_NAMESPACE) found.title ??= node;
        break;
      case 'meta':
        found.metas.push(node);
        break;
      case 'link':
        found.relations.push(node);
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
        // Not part of the page until a script makes it so.
        return 'over';
      default:
        if (node.attribs.role === 'main') found.mains.push(node);
    }
    return 'into';
  });
  return found;
}

export function isHeading(name: string): boolean {
  return HEADING.test(name);
}

/** The text inside, images by their description, until a little more than `length` characters are together. */
export function captionOf(element: Element, length: number): string {
  let text = '';
  let nodes = 0;
  walk(element, (node) => {
    nodes += 1;
    if (node.type === 'text') text += node.data;
    else if (node.type === 'script' || node.type === 'style') return 'over';
    else if (isElement(node)) {
      if (node.name === 'br') text += ' ';
      if (node.name === 'img' && node.attribs.alt !== undefined) text += ` ${node.attribs.alt} `;
    }
    return text.length > length || nodes >= MAX_CAPTION_NODES ? 'stop' : 'into';
  });
  return text;
}
