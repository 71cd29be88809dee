import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { MAX_ENTRIES, readSitemap, type SitemapEntry, type SitemapSource } from '../../src/sitemaps/index.ts';
import { SEED } from '../fuzz/arbitraries.ts';

const SOURCE: SitemapSource = {
  url: 'https://example.org/sitemap.xml',
  contentType: 'application/xml',
  maxBytes: 50 * 1024 * 1024,
};

/** Yields the bytes in chunks of this size. */
async function* inPieces(body: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(body: string | Uint8Array, source: Partial<SitemapSource> = {}, pieces?: number) {
  const entries: SitemapEntry[] = [];
  const summary = await readSitemap(inPieces(body, pieces), { ...SOURCE, ...source }, async (batch) => {
    entries.push(...batch);
  });
  return { ...summary, urls: entries.map(({ url }) => url), list: entries };
}

const url = (loc: string, lastmod = '') => `<url><loc>${loc}</loc>${lastmod}</url>`;
const urlset = (...urls: string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('\n')}</urlset>`;

describe('a sitemap', () => {
  it('lists pages and when they last changed', async () => {
    const body = urlset(
      url('https://example.org/a', '<lastmod>2024-05-01</lastmod>'),
      url(
        '\n  https://example.org/b\n',
        '<lastmod>2024-05-01T10:20:30+02:00</lastmod><priority>0.8</priority>',
      ),
      url('https://example.org/c', '<lastmod>yesterday</lastmod>'),
    );
    const { format, entries, cut, list } = await read(body);
    expect({ format, entries, cut }).toEqual({ format: 'urlset', entries: 3, cut: false });
    expect(list).toEqual([
      { kind: 'page', url: 'https://example.org/a', lastmod: new Date('2024-05-01T00:00:00Z') },
      { kind: 'page', url: 'https://example.org/b', lastmod: new Date('2024-05-01T08:20:30Z') },
      { kind: 'page', url: 'https://example.org/c', lastmod: null },
    ]);
  });

  it('counts URLs that are too long, and leaves out invalid ones', async () => {
    const body = urlset(
      url(`https://example.org/${'a'.repeat(3_000)}`),
      url('mailto:ann@example.org'),
      url('https://example.org/a'),
    );
    expect(await read(body)).toMatchObject({ entries: 1, tooLong: 1, urls: ['https://example.org/a'] });
  });

  it('yields the same whatever the size of the chunks', async () => {
    const body = urlset(url('https://example.org/ä?a=1&amp;b=2'), url('https://example.org/<![CDATA[x&y]]>'));
    const whole = await read(body, {}, 1_000_000);
    expect(whole.urls).toEqual(['https://example.org/%C3%A4?a=1&b=2', 'https://example.org/x&y']);
    for (const size of [1, 2, 3, 64]) expect(await read(body, {}, size)).toEqual(whole);
  });

  it('may have prefixes, upper case, comments, or no namespace', async () => {
    const body = `<!-- made by hand --><sm:URLSET xmlns:sm="x"><sm:url><!-- <loc>https://example.org/no</loc> -->
      <sm:loc>https://example.org/a</sm:loc><sm:lastmod>2024</sm:lastmod></sm:url></sm:URLSET>`;
    expect((await read(body)).list).toEqual([
      { kind: 'page', url: 'https://example.org/a', lastmod: new Date('2024-01-01T00:00:00Z') },
    ]);
  });

  it('lists no images, videos and translations as pages', async () => {
    const extensions = `<image:image><image:loc>https://example.org/a.png</image:loc></image:image>
      <xhtml:link rel="alternate" hreflang="de" href="https://example.org/de"/>
      <video:video><video:player_loc>https://example.org/v</video:player_loc></video:video>`;
    expect((await read(urlset(url('https://example.org/a', extensions)))).urls).toEqual([
      'https://example.org/a',
    ]);
  });

  it('keeps URLs that can be fetched and drops the rest', async () => {
    const body = urlset(
      url('/relative'),
      url('ftp://example.org/'),
      url('https://[broken'),
      url(''),
      '<url><lastmod>2024-05-01</lastmod></url>',
      url(`https://example.org/${'x'.repeat(20_000)}`),
      url('https://user:secret@EXAMPLE.org:443/b#top'),
    );
    expect((await read(body)).urls).toEqual(['https://example.org/relative', 'https://example.org/b']);
  });

  it('is read in any encoding', async () => {
    const body = urlset(url('https://example.org/ü'));
    const utf16 = Buffer.from(body, 'utf16le');
    const marked = Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]);
    const bigEndian = Buffer.from(marked).swap16();
    const latin1 = Buffer.from(body.replace('UTF-8', 'ISO-8859-1'), 'latin1');
    for (const bytes of [body, `\ufeff${body}`, marked, bigEndian, utf16, latin1]) {
      expect((await read(bytes)).urls).toEqual(['https://example.org/%C3%BC']);
    }
    const headed = Buffer.from(urlset(url('https://example.org/ü')).replace(/<\?.*\?>\n/, ''), 'latin1');
    expect((await read(headed, { contentType: 'text/xml; charset=iso-8859-1' })).urls).toEqual([
      'https://example.org/%C3%BC',
    ]);
  });
});

test('an index lists sitemaps', async () => {
  const body = `<sitemapindex><sitemap><loc>https://example.org/1.xml.gz</loc><lastmod>2024-05</lastmod></sitemap>
    <sitemap><loc>https://example.org/2.xml</loc></sitemap></sitemapindex>`;
  const { format, list } = await read(body);
  expect(format).toBe('index');
  expect(list).toEqual([
    { kind: 'sitemap', url: 'https://example.org/1.xml.gz', lastmod: new Date('2024-05-01T00:00:00Z') },
    { kind: 'sitemap', url: 'https://example.org/2.xml', lastmod: null },
  ]);
});

describe('plain text', () => {
  it('lists one page per line, with any line ending', async () => {
    const body =
      '\ufeffhttps://example.org/a\r\n\r\n  https://example.org/b \rnonsense\nHTTPS://example.org/c';
    const { format, urls } = await read(body, { contentType: 'text/plain' });
    expect(format).toBe('text');
    expect(urls).toEqual(['https://example.org/a', 'https://example.org/b', 'https://example.org/c']);
  });

  it('without a URL is not a sitemap', async () => {
    expect(await read('Not found.')).toMatchObject({ format: null, entries: 0 });
    expect(await read(`${'no such thing\n'.repeat(50)}https://example.org/`)).toMatchObject({ format: null });
  });

  it('with an extremely long line is read on after it', async () => {
    const { urls } = await read(
      `https://example.org/${'x'.repeat(50_000)}\nhttps://example.org/a\n`,
      {},
      1_000,
    );
    expect(urls).toEqual(['https://example.org/a']);
  });
});

describe('a feed', () => {
  it('in RSS lists the pages of its items', async () => {
    const body = `<rss xmlns:atom="a"><channel><link>https://example.org/</link>
      <item><atom:link rel="self" href="https://example.org/feed"/><link>https://example.org/a</link>
      <pubDate>Wed, 01 May 2024 10:00:00 +0200</pubDate></item></channel></rss>`;
    const { format, list } = await read(body);
    expect(format).toBe('feed');
    expect(list).toEqual([
      { kind: 'page', url: 'https://example.org/a', lastmod: new Date('2024-05-01T08:00:00Z') },
    ]);
  });

  it('in Atom lists the pages of its entries', async () => {
    const body = `<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.org/"/><entry>
      <link rel="edit" href="https://example.org/edit"/><link href="https://example.org/a?x=1&amp;y=2"/>
      <updated>2024-05-01T08:00:00Z</updated><content type="xhtml"><div><link>no</link></div></content></entry></feed>`;
    expect((await read(body)).list).toEqual([
      { kind: 'page', url: 'https://example.org/a?x=1&y=2', lastmod: new Date('2024-05-01T08:00:00Z') },
    ]);
  });
});

describe('gzip', () => {
  const body = urlset(...Array.from({ length: 5_000 }, (_, n) => url(`https://example.org/${n}`)));

  it('is decompressed whatever its content type', async () => {
    for (const contentType of ['application/x-gzip', 'application/octet-stream', 'text/xml']) {
      expect(await read(gzipSync(body), { contentType }, 500)).toMatchObject({ entries: 5_000, cut: false });
    }
  });

  it.each([1, 7, 500, 1_000_000])('with several members is one file, in chunks of %i bytes', async (size) => {
    const half = Math.floor(body.length / 2);
    const packed = [body.slice(0, half), body.slice(half), ''].map((part) => gzipSync(part));
    const whole = { entries: 5_000, cut: false };
    expect(await read(Buffer.concat(packed), {}, size)).toMatchObject(whole);
    expect(await read(Buffer.concat([...packed, Buffer.alloc(512)]), {}, size)).toMatchObject(whole);
    expect(await read(Buffer.concat(packed).subarray(0, -1), {}, size)).toMatchObject({ cut: true });
  });

  it('that is truncated or damaged yields what can be decompressed', async () => {
    const packed = gzipSync(body);
    const half = await read(packed.subarray(0, packed.length / 2), {}, 500);
    expect(half.entries).toBeGreaterThan(1_000);
    expect(half.entries).toBeLessThan(4_000);
    const damaged = Buffer.from(packed);
    damaged.fill(0xff, packed.length - 200);
    expect(await read(damaged, {}, 500)).toMatchObject({ format: 'urlset', cut: true });
    const lines = gzipSync('https://example.org/a\nhttps://example.org/long');
    expect((await read(lines)).entries).toBe(2);
    expect(await read(lines.subarray(0, -11))).toMatchObject({ urls: ['https://example.org/a'], cut: true });
  });

  it('that expands endlessly is read up to the limit', async () => {
    const bomb = gzipSync(
      Buffer.concat([Buffer.from(urlset(url('https://example.org/a'))), Buffer.alloc(60_000_000, 32)]),
    );
    const before = process.memoryUsage().arrayBuffers;
    const { urls, cut } = await read(bomb, { maxBytes: 1_000_000 }, 65_536);
    expect(urls).toEqual(['https://example.org/a']);
    expect(cut).toBe(true);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });
});

describe('hostile or broken XML', () => {
  it('has no entities expanded', async () => {
    const lols = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join(
      '',
    );
    const body = `<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY l0 "lol"><!ENTITY file SYSTEM "file:///etc/passwd">${lols}]>
      <urlset>${url('https://example.org/&l9;')}${url('https://example.org/&file;')}${url('https://example.org/a')}</urlset>`;
    expect((await read(body)).urls).toEqual([
      'https://example.org/&l9;',
      'https://example.org/&file;',
      'https://example.org/a',
    ]);
  });

  it('yields what comes before it breaks off, and never half a URL', async () => {
    const body = `<urlset>${url('https://example.org/a')}<url><loc>https://example.org/lon`;
    expect(await read(body)).toMatchObject({ format: 'urlset', urls: ['https://example.org/a'] });
    const cut = await read(`https://example.org/a\nhttps://example.org/long`, { maxBytes: 42 });
    expect(cut).toMatchObject({ urls: ['https://example.org/a'], cut: true });
  });

  it('may lack end tags or have extra ones', async () => {
    const body = `<urlset><url><loc>https://example.org/a</loc><url><loc>https://example.org/b</loc></url></b></url>
      <url><loc>https://example.org/c</loc></url></urlset>`;
    expect((await read(body)).urls).toEqual([
      'https://example.org/a',
      'https://example.org/b',
      'https://example.org/c',
    ]);
  });

  it('nested a million deep is abandoned at once', async () => {
    const began = performance.now();
    const body = `<urlset>${url('https://example.org/a')}${'<x>'.repeat(1_000_000)}${url('https://example.org/b')}`;
    expect((await read(body, {}, 65_536)).urls).toEqual(['https://example.org/a']);
    // Reading it to the end would take minutes.
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('that is a web page is not a sitemap', async () => {
    const page =
      '<!doctype html><html><body><urlset><url><loc>https://example.org/a</loc></url></urlset></body></html>';
    expect(await read(page)).toMatchObject({ format: null, entries: 0 });
  });
});

test(`no more than ${MAX_ENTRIES} entries are read, in batches`, async () => {
  const lines = Array.from({ length: MAX_ENTRIES + 10 }, (_, n) => `https://example.org/${n}\n`).join('');
  const sizes: number[] = [];
  const summary = await readSitemap(inPieces(lines, 65_536), SOURCE, async (batch) => {
    sizes.push(batch.length);
  });
  expect(summary).toEqual({ format: 'text', entries: MAX_ENTRIES, tooLong: 0, cut: true });
  expect(sizes).toEqual(Array(MAX_ENTRIES / 1_000).fill(1_000));
});

test('an empty or blank file is not a sitemap', async () => {
  for (const body of ['', ' \n\t', ' '.repeat(1_000_000)]) {
    expect(await read(body, {}, 10_000)).toMatchObject({ format: null, entries: 0 });
  }
});

test('an error of the body is thrown, not taken for the end of the file', async () => {
  async function* breaking(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    yield bytes;
    throw new Error('the store is unavailable');
  }
  for (const bytes of [Buffer.from('https://example.org/a\n'), gzipSync('https://example.org/a\n')]) {
    await expect(readSitemap(breaking(bytes), SOURCE, async () => {})).rejects.toThrow(
      'the store is unavailable',
    );
  }
});

test('whatever the bytes, the result is entries that can be fetched', async () => {
  const tokens = [
    '<urlset>',
    '</urlset>',
    '<sitemapindex>',
    '<url>',
    '</url>',
    '<loc>',
    '</loc>',
    '<lastmod>',
    '</lastmod>',
    '<sitemap>',
    '<rss>',
    '<item>',
    '<link>',
    '<link href="',
    '<feed>',
    '<entry>',
    '"/>',
    '<![CDATA[',
    ']]>',
    '<!--',
    '-->',
    '<!DOCTYPE',
    '<?xml encoding="utf-16"?>',
    '&#x0;',
    '&#1114112;',
    '&amp',
    '\n',
    '\0',
    '\ufeff',
    'https://example.org/',
    '//',
    '2024-05-01',
    '0000-00-00',
    '9999-99-99T99:99:99Z',
  ];
  const soup = fc.array(fc.oneof(fc.constantFrom(...tokens), fc.string()), { maxLength: 60 });
  const bytes = fc.oneof(
    soup.map((parts) => Buffer.from(parts.join(''))),
    soup.map((parts) => gzipSync(parts.join(''))),
    soup.map((parts) => Buffer.from(parts.join(''), 'utf16le')),
    fc.uint8Array({ maxLength: 500 }),
  );
  await fc.assert(
    fc.asyncProperty(
      bytes,
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 0, max: 300 }),
      async (body, size, maxBytes) => {
        const { list, entries } = await read(body, { maxBytes }, size);
        expect(list.length).toBe(entries);
        for (const entry of list) {
          expect(['http:', 'https:']).toContain(new URL(entry.url).protocol);
          expect(Number.isNaN(entry.lastmod?.getTime())).toBe(false);
        }
      },
    ),
    { seed: SEED, numRuns: 500 },
  );
});
