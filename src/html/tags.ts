/**
 * Reads tags and texts one after the other with the tokenizer of htmlparser2. Its parser would keep a stack of open elements,
 * which takes quadratic time for millions of them.
 */
import { Tokenizer } from 'htmlparser2';

export interface Tag {
  /** In lower case. */
  name: string;
  /** Only those that are used here; the first of each name. */
  attribs: Record<string, string>;
}

export interface TagHandler {
  open(tag: Tag): void;
  close(name: string): void;
  text(text: string): void;
}

const ATTRIBUTES: ReadonlySet<string> = new Set(
  'href src rel title alt name content http-equiv lang xml:lang'.split(' '),
);

export function readTags(html: string, handler: TagHandler): void {
  let tag: Tag | null = null;
  let attribute: string | null = null;
  let value = '';
  const open = (): void => {
    if (tag !== null) handler.open(tag);
    tag = null;
  };
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        tag = { name: html.slice(start, end).toLowerCase(), attribs: {} };
      },
      onattribname(start, end) {
        const name = html.slice(start, end).toLowerCase();
        attribute = ATTRIBUTES.has(name) ? name : null;
        value = '';
      },
      onattribdata(start, end) {
        if (attribute !== null) value += html.slice(start, end);
      },
      onattribentity(codePoint) {
        if (attribute !== null) value += String.fromCodePoint(codePoint);
      },
      onattribend() {
        if (tag !== null && attribute !== null) tag.attribs[attribute] ??= value;
        attribute = null;
      },
      onopentagend: open,
      onselfclosingtag() {
        const name = tag?.name;
        open();
        if (name !== undefined) handler.close(name);
      },
      onclosetag(start, end) {
        handler.close(html.slice(start, end).toLowerCase());
      },
      ontext(start, end) {
        handler.text(html.slice(start, end));
      },
      ontextentity(codePoint) {
        handler.text(String.fromCodePoint(codePoint));
      },
      oncdata() {},
      oncomment() {},
      ondeclaration() {},
      onprocessinginstruction() {},
      onend() {},
    },
  );
  // In one chunk, so that its positions are positions in the document.
  tokenizer.write(html);
  tokenizer.end();
}
