/** Reads a sitemap of any format as it streams and passes its entries on in batches, so memory does not grow with its size. */
import { normaliseUrl } from '../urls/index.ts';
import { type Bytes, decodeXml, decompress, limitBytes } from './decode.ts';
import {
  type FormatReader,
  parseLastmod,
  type RawEntry,
  type SitemapEntry,
  type SitemapFormat,
} from './entry.ts';
import { TextReader } from './text.ts';
import { XmlReader } from './xml.ts';

/** The limit of the sitemap protocol. Further entries of a file are not read. */
export const MAX_ENTRIES = 50_000;

/** Likewise, unpacked. A longer sitemap is rejected. */
export const MAX_SITEMAP_BYTES = 50 * 1024 * 1024;

const BATCH = 1_000;

/** A file that begins with more white space counts as empty. */
const MAX_BLANK_LENGTH = 100_000;

export interface SitemapSource {
  /** The sitemap's own URL; normalised. */
  url: string;
  contentType: string;
  /** Of the decompressed file. */
  maxBytes: number;
}

export interface SitemapSummary {
  /** Null if this is not a sitemap. */
  format: SitemapFormat | null;
  /** Entries passed on. */
  entries: number;
  /** Entries whose URL is too long to be crawled. */
  tooLong: number;
  /** Whether the end was not read: too many bytes or entries, or a broken archive. */
  cut: boolean;
}

/**
 * Broken markup, archives and dates are not errors: it returns what can be read. It rejects if the body or `take` does, and
 * waits for each `take`.
 */
export async function readSitemap(
  body: Bytes,
  { url, contentType, maxBytes }: SitemapSource,
  take: (entries: readonly SitemapEntry[]) => Promise<void>,
): Promise<SitemapSummary> {
  let cut = false;
  const onCut = () => {
    cut = true;
  };
  const text = decodeXml(limitBytes(decompress(body, onCut), maxBytes, onCut), contentType);
  const entries = new EntryBatches(url, take);
  let reader: FormatReader | null = null;
  let blank = 0;
  for await (const piece of text) {
    reader ??= readerFor(piece);
    if (reader !== null) await entries.add(reader.write(piece));
    else blank += piece.length;
    if (reader?.done || entries.full || blank > MAX_BLANK_LENGTH) break;
  }
  if (reader !== null && !cut) await entries.add(reader.end());
  await entries.flush();
  return {
    format: reader?.format ?? null,
    entries: entries.count,
    tooLong: entries.tooLong,
    cut: cut || entries.full,
  };
}

/** Converts raw entries and passes them on in batches. */
class EntryBatches {
  count = 0;
  tooLong = 0;
  /** There were more than MAX_ENTRIES. */
  full = false;
  private batch: SitemapEntry[] = [];

  constructor(
    private readonly base: string,
    private readonly take: (entries: readonly SitemapEntry[]) => Promise<void>,
  ) {}

  async add(found: readonly RawEntry[]): Promise<void> {
    for (const raw of found) {
      this.full = this.count >= MAX_ENTRIES;
      if (this.full) return;
      const target = normaliseUrl(raw.loc, this.base);
      if (!target.ok) {
        if (target.problem === 'too long') this.tooLong += 1;
        continue;
      }
      this.count += 1;
      this.batch.push({ kind: raw.kind, url: target.url, lastmod: parseLastmod(raw.lastmod) });
      if (this.batch.length >= BATCH) await this.flush();
    }
  }

  async flush(): Promise<void> {
    if (this.batch.length > 0) await this.take(this.batch);
    this.batch = [];
  }
}

/** Chooses by the first character that is not white space; null if there is none yet. */
function readerFor(text: string): FormatReader | null {
  const start = text.trimStart()[0];
  if (start === undefined) return null;
  return start === '<' ? new XmlReader() : new TextReader();
}
