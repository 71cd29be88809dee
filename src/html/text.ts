/** The texts of a page: single lines, and lines put together to its main text. Both have a maximum length. */

/** Limit for the main text of a page, in characters: as long as a novel. */
const MAX_TEXT_LENGTH = 500_000;

/** A block with a larger share of link text is a list of links. */
const MAX_LINK_SHARE = 0.5;

/** Most texts of a page do not match and are kept as they are. */
const NEEDS_COLLAPSING = /[^\S ]|\0| {2}|^ | $/;

/** Collapses each run of white space to one space, and cuts at `maxLength` without splitting a surrogate pair. */
export function collapseWhitespace(text: string, maxLength: number): string {
  const oneLine = NEEDS_COLLAPSING.test(text) ? text.replace(/[\s\0]+/g, ' ').trim() : text;
  if (oneLine.length <= maxLength) return oneLine;
  const cut = oneLine.slice(0, maxLength);
  return (isHighSurrogate(cut.charCodeAt(maxLength - 1)) ? cut.slice(0, -1) : cut).trimEnd();
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

export class TextBlocks {
  private readonly blocks: string[] = [];
  private length = 0;
  private block = '';
  private linked = 0;

  /** `whole` includes blocks that are mostly links. */
  constructor(private readonly whole: boolean) {}

  add(text: string, isLink: boolean): void {
    this.block += text;
    if (isLink) this.linked += text.length;
  }

  /** Ends a block. */
  flush(): void {
    if (this.block === '' || this.isFull()) return;
    // Most blocks are just the line break between two tags.
    const text =
      this.block.trim() === '' ? '' : collapseWhitespace(this.block, MAX_TEXT_LENGTH - this.length);
    if (text !== '' && (this.whole || this.linked <= MAX_LINK_SHARE * text.length)) {
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
