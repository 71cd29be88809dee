/** The tree adapter that cheerio builds its trees with here: lighter than its own, and within limits. */
import { Element, Text } from 'domhandler';
import { adapter } from 'parse5-htmlparser2-tree-adapter';
import type { ParseLimits } from './parse-limits.ts';

/** Shared by all elements without attributes, most of a dense page: with an object for each, a page was five times as large. */
const NO_ATTRIBUTES: Record<string, string> = Object.freeze(Object.create(null));

export function createTreeAdapter(limits: ParseLimits): typeof adapter {
  return {
    ...adapter,
    insertBefore,
    /** Leaves out the namespaces and prefixes of attributes: two more objects that nothing here reads. */
    createElement(name, namespace, attributes) {
      limits.addNodes(1 + attributes.length);
      const attribs: Record<string, string> = attributes.length === 0 ? NO_ATTRIBUTES : Object.create(null);
      for (const attribute of attributes) attribs[attribute.name] = attribute.value;
      const element = new Element(name, attribs, []);
      element.namespace = namespace;
      return element;
    },
    adoptAttributes(element, attributes) {
      limits.addNodes(attributes.length);
      if (element.attribs === NO_ATTRIBUTES) element.attribs = Object.create(null);
      for (const { name, value } of attributes) element.attribs[name] ??= value;
    },
    createCommentNode(data) {
      limits.addNodes(1);
      return adapter.createCommentNode(data);
    },
    insertText(parent, text) {
      limits.work(1);
      // Words arrive one by one, and most join the text before them.
      if (parent.children.at(-1)?.type !== 'text') limits.addNodes(1);
      adapter.insertText(parent, text);
    },
    insertTextBefore(parent, text, reference) {
      limits.work(1);
      if (reference.prev?.type === 'text') {
        reference.prev.data += text;
        return;
      }
      limits.addNodes(1);
      insertBefore(parent, new Text(text), reference);
    },
    /** Called for every open element that the parser passes while it searches for the one that a tag closes. */
    getNamespaceURI(element) {
      limits.work(1);
      return adapter.getNamespaceURI(element);
    },
    /** Called for every unclosed <b>, <i> and the like when another one opens. */
    getAttrList(element) {
      const attributes = adapter.getAttrList(element);
      limits.work(1 + attributes.length);
      return attributes;
    },
    onItemPush: () => limits.openElement(),
    onItemPop: () => limits.closeElement(),
  };
}

/**
 * Searches from the end, because misplaced content of a table goes right before the table, which comes last: from the
 * start it took minutes.
 */
const insertBefore: typeof adapter.insertBefore = (parent, node, reference) => {
  const { prev } = reference;
  node.parent = parent;
  node.prev = prev;
  node.next = reference;
  reference.prev = node;
  if (prev !== null) prev.next = node;
  parent.children.splice(parent.children.lastIndexOf(reference), 0, node);
};
