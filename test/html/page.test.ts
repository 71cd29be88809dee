import { describe, expect, test } from 'vitest';
import { isHtml, parsePage } from '../../src/html/index.ts';

const URL_OF_PAGE = 'https://example.org/dir/page';

function parse(html: string | Buffer, { contentType = 'text/html', maxLinks = 100 } = {}) {
  return parsePage({ body: Buffer.from(html), url: URL_OF_PAGE, contentType, maxLinks });
}

function urls(html: string): string[] {
  return parse(html).links.map(({ url }) => url);
}

describe('what a page says of itself', () => {
  test('title, language, description and canonical', () => {
    const page = parse(`<!doctype html><html lang="de-CH"><head><title> A
      walk </title><meta name=Description content=" Through the  woods "><link rel="CANONICAL" href="/page#x"></head>`);
    expect(page).toMatchObject({
      title: 'A walk',
      language: 'de-CH',
      description: 'Through the woods',
      canonical: 'https://example.org/page',
      noindex: false,
      nofollow: false,
    });
  });

  test('nothing is null, not an empty string', () => {
    const page = parse('<html lang=""><title> </title><p>text');
    expect(page).toMatchObject({
      title: null,
      language: null,
      description: null,
      canonical: null,
      links: [],
      linksFound: 0,
    });
    expect(parse('')).toMatchObject({ title: null, links: [] });
  });

  test('the title of a drawing is not that of the page', () => {
    expect(parse('<body><svg><title>Icon</title></svg>').title).toBeNull();
  });

  test.each([
    ['<meta name="robots" content="noindex">', true, false],
    ['<META NAME="ROBOTS" CONTENT="NOARCHIVE, NOFOLLOW">', false, true],
    ['<meta name="robots" content="none">', true, true],
    ['<meta name="amble" content="nofollow"><meta name="robots" content="all">', false, true],
    ['<meta name="otherbot" content="none">', false, false],
  ])('%s', (meta, noindex, nofollow) => {
    expect(parse(meta)).toMatchObject({ noindex, nofollow });
  });

  test('is bounded, and never cut through a character', () => {
    const page = parse(`<title>${'😀'.repeat(5_000)}</title><a href=x>${'a😀'.repeat(5_000)}</a>`);
    expect(page.title).toBe('😀'.repeat(250));
    expect(page.links[0]?.anchor.length).toBeLessThanOrEqual(200);
    expect(page.links[0]?.anchor).not.toMatch(/[\ud800-\udbff]$/);
  });
});

describe('links', () => {
  test('are absolute, with anchor text and rel', () => {
    const page = parse(
      '<a href="../up?a=1&amp;b=2#part" rel="Nofollow UGC">Up <b>we\n go</b></a><map><area href="//other.org/"></map>',
    );
    expect(page.links).toEqual([
      { url: 'https://example.org/up?a=1&b=2', anchor: 'Up we go', rel: 'nofollow ugc', nofollow: true },
      { url: 'https://other.org/', anchor: '', rel: null, nofollow: false },
    ]);
    expect(page.linksFound).toBe(2);
  });

  test('to the same page are one: it may be followed if one of them may, and has the first text there is', () => {
    const page = parse('<a href="/x#1" rel=nofollow><img></a><a href="/x#2">Text</a><a href="/x">More</a>');
    expect(page.links).toEqual([
      { url: 'https://example.org/x', anchor: 'Text', rel: 'nofollow', nofollow: false },
    ]);
    expect(page.linksFound).toBe(1);
  });

  test('that lead out of the web are left out', () => {
    expect(
      urls(
        '<a href="mailto:a@b.c">m</a><a href="javascript:x()">j</a><a href="http://">h</a><a name="n">n</a>',
      ),
    ).toEqual([]);
  });

  test('are relative to <base>, wherever it stands and whatever follows it', () => {
    expect(urls('<a href=a>1</a><base href="/base/"><base href="/other/"><a href=b>2</a>')).toEqual([
      'https://example.org/base/a',
      'https://example.org/base/b',
    ]);
  });

  test('ignore a <base> that is no web address', () => {
    expect(urls('<base href="data:text/plain,x"><a href=a>1</a>')).toEqual(['https://example.org/dir/a']);
  });

  test('count inside <noscript>, not inside <template> or comments', () => {
    const html =
      '<noscript><a href=/n>n</a></noscript><template><a href=/t>t</a></template><!-- <a href=/c>c</a> -->';
    expect(urls(html)).toEqual(['https://example.org/n']);
  });

  test('beyond the bound are only counted', () => {
    const html = Array.from({ length: 50 }, (_, n) => `<a href="/${n}">${n}</a>`).join('');
    const page = parse(html, { maxLinks: 20 });
    expect(page.links).toHaveLength(20);
    expect(page.linksFound).toBe(50);
  });

  test('are found in a page nested deeper than a call stack', () => {
    const page = parse(`<title>Pit</title>${'<div>'.repeat(50_000)}<a href=/deep>deep <b>down</b></a>`);
    expect(page).toMatchObject({ title: 'Pit', linksFound: 1 });
    expect(page.links).toMatchObject([{ url: 'https://example.org/deep', anchor: 'deep down' }]);
  });

  test('that swallow half a page do not make it slow', () => {
    const links = Array.from({ length: 2_000 }, (_, n) => `<a href=/${n}><svg><g>`).join('');
    expect(parse(`${links}${'<i>x</i>'.repeat(20_000)}`, { maxLinks: 10_000 }).linksFound).toBe(2_000);
  });
});

describe('the encoding', () => {
  const latin1 = (html: string) => Buffer.from(html, 'latin1');

  test.each([
    ['of the header', latin1('<title>Zürich</title>'), 'text/html; charset=ISO-8859-1'],
    ['of the header, quoted', latin1('<title>Zürich</title>'), 'text/html; Charset="latin1"'],
    ['of <meta charset>', latin1('<meta charset=windows-1252><title>Zürich</title>'), 'text/html'],
    [
      'of <meta http-equiv>',
      latin1('<meta http-equiv=content-type content="text/html; charset=iso-8859-1"><title>Zürich'),
      'text/html',
    ],
    [
      'of the header before <meta>',
      Buffer.from('<meta charset=iso-8859-1><title>Zürich'),
      'text/html; charset=utf-8',
    ],
    [
      'of the BOM before all',
      Buffer.from('\ufeff<meta charset=koi8-r><title>Zürich'),
      'text/html; charset=big5',
    ],
    ['of the UTF-16 BOM', Buffer.from('\ufeff<title>Zürich', 'utf16le'), 'text/html'],
    ['undeclared: UTF-8 where the bytes are', Buffer.from('<title>Zürich'), 'text/html'],
    ['undeclared: windows-1252 where they are not', latin1('<title>Zürich'), 'text/html'],
    ['unknown: as if undeclared', Buffer.from('<title>Zürich'), 'text/html; charset=klingon'],
  ])('%s', (_, body, contentType) => {
    expect(parse(body, { contentType }).title).toBe('Zürich');
  });

  test('may be any of the standard, the old Japanese ones too', () => {
    const shiftJis = Buffer.from([0x93, 0xfa, 0x96, 0x7b]);
    const iso2022 = Buffer.from([0x1b, 0x24, 0x42, 0x46, 0x7c, 0x4b, 0x5c, 0x1b, 0x28, 0x42]);
    const title = (bytes: Buffer) => Buffer.concat([Buffer.from('<title>'), bytes]);
    expect(parse(title(shiftJis), { contentType: 'text/html; charset=shift_jis' }).title).toBe('日本');
    expect(parse(title(iso2022), { contentType: 'text/html; charset=iso-2022-jp' }).title).toBe('日本');
  });

  test('that exists by name only costs the text, not the links', () => {
    const page = parse('<a href=/x>x</a>', { contentType: 'text/html; charset=x-user-defined' });
    expect(page.links).toHaveLength(1);
  });
});

test.each([
  ['text/html', true],
  ['Text/HTML; charset=utf-8', true],
  ['application/xhtml+xml', true],
  ['text/plain', false],
  ['application/pdf', false],
  ['', false],
  [undefined, false],
])('%j is HTML: %j', (contentType, expected) => {
  expect(isHtml(contentType)).toBe(expected);
});
