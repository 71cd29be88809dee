/** Text put together block by block, a line each, until it is long enough. */
import { tidy } from './text.ts';

/** Of a page's main text, in characters: a novel. */
const MAX_TEXT_LENGTH = 500_000;

/** Above this share of link text a block is a list of links. */
const MOST_LINKED = 0.5;

export class TextBlocks {
  private readonly blocks: string[] = [];
  private length = 0;
  private block = '';
  private linked = 0;

  /** `whole`: with the blocks that are mostly links. */
  constructor(private readonly whole: boolean) {}

  add(text: string, isLink: boolean): void {
    this.block += text;
    if (isLink) this.linked += text.length;
  }

  /** Ends a block. */
  flush(): void {
    if (this.block === '' || this.isFull()) return;
    // Most of them are the line breaks between two tags.
    const text = this.block.trim() === '' ? '' : tidy(this.block, MAX_TEXT_LENGTH - this.length);
    if (text !== '' && (this.whole || this.linked <= MOST_LINKED * text.length)) {
      this.blocks.push(text);
      this.length += text.length + 1;
    }
    this.block = '';
    this.linked = 0;
  }

  isFull(): boolean {
    return this.length >= MAX_TEXT_LENGTH;
  }

  toString(): string {
    return this.blocks.join('\n');
  }
}
