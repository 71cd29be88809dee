/** Builds the tree of a document, within limits on time and memory that a hostile page cannot exceed. */
import { load } from 'cheerio';
import { type ChildNode, DomHandler } from 'domhandler';
import { Parser as XmlParser } from 'htmlparser2';
import { hasTooManyAttributes } from './attribute-limit.ts';
import { type Deadline, DocumentTooComplexError, ParseLimits } from './parse-limits.ts';
import { createTreeAdapter } from './tree-adapter.ts';
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
