/**
 * What a page says, without what surrounds it: the text of <main>, else of its only <article>, else of the whole body,
 * block by block. Left out are the parts that HTML and ARIA name as furniture, and blocks that are mostly links: a menu
 * that nobody marked as one. A page that would have nothing left is taken whole.
 */
import type { Survey } from './page-elements.ts';
import { TextBlocks } from './text-blocks.ts';
import { type Document, type Element, isElement, type Node, walk } from './walk.ts';

export type Part =
  /** Never text for a reader. */
  | 'silent'
  /** What every page of a site has around its own content. */
  | 'furniture'
  /** Within these a <header> or <footer> is the content's own, elsewhere it is the site's. */
  | 'section'
  | 'edge'
  /** Begins and ends a block of its own; elements that are none of these run within a line. */
  | 'block'
  | 'link';

/** One table, because it is asked twice for every element of every page. */
export const PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
  ...named(
    'silent',
    'script style template noscript head svg math iframe object canvas audio video select datalist textarea button',
  ),
  ...named('furniture', 'nav aside menu dialog'),
  ...named('section', 'main article section'),
  ...named('edge', 'header footer'),
  ...named(
    'block',
    'address blockquote body br caption center dd details div dl dt fieldset figcaption figure form h1 h2 h3 h4 h5 h6 hr ' +
      'html legend li ol p pre summary table tbody td tfoot th thead tr ul',
  ),
  ...named('link', 'a'),
]);

const FURNITURE_ROLES: ReadonlySet<string> = new Set(
  'navigation banner contentinfo complementary search menu menubar toolbar dialog'.split(' '),
);

export function mainText(document: Document, { mains, articles }: Survey): string {
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
        return 'into';
      }
      if (!isElement(node)) return node.type === 'cdata' ? 'into' : 'over';
      const part = PARTS.get(node.name);
      if (part === 'silent' || (!whole && isFurniture(node, part, sections))) return 'over';
      if (part === 'link') links += 1;
      else if (part !== undefined) blocks.flush();
      if (part === 'section') sections += 1;
      return blocks.isFull() ? 'stop' : 'into';
    },
    (node) => {
      if (!isElement(node)) return;
      const part = PARTS.get(node.name);
      if (part === 'link') links -= 1;
      else if (part !== undefined) blocks.flush();
      if (part === 'section') sections -= 1;
    },
  );
  blocks.flush();
  return blocks.toString();
}

function isFurniture({ attribs }: Element, part: Part | undefined, sections: number): boolean {
  return (
    part === 'furniture' ||
    (part === 'edge' && sections === 0) ||
    (attribs.role !== undefined && FURNITURE_ROLES.has(attribs.role)) ||
    attribs.hidden !== undefined ||
    attribs['aria-hidden'] === 'true'
  );
}

function named(part: Part, names: string): [string, Part][] {
  return names.split(' ').map((name) => [name, part]);
}
