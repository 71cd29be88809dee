/** The plain-text sitemap: one URL a line, nothing else. */
import type { FormatReader, RawEntry, SitemapFormat } from './entry.ts';

/** A longer line is no URL that is kept; it is skipped to its end. */
const MAX_LINE_LENGTH = 10_000;

/** So many lines that are no URL, before the first that is one: this is some other text. */
const MOST_STRANGE_LINES = 10;

export class TextReader implements FormatReader {
  format: SitemapFormat | null = null;
  over = false;
  private rest = '';
  private strange = 0;

  write(text: string): RawEntry[] {
    const lines = (this.rest + text).split(/[\r\n]+/);
    // The start of a line that is too long stays, so that its end is not taken for a line of its own.
    this.rest = lines.pop()?.slice(0, MAX_LINE_LENGTH) ?? '';
    return this.read(lines);
  }

  end(): RawEntry[] {
    const lines = [this.rest];
    this.rest = '';
    return this.read(lines);
  }

  private read(lines: readonly string[]): RawEntry[] {
    const found: RawEntry[] = [];
    for (const line of lines) {
      const loc = line.trim();
      if (/^https?:\/\//i.test(loc) && line.length < MAX_LINE_LENGTH) {
        this.format = 'text';
        found.push({ kind: 'page', loc, lastmod: null });
      } else if (loc !== '') this.strange += 1;
      if (this.format === null && this.strange > MOST_STRANGE_LINES) {
        this.over = true;
        break;
      }
    }
    return found;
  }
}
