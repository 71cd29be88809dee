/** Picks out, in one walk, the elements that say what a page is and where it leads. A selector for each would be a walk each. */
import { type Document, type Element, type Node, walk } from './walk.ts';

export interface Survey {
  html: Element | null;
  base: Element | null;
  title: Element | null;
  metas: Element[];
  /** <link> elements. */
  relations: Element[];
  /** <a> and <area> elements with an href, in the order of the document. */
  anchors: Element[];
}

const HTML_NAMESPACE = 'http://www.w3.org/1999/xhtml';

/** Enough for the caption of any honest link; one that wraps half the page is not read to its end. */
const MAX_CAPTION_NODES = 500;

export function survey(document: Document): Survey {
  const found: Survey = { html: null, base: null, title: null, metas: [], relations: [], anchors: [] };
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
      case 'template':
        // Not part of the page until a script makes it so.
        return 'over';
    }
    return 'into';
  });
  return found;
}

/** The text inside, until a little more than `length` characters are together. */
export function captionOf(element: Element, length: number): string {
  let text = '';
  let nodes = 0;
  walk(element, (node) => {
    if (node.type === 'text') text += node.data;
    nodes += 1;
    return text.length > length || nodes >= MAX_CAPTION_NODES ? 'stop' : 'into';
  });
  return text;
}

function isElement(node: Node): node is Element {
  return node.type === 'tag' || node.type === 'script' || node.type === 'style';
}
