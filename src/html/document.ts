/** Text to a tree, in time and memory that a hostile page cannot stretch. */
import { type ChildNode, DomHandler } from 'domhandler';
import { Parser as XmlParser } from 'htmlparser2';
import { Parser as HtmlParser } from 'parse5';
import { Bounds } from './bounds.ts';
import { RunTokenizer } from './tokenizer.ts';
import { boundedAdapter } from './tree-adapter.ts';
import { type Document, isElement } from './walk.ts';

export interface TreeOptions {
  contentType: string | undefined;
  longestMs: number;
}

/** Between two of them somebody looks at the clock. */
const PIECE_LENGTH = 16 * 1024;

/** Throws Unwieldy or OutOfTime where there should be no tree. */
export function parseDocument(text: string, { contentType, longestMs }: TreeOptions): Document {
  const bounds = () => new Bounds({ length: text.length, longestMs });
  return (isXhtml(contentType) ? parseXhtml(text, bounds()) : null) ?? parseHtml(text, bounds());
}

function parseHtml(html: string, bounds: Bounds): Document {
  // Without scripting <noscript> holds markup, and its links count: no script will ever run here.
  const parser = new HtmlParser({ scriptingEnabled: false, treeAdapter: boundedAdapter(bounds) });
  parser.tokenizer = new RunTokenizer(parser.options, parser, bounds);
  inPieces(html, bounds, (piece, isLast) => parser.tokenizer.write(piece, isLast));
  return parser.document;
}

/**
 * As XML where that makes a difference: `<script src="x"/>` and `<title/>` are closed. Else forgivingly, and with the
 * entities of HTML, which its DTDs define. null: its root element is not <html>; then it is HTML under another name.
 */
function parseXhtml(xml: string, bounds: Bounds): Document | null {
  const handler = new BoundedHandler(bounds);
  const parser = new XmlParser(handler, { recognizeSelfClosing: true, recognizeCDATA: true });
  inPieces(xml, bounds, (piece) => parser.write(piece));
  parser.end();
  const root = handler.root.children.find(isElement);
  return root?.name === 'html' ? handler.root : null;
}

function isXhtml(contentType: string | undefined): boolean {
  return /^\s*application\/xhtml\+xml\s*(;|$)/i.test(contentType ?? '');
}

function inPieces(text: string, bounds: Bounds, write: (piece: string, isLast: boolean) => void): void {
  for (let start = 0; start === 0 || start < text.length; start += PIECE_LENGTH) {
    bounds.look();
    write(text.slice(start, start + PIECE_LENGTH), start + PIECE_LENGTH >= text.length);
  }
}

class BoundedHandler extends DomHandler {
  constructor(private readonly bounds: Bounds) {
    super();
  }

  override onopentag(name: string, attribs: Record<string, string>): void {
    this.bounds.enter();
    super.onopentag(name, attribs);
  }

  override onclosetag(): void {
    this.bounds.leave();
    super.onclosetag();
  }

  protected override addNode(node: ChildNode): void {
    this.bounds.add(1 + (isElement(node) ? Object.keys(node.attribs).length : 0));
    super.addNode(node);
  }
}
