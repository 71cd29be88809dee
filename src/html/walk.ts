/** Walks a tree without recursion, because pages may be nested deeper than the call stack allows. */
import type { ChildNode, Document, Element } from 'domhandler';

export type Node = ChildNode;
export type { Document, Element };

/** What to do after visiting a node: enter it, skip its content, or end the walk. */
export type WalkStep = 'enter' | 'skip' | 'stop';

/** Visits everything inside `root` in document order, and calls `leave` after each entered node except text. */
export function walk(root: Node, visit: (node: Node) => WalkStep, leave?: (node: Node) => void): void {
  let node = firstChild(root);
  while (node !== null) {
    const step = visit(node);
    if (step === 'stop') return;
    let next = step === 'enter' ? firstChild(node) : null;
    if (next === null && step === 'enter' && node.type !== 'text') leave?.(node);
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
  // Checked first because most nodes are text, and reading a missing property is slow.
  if (node.type === 'text') return null;
  return ('children' in node ? node.children[0] : undefined) ?? null;
}
