/** Text to a tree, as browsers build it, in time that a hostile page cannot stretch. */
import { load } from 'cheerio';
import { adapter } from 'parse5-htmlparser2-tree-adapter';
import type { Document } from './walk.ts';

/**
 * Where browsers stop nesting too. The standard's algorithm looks through all open elements for each new one: 50,000
 * nested elements, a quarter of a megabyte, took it half a minute.
 */
const MAX_DEPTH = 512;

export function parseDocument(html: string, { deep }: { deep: boolean }): Document {
  try {
    // Without scripting <noscript> holds markup, and its links count: no script will ever run here.
    return load(html, { scriptingEnabled: false, treeAdapter: boundedAdapter() })._root;
  } catch (error) {
    if (!deep || !(error instanceof TooDeep)) throw error;
    // The simpler parser copes with any depth, if slowly. Its tree differs in repairs that do not move links.
    return load(html, { xml: { xmlMode: false } })._root;
  }
}

/** Nobody writes such a page: it needs time that a process with other things to do does not have. */
export class TooDeep extends Error {}

function boundedAdapter(): typeof adapter {
  let depth = 0;
  return {
    ...adapter,
    onItemPush() {
      depth += 1;
      if (depth > MAX_DEPTH) throw new TooDeep();
    },
    onItemPop() {
      depth -= 1;
    },
  };
}
