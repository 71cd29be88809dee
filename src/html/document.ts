/** Builds the tree of a document, within limits on time and memory that a hostile page cannot exceed. */
import { load } from 'cheerio';
import { type ChildNode, DomHandler, Element, Text } from 'domhandler';
import { Parser as XmlParser } from 'htmlparser2';
import { adapter } from 'parse5-htmlparser2-tree-adapter';
import { hasTooManyAttributes } from './attribute-limit.ts';
import { type Deadline, DocumentTooComplexError, ParseLimits } from './parse-limits.ts';
import { type Document, isElement } from './walk.ts';

export interface TreeOptions {
  contentType: string | undefined;
  deadline: Deadline;
}

/** Throws DocumentTooComplexError or ParseTimeoutError instead of exceeding its limits. */
export function parseDocument(text: string, { contentType, deadline }: TreeOptions): Document {
  const limits = () => new ParseLimits({ length: text.length, deadline });
  return (isXhtml(contentType) ? parseXhtml(text, limits()) : null) ?? parseHtml(text, limits());
}

function parseHtml(html: string, limits: ParseLimits): Document {
  if (hasTooManyAttributes(html)) throw new DocumentTooComplexError();
  // Without scripting <noscript> contains markup, and its links count: no script will ever run here.
  const $ = load(html, { scriptingEnabled: false, treeAdapter: createTreeAdapter(limits) });
  const [document] = $.root().get();
  if (document === undefined) throw new Error('cheerio loaded a page without a root.');
  return document;
}

/**
 * Reads XHTML as XML in the points that matter: `<script src="x"/>` and `<title/>` are closed. Otherwise it is as forgiving
 * as HTML and knows its entities, which the DTDs of XHTML define. Returns null if the root element is not <html>: such a
 * document is HTML with the wrong content type. cheerio would build the same tree, but offers no way to limit it.
 */
function parseXhtml(xml: string, limits: ParseLimits): Document | null {
  const handler = new LimitedDomHandler(limits);
  new XmlParser(handler, { recognizeSelfClosing: true, recognizeCDATA: true }).end(xml);
  const root = handler.root.children.find(isElement);
  return root?.name === 'html' ? handler.root : null;
}

function isXhtml(contentType: string | undefined): boolean {
  return /^\s*application\/xhtml\+xml\s*(;|$)/i.test(contentType ?? '');
}

class LimitedDomHandler extends DomHandler {
  constructor(private readonly limits: ParseLimits) {
    super();
  }

  override onopentag(name: string, attribs: Record<string, string>): void {
    this.limits.openElement();
    super.onopentag(name, attribs);
  }

  override onclosetag(): void {
    this.limits.closeElement();
    super.onclosetag();
  }

  protected override addNode(node: ChildNode): void {
    this.limits.addNodes(1 + (isElement(node) ? Object.keys(node.attribs).length : 0));
    super.addNode(node);
  }
}

/** Shared by all elements without attributes, most of a dense page: with an object for each, a page was five times as large. */
const NO_ATTRIBUTES: Record<string, string> = Object.freeze(Object.create(null));

/** What cheerio builds its trees with here: lighter than its own adapter, and within limits. */
function createTreeAdapter(limits: ParseLimits): typeof adapter {
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
