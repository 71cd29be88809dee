/**
 * A page read from end to end without a tree: for documents of which none is built (see tree-adapter.ts). It takes time in
 * proportion to their length, and no more memory than it returns. What it finds differs where a browser would mend
 * the markup, which moves text, not links; of the text only what is no block of links is told apart, not menus and margins.
 */
import { Element, Text } from 'domhandler';
import { PARTS } from './main-text.ts';
import { isHeading, MAX_HEADINGS, nothingFound, type Survey } from './page-elements.ts';
import { readTags, type Tag } from './tags.ts';
import { TextBlocks } from './text-blocks.ts';

export interface FlatPage {
  /** Without anchors: see flatAnchors. */
  found: Survey;
  text: string;
}

/** Nobody reads more of them. */
const MOST_METAS = 1_000;

/** As much of a caption as anybody asks for; see captionOf. */
const CAPTION_LENGTH = 4_000;

export function readFlat(html: string): FlatPage {
  const found = nothingFound();
  const blocks = new TextBlocks(false);
  const whole = new TextBlocks(true);
  const caption = new Caption();
  let templates = 0;
  let silent: string | null = null;
  let isLink = false;

  const flush = (): void => {
    blocks.flush();
    whole.flush();
  };
  const open = (tag: Tag): void => {
    const part = PARTS.get(tag.name);
    // A head that is never closed would silence all.
    if (part === 'silent' && tag.name !== 'head') silent ??= tag.name;
    else if (part === 'link') isLink = true;
    else if (part !== undefined) flush();
    if (tag.name === 'template') templates += 1;
    if (templates > 0) return;
    if (tag.name === 'html') found.html ??= new Element('html', tag.attribs);
    else if (tag.name === 'base' && tag.attribs.href !== undefined) found.base ??= element(tag);
    else if (tag.name === 'title' && silent !== 'svg') found.title ??= caption.begin(tag);
    else if (tag.name === 'link' && found.relations.length < MOST_METAS) found.relations.push(element(tag));
    else if (tag.name === 'meta' && found.metas.length < MOST_METAS) {
      // See isForEverybody.
      if (silent !== 'noscript') found.metas.push(element(tag));
    } else if (isHeading(tag.name) && found.headings.length < MAX_HEADINGS) {
      found.headings.push(caption.begin(tag));
    } else caption.open(tag);
  };
  readTags(html, {
    open,
    close(name) {
      if (silent === name) silent = null;
      if (name === 'template' && templates > 0) templates -= 1;
      const part = PARTS.get(name);
      if (part === 'link') isLink = false;
      else if (part !== undefined && part !== 'silent') flush();
      caption.close(name);
    },
    text(text) {
      if (templates > 0) return;
      caption.add(text, silent);
      // The title stands in the head, or is lost among the text.
      if (silent !== null || caption.of === 'title' || whole.isFull()) return;
      blocks.add(text, isLink);
      whole.add(text, isLink);
    },
  });
  caption.end();
  flush();
  return { found, text: blocks.toString() || whole.toString() };
}

/** The links, in order, each when it has ended; a pass of its own, because only after the first is the base known. */
export function flatAnchors(html: string, visit: (anchor: Element) => void): void {
  const caption = new Caption();
  let anchor: Element | null = null;
  let templates = 0;
  const end = (): void => {
    caption.end();
    if (anchor !== null) visit(anchor);
    anchor = null;
  };
  let silent: string | null = null;
  readTags(html, {
    open(tag) {
      if (tag.name === 'script' || tag.name === 'style') silent = tag.name;
      if (tag.name === 'template') templates += 1;
      if (templates > 0) return;
      const { name, attribs } = tag;
      if (name === 'a') {
        end();
        if (attribs.href !== undefined) anchor = caption.begin(tag);
      } else if (name === 'area' ? attribs.href !== undefined : isFrame(name) && attribs.src !== undefined) {
        visit(element(tag));
      } else caption.open(tag);
    },
    close(name) {
      if (silent === name) silent = null;
      if (name === 'template' && templates > 0) templates -= 1;
      if (name === 'a') end();
    },
    text(text) {
      if (templates === 0) caption.add(text, silent);
    },
  });
  end();
}

function element({ name, attribs }: Tag): Element {
  return new Element(name, attribs);
}

function isFrame(name: string): boolean {
  return name === 'frame' || name === 'iframe';
}

/** The text inside one element at a time, as the only child it gets. */
class Caption {
  private element: Element | null = null;
  private text = '';

  get of(): string | null {
    return this.element?.name ?? null;
  }

  begin(tag: Tag): Element {
    this.end();
    this.element = element(tag);
    return this.element;
  }

  open({ name, attribs }: Tag): void {
    if (name === 'br') this.add(' ', null);
    if (name === 'img' && attribs.alt !== undefined) this.add(` ${attribs.alt} `, null);
  }

  add(text: string, silent: string | null): void {
    if (this.element === null || silent === 'script' || silent === 'style') return;
    if (this.text.length < CAPTION_LENGTH) this.text += text;
  }

  close(name: string): void {
    if (name === this.of || (isHeading(name) && isHeading(this.of ?? ''))) this.end();
  }

  end(): void {
    if (this.element !== null && this.text !== '') {
      this.element.children = [new Text(this.text.slice(0, CAPTION_LENGTH))];
    }
    this.element = null;
    this.text = '';
  }
}
