/** How parse5 builds its tree here: a lighter one than it would by itself, and within bounds. */
import { Element, Text } from 'domhandler';
import { adapter } from 'parse5-htmlparser2-tree-adapter';
import type { Bounds } from './bounds.ts';

/** Shared by all elements without attributes, most of a dense page: objects of their own made it five times as large. */
const NO_ATTRIBUTES: Record<string, string> = Object.freeze(Object.create(null));

export function boundedAdapter(bounds: Bounds): typeof adapter {
  return {
    ...adapter,
    insertBefore,
    /** Without the namespaces and prefixes of attributes, two more objects that nobody here asks for. */
    createElement(name, namespace, attributes) {
      bounds.add(1 + attributes.length);
      const attribs: Record<string, string> = attributes.length === 0 ? NO_ATTRIBUTES : Object.create(null);
      for (const attribute of attributes) attribs[attribute.name] = attribute.value;
      const element = new Element(name, attribs, []);
      element.namespace = namespace;
      return element;
    },
    adoptAttributes(element, attributes) {
      bounds.add(attributes.length);
      if (element.attribs === NO_ATTRIBUTES) element.attribs = Object.create(null);
      for (const { name, value } of attributes) element.attribs[name] ??= value;
    },
    createCommentNode(data) {
      bounds.add(1);
      return adapter.createCommentNode(data);
    },
    insertText(parent, text) {
      // Words come one by one, and most join the text before them.
      if (parent.children.at(-1)?.type !== 'text') bounds.add(1);
      adapter.insertText(parent, text);
    },
    insertTextBefore(parent, text, reference) {
      if (reference.prev?.type === 'text') {
        reference.prev.data += text;
        return;
      }
      bounds.add(1);
      insertBefore(parent, new Text(text), reference);
    },
    onItemPush: () => bounds.enter(),
    onItemPop: () => bounds.leave(),
  };
}

/** Searches from the end, where the table stands whose misplaced content goes before it: from the start it took minutes. */
const insertBefore: typeof adapter.insertBefore = (parent, node, reference) => {
  const { prev } = reference;
  node.parent = parent;
  node.prev = prev;
  node.next = reference;
  reference.prev = node;
  if (prev !== null) prev.next = node;
  parent.children.splice(parent.children.lastIndexOf(reference), 0, node);
};
