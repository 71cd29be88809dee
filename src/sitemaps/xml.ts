/**
 * Reads sitemaps, sitemap indexes and feeds as they stream. The parser knows only the five entities of XML and no DTD, so an
 * entity bomb has no effect, and it accepts markup that is not well formed.
 */
import { Parser } from 'htmlparser2';
import type { FormatReader, RawEntry, SitemapFormat } from './entry.ts';

interface Dialect {
  format: SitemapFormat;
  kind: RawEntry['kind'];
  /** Local names, in lower case. Prefixes differ from file to file, and many declare no namespace at all. */
  item: string;
  loc: string;
  lastmod: readonly string[];
}

const ATOM: Dialect = {
  format: 'feed',
  kind: 'page',
  item: 'entry',
  loc: 'link',
  lastmod: ['updated', 'modified'],
};

/** By the local name of the root. */
const DIALECTS = new Map<string, Dialect>([
  ['urlset', { format: 'urlset', kind: 'page', item: 'url', loc: 'loc', lastmod: ['lastmod'] }],
  ['sitemapindex', { format: 'index', kind: 'sitemap', item: 'sitemap', loc: 'loc', lastmod: ['lastmod'] }],
  ['rss', { format: 'feed', kind: 'page', item: 'item', loc: 'link', lastmod: ['pubdate', 'date'] }],
  ['rdf', { format: 'feed', kind: 'page', item: 'item', loc: 'link', lastmod: ['date'] }],
  ['feed', ATOM],
]);

/** Sitemaps need four levels, feeds that contain markup a few more. The parser gets slower with each open element. */
const MAX_DEPTH = 64;

/** Longer than any URL or date that is kept, with white space around it. */
const MAX_FIELD_LENGTH = 10_000;

interface Item {
  depth: number;
  loc: string | null;
  lastmod: string | null;
}

interface Field {
  name: 'loc' | 'lastmod';
  text: string;
  href: string | null;
  rel: string | null;
}

export class XmlReader implements FormatReader {
  done = false;
  private dialect: Dialect | null = null;
  private depth = 0;
  private item: Item | null = null;
  private field: Field | null = null;
  private found: RawEntry[] = [];
  private readonly parser = new Parser(
    {
      onopentagname: (name) => this.open(localName(name)),
      onattribute: (name, value) => this.attribute(name, value),
      ontext: (text) => this.text(text),
      onclosetag: () => this.close(),
    },
    { xmlMode: true },
  );

  get format(): SitemapFormat | null {
    return this.dialect?.format ?? null;
  }

  write(text: string): RawEntry[] {
    this.parser.write(text);
    const { found } = this;
    this.found = [];
    return found;
  }

  /** An element that is still open was truncated, and half a URL is a different URL. */
  end(): RawEntry[] {
    return [];
  }

  private open(name: string): void {
    this.depth += 1;
    if (this.dialect === null) {
      this.dialect = DIALECTS.get(name) ?? null;
      if (this.dialect === null) this.stop();
      return;
    }
    if (this.depth > MAX_DEPTH) {
      this.stop();
    } else if (name === this.dialect.item) {
      // The item before it was not closed.
      this.emit();
      this.item = { depth: this.depth, loc: null, lastmod: null };
      this.field = null;
    } else if (this.item !== null && this.depth === this.item.depth + 1) {
      // Only direct children: <image:loc> is deeper, and not a page.
      const field = fieldOf(this.dialect, name);
      this.field = field === null ? null : { name: field, text: '', href: null, rel: null };
    }
  }

  private attribute(name: string, value: string): void {
    if (this.field?.name !== 'loc' || this.item === null || this.depth !== this.item.depth + 1) return;
    if (name === 'href') this.field.href = value.slice(0, MAX_FIELD_LENGTH);
    if (name === 'rel') this.field.rel = value.slice(0, MAX_FIELD_LENGTH);
  }

  private text(text: string): void {
    if (this.field === null || this.item === null || this.depth !== this.item.depth + 1) return;
    if (this.field.text.length < MAX_FIELD_LENGTH)
      this.field.text += text.slice(0, MAX_FIELD_LENGTH - this.field.text.length);
  }

  private close(): void {
    if (this.item !== null && this.depth === this.item.depth + 1) this.keepField(this.item);
    if (this.item !== null && this.depth <= this.item.depth) this.emit();
    this.depth -= 1;
  }

  /** The first of each name counts. */
  private keepField(item: Item): void {
    if (this.field !== null) item[this.field.name] ??= this.valueOf(this.field) || null;
    this.field = null;
  }

  private valueOf({ name, text, href, rel }: Field): string | null {
    // Atom has the page in an attribute. RSS has it in the text; an Atom link in RSS is about the feed itself.
    if (name === 'lastmod' || this.dialect !== ATOM) return text.trim();
    return rel === null || rel === 'alternate' ? href : null;
  }

  private emit(): void {
    const { item, dialect } = this;
    if (item?.loc && dialect !== null)
      this.found.push({ kind: dialect.kind, loc: item.loc, lastmod: item.lastmod });
    this.item = null;
    this.field = null;
  }

  private stop(): void {
    this.done = true;
    this.parser.pause();
  }
}

function fieldOf(dialect: Dialect, name: string): Field['name'] | null {
  if (name === dialect.loc) return 'loc';
  return dialect.lastmod.includes(name) ? 'lastmod' : null;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1).toLowerCase();
}
