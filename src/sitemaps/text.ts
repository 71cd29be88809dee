/** The plain-text sitemap: one URL per line and nothing else. */
import type { FormatReader, RawEntry, SitemapFormat } from './entry.ts';

/** A longer line is not a URL that can be crawled, and is skipped. */
const MAX_LINE_LENGTH = 10_000;

/** With more lines that are not URLs before the first URL, the file is some other text. */
const MAX_OTHER_LINES = 10;

export class TextReader implements FormatReader {
  format: SitemapFormat | null = null;
  done = false;
  private rest = '';
  private otherLines = 0;

  write(text: string): RawEntry[] {
    const lines = (this.rest + text).split(/[\r\n]+/);
    // Keeps the start of a line that is too long, so that its end is not read as a line of its own.
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
      } else if (loc !== '') this.otherLines += 1;
      if (this.format === null && this.otherLines > MAX_OTHER_LINES) {
        this.done = true;
        break;
      }
    }
    return found;
  }
}
