/** A walk over a parsed document without recursion: pages nest deeper than a call stack. */
import type { ChildNode, Document, Element } from 'domhandler';

export type Node = ChildNode;
export type { Document, Element };

/** What to do after a node: go into it, pass over what is inside, or end the walk. */
export type Step = 'into' | 'over' | 'stop';

/** Visits everything inside `root` in the order of the document, and leaves each node but text that it went into. */
export function walk(root: Node, visit: (node: Node) => Step, leave?: (node: Node) => void): void {
  let node = firstChild(root);
  while (node !== null) {
    const step = visit(node);
    if (step === 'stop') return;
    let next = step === 'into' ? firstChild(node) : null;
    if (next === null && step === 'into' && node.type !== 'text') leave?.(node);
    while (next === null) {
      next = node.next;
      if (next !== null) break;
      const parent: Node | null = node.parent;
      if (parent === null || parent === root) return;
      leave?.(parent);
      node = parent;
    }
    node = next;
  }
}

export function isElement(node: Node): node is Element {
  return node.type === 'tag' || node.type === 'script' || node.type === 'style';
}

function firstChild(node: Node): Node | null {
  // Asked first because most nodes are text, and asking any of them for a property it lacks is slow.
  if (node.type === 'text') return null;
  return ('children' in node ? node.children[0] : undefined) ?? null;
}
