/** Reads a sitemap of any format as it streams, and hands its entries on a batch at a time: memory does not grow with it. */
import { normaliseUrl } from '../urls/index.ts';
import { atMost, type Bytes, unpacked } from './bytes.ts';
import { decoded } from './decode.ts';
import type { FormatReader, RawEntry, SitemapEntry, SitemapFormat } from './entry.ts';
import { parseLastmod } from './lastmod.ts';
import { TextReader } from './text.ts';
import { XmlReader } from './xml.ts';

/** The protocol's own limit; what a file lists beyond it is not read. */
export const MAX_ENTRIES = 50_000;

/** Likewise, unpacked. A longer sitemap is rejected. */
export const MAX_SITEMAP_BYTES = 50 * 1024 * 1024;

const BATCH = 1_000;

/** White space at the start of a file, before it is called empty. */
const MAX_BLANK_LENGTH = 100_000;

export interface SitemapSource {
  /** Where it came from; normalised. */
  url: string;
  contentType: string;
  /** Of the unpacked file. */
  maxBytes: number;
}

export interface SitemapSummary {
  /** null: this is no sitemap. */
  format: SitemapFormat | null;
  /** Entries handed on. */
  entries: number;
  /** Those whose address is too long for anybody. */
  tooLong: number;
  /** Longer than the limit of bytes or entries, or a broken archive: its end was not read. */
  cut: boolean;
}

/**
 * Never fails because of what it reads: broken markup, archives and dates yield what could be read. It fails when the
 * source breaks or `take` does, and does not go on before `take` has.
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
  const text = decoded(atMost(unpacked(body, onCut), maxBytes, onCut), contentType);
  const entries = new Batches(url, take);
  let reader: FormatReader | null = null;
  let blank = 0;
  for await (const piece of text) {
    reader ??= readerFor(piece);
    if (reader !== null) await entries.add(reader.write(piece));
    else blank += piece.length;
    if (reader?.over || entries.full || blank > MAX_BLANK_LENGTH) break;
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

/** Raw entries become entries here, and are handed on when there are enough of them. */
class Batches {
  count = 0;
  tooLong = 0;
  /** There were more than are taken. */
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

/** By the first character that is no white space; null while there is none. */
function readerFor(text: string): FormatReader | null {
  const start = text.trimStart()[0];
  if (start === undefined) return null;
  return start === '<' ? new XmlReader() : new TextReader();
}
