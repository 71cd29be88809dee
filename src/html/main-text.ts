/**
 * Extracts the main text: that of <main>, else of the only <article>, else of the whole body, block by block. Leaves out
 * what HTML and ARIA mark as boilerplate, and blocks that are mostly links, which are unmarked menus. If nothing would be
 * left, the whole text is taken.
 */
import type { PageElements } from './page-elements.ts';
import { TextBlocks } from './text.ts';
import { type Document, type Element, isElement, type Node, walk } from './walk.ts';

export type ElementKind =
  /** Contains no text that a reader sees. */
  | 'hidden'
  /** What all pages of a site have around their own content. */
  | 'boilerplate'
  /** A <header> or <footer> inside one belongs to the content, elsewhere to the site. */
  | 'section'
  | 'header-footer'
  /** Begins and ends a block. Elements of no kind are inline. */
  | 'block'
  | 'link';

/** One table, because it is read twice for every element of every page. */
export const ELEMENT_KINDS: ReadonlyMap<string, ElementKind> = new Map<string, ElementKind>([
  ...ofKind(
    'hidden',
    'script style template noscript head svg math iframe object canvas audio video select datalist textarea button',
  ),
  ...ofKind('boilerplate', 'nav aside menu dialog'),
  ...ofKind('section', 'main article section'),
  ...ofKind('header-footer', 'header footer'),
  ...ofKind(
    'block',
    'address blockquote body br caption center dd details div dl dt fieldset figcaption figure form h1 h2 h3 h4 h5 h6 hr ' +
      'html legend li ol p pre summary table tbody td tfoot th thead tr ul',
  ),
  ...ofKind('link', 'a'),
]);

const BOILERPLATE_ROLES: ReadonlySet<string> = new Set(
  'navigation banner contentinfo complementary search menu menubar toolbar dialog'.split(' '),
);

export function mainText(document: Document, { mains, articles }: PageElements): string {
  const [main] = mains;
  const [article] = articles;
  const root = main ?? (articles.length === 1 && article !== undefined ? article : document);
  return (
    textOf(root, { whole: false }) || textOf(document, { whole: false }) || textOf(document, { whole: true })
  );
}

function textOf(root: Node, { whole }: { whole: boolean }): string {
  const blocks = new TextBlocks(whole);
  let links = 0;
  let sections = isElement(root) ? 1 : 0;
  walk(
    root,
    (node) => {
      if (node.type === 'text') {
        blocks.add(node.data, links > 0);
        return 'enter';
      }
      if (!isElement(node)) return node.type === 'cdata' ? 'enter' : 'skip';
      const kind = ELEMENT_KINDS.get(node.name);
      if (kind === 'hidden' || (!whole && isBoilerplate(node, kind, sections))) return 'skip';
      if (kind === 'link') links += 1;
      else if (kind !== undefined) blocks.flush();
      if (kind === 'section') sections += 1;
      return blocks.isFull() ? 'stop' : 'enter';
    },
    (node) => {
      if (!isElement(node)) return;
      const kind = ELEMENT_KINDS.get(node.name);
      if (kind === 'link') links -= 1;
      else if (kind !== undefined) blocks.flush();
      if (kind === 'section') sections -= 1;
    },
  );
  blocks.flush();
  return blocks.toString();
}

function isBoilerplate({ attribs }: Element, kind: ElementKind | undefined, sections: number): boolean {
  return (
    kind === 'boilerplate' ||
    (kind === 'header-footer' && sections === 0) ||
    (attribs.role !== undefined && BOILERPLATE_ROLES.has(attribs.role)) ||
    attribs.hidden !== undefined ||
    attribs['aria-hidden'] === 'true'
  );
}

function ofKind(kind: ElementKind, names: string): [string, ElementKind][] {
  return names.split(' ').map((name) => [name, kind]);
}
