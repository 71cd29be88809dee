/**
 * Reads a page without building a tree, for documents that exceed its limits (see parse-limits.ts). Takes time in
 * proportion to the length of the document, and no more memory than the result. The result differs where a browser would
 * repair the markup, which moves text but not links. Blocks of links are left out of the text, other boilerplate is not.
 */
import { Element, Text } from 'domhandler';
import { ELEMENT_KINDS } from './main-text.ts';
import { createPageElements, isHeading, MAX_HEADINGS, type PageElements } from './page-elements.ts';
import { readTags, type Tag } from './tags.ts';
import { TextBlocks } from './text.ts';

export interface StreamedPage {
  /** Without anchors; see extractLinks. */
  elements: PageElements;
  text: string;
}

/** Honest pages have fewer. */
const MAX_METAS = 1_000;

/** More than any reader of innerText asks for. */
const MAX_CAPTURED_LENGTH = 4_000;

export function extractPage(html: string): StreamedPage {
  const elements = createPageElements();
  const blocks = new TextBlocks(false);
  const whole = new TextBlocks(true);
  const capture = new TextCapture();
  let templates = 0;
  let hiddenIn: string | null = null;
  let isLink = false;

  const flush = (): void => {
    blocks.flush();
    whole.flush();
  };
  const open = (tag: Tag): void => {
    const kind = ELEMENT_KINDS.get(tag.name);
    // A <head> that is never closed would hide everything.
    if (kind === 'hidden' && tag.name !== 'head') hiddenIn ??= tag.name;
    else if (kind === 'link') isLink = true;
    else if (kind !== undefined) flush();
    if (tag.name === 'template') templates += 1;
    if (templates > 0) return;
    if (tag.name === 'html') elements.html ??= new Element('html', tag.attribs);
    else if (tag.name === 'base' && tag.attribs.href !== undefined && hiddenIn !== 'svg')
      elements.base ??= element(tag);
    else if (tag.name === 'title' && hiddenIn !== 'svg') elements.title ??= capture.begin(tag);
    else if (tag.name === 'link' && hiddenIn !== 'svg' && elements.linkElements.length < MAX_METAS)
      elements.linkElements.push(element(tag));
    else if (tag.name === 'meta' && elements.metas.length < MAX_METAS) {
      // A refresh in it leads to a page that asks for scripts.
      if (hiddenIn !== 'noscript') elements.metas.push(element(tag));
    } else if (isHeading(tag.name) && elements.headings.length < MAX_HEADINGS) {
      elements.headings.push(capture.begin(tag));
    } else capture.open(tag);
  };
  readTags(html, {
    open,
    close(name) {
      if (hiddenIn === name) hiddenIn = null;
      if (name === 'template' && templates > 0) templates -= 1;
      const kind = ELEMENT_KINDS.get(name);
      if (kind === 'link') isLink = false;
      else if (kind !== undefined && kind !== 'hidden') flush();
      capture.close(name);
    },
    text(text) {
      if (templates > 0) return;
      capture.add(text, hiddenIn);
      // The title is not kind of the text.
      if (hiddenIn !== null || capture.of === 'title' || whole.isFull()) return;
      blocks.add(text, isLink);
      whole.add(text, isLink);
    },
  });
  capture.end();
  flush();
  return { elements, text: blocks.toString() || whole.toString() };
}

/** Visits the links in document order. A pass of its own, because the base is known only after the first. */
export function extractLinks(html: string, visit: (anchor: Element) => void): void {
  const capture = new TextCapture();
  let anchor: Element | null = null;
  let templates = 0;
  const end = (): void => {
    capture.end();
    if (anchor !== null) visit(anchor);
    anchor = null;
  };
  let hiddenIn: string | null = null;
  readTags(html, {
    open(tag) {
      if (tag.name === 'script' || tag.name === 'style') hiddenIn = tag.name;
      if (tag.name === 'template') templates += 1;
      if (templates > 0) return;
      const { name, attribs } = tag;
      if (name === 'a') {
        end();
        if (attribs.href !== undefined) anchor = capture.begin(tag);
      } else if (name === 'area' ? attribs.href !== undefined : isFrame(name) && attribs.src !== undefined) {
        visit(element(tag));
      } else capture.open(tag);
    },
    close(name) {
      if (hiddenIn === name) hiddenIn = null;
      if (name === 'template' && templates > 0) templates -= 1;
      if (name === 'a') end();
    },
    text(text) {
      if (templates === 0) capture.add(text, hiddenIn);
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

/** Captures the text of one element at a time, as its only child. */
class TextCapture {
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

  add(text: string, hiddenIn: string | null): void {
    if (this.element === null || hiddenIn === 'script' || hiddenIn === 'style') return;
    if (this.text.length < MAX_CAPTURED_LENGTH) this.text += text;
  }

  close(name: string): void {
    if (name === this.of || (isHeading(name) && isHeading(this.of ?? ''))) this.end();
  }

  end(): void {
    if (this.element !== null && this.text !== '') {
      this.element.children = [new Text(this.text.slice(0, MAX_CAPTURED_LENGTH))];
    }
    this.element = null;
    this.text = '';
  }
}
