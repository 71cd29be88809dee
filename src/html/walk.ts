/** A walk over a parsed document without recursion: pages nest deeper than a call stack. */
import type { CheerioAPI } from 'cheerio';

export type Document = CheerioAPI['_root'];
export type Node = Document['children'][number];
export type Element = Extract<Node, { attribs: unknown }>;

/** What to do after a node: go into it, pass over what is inside, or end the walk. */
export type Step = 'into' | 'over' | 'stop';

/** Visits everything inside `root`, in the order of the document. */
export function walk(root: Node, visit: (node: Node) => Step): void {
  let node = after(root, root, 'into');
  while (node !== null) {
    const step = visit(node);
    if (step === 'stop') return;
    node = after(node, root, step);
  }
}

function after(node: Node, root: Node, step: Step): Node | null {
  const child = step === 'into' && 'children' in node ? node.children[0] : undefined;
  if (child !== undefined) return child;
  for (let at: Node | null = node; at !== null && at !== root; at = at.parent) {
    if (at.next !== null) return at.next;
  }
  return null;
}
