import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PageSource, parsePage } from '../../src/html/index.ts';
import { NO_RULES, normaliseUrl } from '../../src/urls/index.ts';
import { SEED, url } from '../fuzz/arbitraries.ts';

const URL_OF_PAGE = 'https://example.org/dir/page';

function parse(html: string | Buffer, source: Partial<PageSource> = {}) {
  return parsePage({
    body: Buffer.from(html),
    url: URL_OF_PAGE,
    contentType: 'text/html',
    token: 'Amble',
    maxLinks: 100,
    rules: NO_RULES,
    ...source,
  });
}

function urls(html: string): string[] {
  return parse(html).links.map(({ url }) => url);
}

describe('the facts of a page', () => {
  test('include title, language, description and canonical address', () => {
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

  test('are null if missing, not an empty string', () => {
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

  test('do not include the base and the canonical address of an <svg>', () => {
    const page = parse('<body><svg><base href=/svg/><link rel=canonical href=/c></svg><a href=x>x</a>');
    expect(page).toMatchObject({ canonical: null, links: [{ url: 'https://example.org/dir/x' }] });
  });

  test('do not take the title of an <svg> for that of the page', () => {
    expect(parse('<body><svg><title>Icon</title></svg>').title).toBeNull();
  });

  test.each([
    ['<meta name="robots" content="noindex">', true, false],
    ['<META NAME="ROBOTS" CONTENT="NOARCHIVE, NOFOLLOW">', false, true],
    ['<meta name="robots" content="none">', true, true],
    ['<meta name="amble" content="nofollow"><meta name="robots" content="all">', false, true],
    ['<meta name="robots" content="noindex"><meta name="robots" content="nofollow">', true, true],
    ['<meta name="otherbot" content="none">', false, false],
  ])('%s', (meta, noindex, nofollow) => {
    expect(parse(meta)).toMatchObject({ noindex, nofollow });
  });

  test('include directives for the configured product token', () => {
    const meta = '<meta name="otherbot" content="none">';
    expect(parse(meta, { token: 'OtherBot' })).toMatchObject({ noindex: true, nofollow: true });
  });

  test('have a maximum length and are never cut within a character', () => {
    const page = parse(`<title>${'😀'.repeat(5_000)}</title><a href=x>${'a😀'.repeat(5_000)}</a>`);
    expect(page.title).toBe('😀'.repeat(250));
    expect(page.links[0]?.anchor.length).toBeLessThanOrEqual(200);
    expect(page.links[0]?.anchor).not.toMatch(/[\ud800-\udbff]$/);
  });
});

describe('the declared language', () => {
  test.each([
    ['<html lang=de>', undefined, 'de'],
    ['<html xml:lang=fr>', undefined, 'fr'],
    ['<html lang=""><meta http-equiv=Content-Language content=" it ">', 'en', 'it'],
    ['<meta http-equiv=content-language content="de, en">', undefined, null],
    ['<p>x', 'nl', 'nl'],
    ['<html lang=de>', 'nl', 'de'],
  ])('of %s with the header %j is %j', (html, contentLanguage, expected) => {
    expect(parse(html, { contentLanguage }).language).toBe(expected);
  });
});

test('headings have a level and a text, in document order', () => {
  const page = parse('<h2>Two <i>words</i></h2><h1>One<br>line</h1><h3> </h3><h6><img alt="A map"></h6>');
  expect(page.headings).toEqual([
    { level: 2, text: 'Two words' },
    { level: 1, text: 'One line' },
    { level: 6, text: 'A map' },
  ]);
});

describe('the main text', () => {
  const text = (html: string) => parse(html).text;

  test('is that of <main>, one block per line, without boilerplate', () => {
    const html = `<title>T</title><header>Site</header><nav><a href=/>Home</a></nav>
      <main><header><h1>A walk</h1></header><p>Through
      the <b>woods</b>.<p>And <a href=/back>back</a> again.<aside>Read also</aside><script>x()</script></main>
      <footer>Imprint</footer>`;
    expect(text(html)).toBe('A walk\nThrough the woods.\nAnd back again.');
  });

  test('without <main> is that of the only <article>, otherwise of the page', () => {
    expect(text('<p>Around<article><p>The article</article>')).toBe('The article');
    expect(text('<p>Around<article>One</article><article>Two</article>')).toBe('Around\nOne\nTwo');
  });

  test('leaves out menus that are not marked as such', () => {
    const menu = '<div> <a href=/a>First page</a> | <a href=/b>Second page</a> </div>';
    expect(text(`${menu}<p>What it is about, with <a href=/c>a link</a> in it.`)).toBe(
      'What it is about, with a link in it.',
    );
  });

  test('falls back to links on a page of links, and to the page if <main> is empty', () => {
    expect(text('<ul><li><a href=/a>One</a><li><a href=/b>Two</a></ul>')).toBe('One\nTwo');
    expect(text('<main></main><p>Outside')).toBe('Outside');
  });

  test('leaves out hidden elements and those with the role of boilerplate', () => {
    expect(text('<p hidden>a<p>b<div aria-hidden=true>c</div><div role=navigation>d</div>')).toBe('b');
  });

  test('has a maximum length', () => {
    expect(text(`<p>${'word '.repeat(200_000)}`).length).toBeLessThanOrEqual(500_000);
    expect(text('<p>word'.repeat(200_000)).length).toBeLessThanOrEqual(500_000);
  });
});

describe('a refresh', () => {
  const refresh = (content: string, around = '') =>
    parse(`${around}<meta http-equiv=Refresh content="${content}">`);

  test.each([
    ['0; url=/new', 'https://example.org/new'],
    ['0;URL=new', 'https://example.org/dir/new'],
    ["5, url='/new'", 'https://example.org/new'],
    ['  1.5 ; /new', 'https://example.org/new'],
    ['0 url = /new#part', 'https://example.org/new'],
    ['0', null],
    ['0; url=', null],
    ['; url=/new', null],
    ['x; url=/new', null],
    ['0; url=/dir/page', null],
    ['0; url=mailto:a@b.c', null],
    [`${'0'.repeat(100_000)}x`, null],
  ])('%.30j leads to %j', (content, expected) => {
    expect(refresh(content).refreshTo).toBe(expected);
  });

  test('with a long delay counts as a link', () => {
    const page = refresh('30; url=/next');
    expect(page.refreshTo).toBeNull();
    expect(page.links).toMatchObject([{ url: 'https://example.org/next', rel: 'refresh' }]);
  });

  test('inside <noscript> is ignored', () => {
    expect(
      parse('<noscript><meta http-equiv=refresh content="0;url=/plain"></noscript>').refreshTo,
    ).toBeNull();
  });
});

describe('links', () => {
  test('are normalised by the rules of the crawl, and counted if too long', () => {
    const rules = { ...NO_RULES, stripTracking: true, maxLength: 40 };
    const page = parse(
      `<a href="/x?utm_source=a">x</a><a href="/x">y</a><a href="/${'l'.repeat(40)}">z</a>`,
      {
        rules,
      },
    );
    expect(page.links.map(({ url }) => url)).toEqual(['https://example.org/x']);
    expect(page).toMatchObject({ linksFound: 1, linksTooLong: 1 });
  });

  test('include frames', () => {
    const html = '<frameset><frame src="menu.html" title="Menu"><frame src="about:blank"></frameset>';
    expect(parse(html).links).toMatchObject([{ url: 'https://example.org/dir/menu.html', anchor: 'Menu' }]);
    expect(urls('<iframe src="/inner"></iframe><iframe></iframe>')).toEqual(['https://example.org/inner']);
  });

  test('take their text from images, and none from scripts', () => {
    const page = parse('<a href=/a><img alt="Home"></a><a href=/b><script>x</script>B<style>y</style></a>');
    expect(page.links.map(({ anchor }) => anchor)).toEqual(['Home', 'B']);
  });

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

  test('are nofollow wherever rel contains it, although only the start of rel is stored', () => {
    const words = 'noopener noreferrer external '.repeat(10);
    const [link] = parse(
      `<a href="/x" rel="${words}NoFollow">x</a><a href="/y" rel="${words}nofollower">y</a>`,
    ).links;
    expect(link).toMatchObject({ nofollow: true, rel: words.slice(0, 100).trim() });
    expect(parse(`<a href="/y" rel="${words}nofollower">y</a>`).links).toMatchObject([{ nofollow: false }]);
  });

  test.each(['nofollow,ugc', 'ugc,nofollow', 'ugc, NoFollow ,x'])('are nofollow with commas: %s', (rel) => {
    expect(parse(`<a href=/x rel="${rel}">x</a>`).links).toMatchObject([{ nofollow: true }]);
  });

  test('to the same URL are merged: nofollow only if all are, with the first text found', () => {
    const page = parse('<a href="/x#1" rel=nofollow><img></a><a href="/x#2">Text</a><a href="/x">More</a>');
    expect(page.links).toEqual([
      { url: 'https://example.org/x', anchor: 'Text', rel: 'nofollow', nofollow: false },
    ]);
    expect(page.linksFound).toBe(1);
  });

  test('resolve the same whether or not the result was cached', () => {
    // An attribute of a parsed page contains neither NUL nor CR.
    const part = fc
      .oneof(url, fc.constantFrom('', 'a', 'a ', ' ', '\t', '?b', '/'))
      .map((text) => text.replaceAll(/[\0\r]/g, ''));
    const written = fc
      .tuple(part, fc.constantFrom('', '#', '#b', ' #b', '\x01#b'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(written, { minLength: 1, maxLength: 20 }), (hrefs) => {
        const page = hrefs.map(
          (href) => `<a href="${href.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">x</a>`,
        );
        const targets = hrefs.map((href) => normaliseUrl(href, URL_OF_PAGE, NO_RULES));
        const expected = new Set(targets.flatMap((target) => (target.ok ? [target.url] : [])));
        const found = parse(page.join(''), { contentType: 'text/html; charset=utf-8' });
        expect(found.links.map((link) => link.url)).toEqual([...expected]);
        expect(found.linksTooLong).toBe(
          targets.filter((target) => !target.ok && target.problem === 'too long').length,
        );
      }),
      { seed: SEED, numRuns: 1_000 },
    );
  });

  test('with other schemes than http and https are left out', () => {
    expect(
      urls(
        '<a href="mailto:a@b.c">m</a><a href="javascript:x()">j</a><a href="http://">h</a><a name="n">n</a>',
      ),
    ).toEqual([]);
  });

  test('are relative to the first <base>, wherever it is', () => {
    expect(urls('<a href=a>1</a><base href="/base/"><base href="/other/"><a href=b>2</a>')).toEqual([
      'https://example.org/base/a',
      'https://example.org/base/b',
    ]);
  });

  test('ignore a <base> that is not an HTTP URL', () => {
    expect(urls('<base href="data:text/plain,x"><a href=a>1</a>')).toEqual(['https://example.org/dir/a']);
  });

  test('count inside <noscript>, not inside <template> or comments', () => {
    const html =
      '<noscript><a href=/n>n</a></noscript><template><a href=/t>t</a></template><!-- <a href=/c>c</a> -->';
    expect(urls(html)).toEqual(['https://example.org/n']);
  });

  test('beyond the maximum are only counted', () => {
    const html = Array.from({ length: 50 }, (_, n) => `<a href="/${n}">${n}</a>`).join('');
    const page = parse(html, { maxLinks: 20 });
    expect(page.links).toHaveLength(20);
    expect(page.linksFound).toBe(50);
  });

  test('are found in a page nested deeper than the call stack allows', () => {
    const page = parse(`<title>Pit</title>${'<div>'.repeat(50_000)}<a href=/deep>deep <b>down</b></a>`);
    expect(page).toMatchObject({ title: 'Pit', linksFound: 1 });
    expect(page.links).toMatchObject([{ url: 'https://example.org/deep', anchor: 'deep down' }]);
  });

  test('that wrap half a page do not slow down parsing', () => {
    const links = Array.from({ length: 2_000 }, (_, n) => `<a href=/${n}><svg><g>`).join('');
    expect(parse(`${links}${'<i>x</i>'.repeat(20_000)}`, { maxLinks: 10_000 }).linksFound).toBe(2_000);
  });
});

describe('the encoding', () => {
  test.each([
    ['<meta charset=utf-16>', 'is UTF-8: bytes in which <meta> can be read are not UTF-16'],
    [`<!--${' '.repeat(1_100)}--><meta charset=koi8-r>`, 'beyond the first 1,024 bytes is not looked at'],
    ['<!-- <meta charset=koi8-r> -->', 'in a comment is none'],
  ])('%.40j %s', (meta) => {
    expect(parse(`${meta}<title>Zürich`).title).toBe('Zürich');
  });

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

  test('may be any of the standard, including old Japanese ones', () => {
    const shiftJis = Buffer.from([0x93, 0xfa, 0x96, 0x7b]);
    const iso2022 = Buffer.from([0x1b, 0x24, 0x42, 0x46, 0x7c, 0x4b, 0x5c, 0x1b, 0x28, 0x42]);
    const title = (bytes: Buffer) => Buffer.concat([Buffer.from('<title>'), bytes]);
    expect(parse(title(shiftJis), { contentType: 'text/html; charset=shift_jis' }).title).toBe('日本');
    expect(parse(title(iso2022), { contentType: 'text/html; charset=iso-2022-jp' }).title).toBe('日本');
  });

  test('without a decoder loses the text but not the links', () => {
    const page = parse('<a href=/x>x</a>', { contentType: 'text/html; charset=x-user-defined' });
    expect(page.links).toHaveLength(1);
  });
});

describe('XHTML', () => {
  const xhtml = (html: string | Buffer, more = '') =>
    parse(html, { contentType: `application/xhtml+xml${more}` });

  test('have the base, title and canonical address of the page, not of an <svg> in it', () => {
    const page = xhtml(`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>
      <svg xmlns="http://www.w3.org/2000/svg"><g><base href="/svg/"/><title>Icon</title><link rel="canonical" href="/c"/></g></svg>
      <math><base href="/math/"/></math><a href="x">x</a></body></html>`);
    expect(page).toMatchObject({ title: null, canonical: null });
    expect(page.links.map(({ url }) => new URL(url).pathname)).toEqual(['/dir/x']);
  });

  test('is parsed as XML, so that a self-closing element is empty', () => {
    const page =
      xhtml(`<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="fr">
      <head><title/><script src="a.js"/><style/></head><body><textarea/><p>Une&nbsp;phrase caf&eacute; &amp;eacute;
      <![CDATA[<1>]]></p><a href="/a"/><a href="/b?x=1&amp;y=2">b</a><br></br></body></html>`);
    expect(page).toMatchObject({ title: null, language: 'fr', text: 'Une phrase café &eacute; <1>' });
    expect(page.links.map(({ url }) => url)).toEqual([
      'https://example.org/a',
      'https://example.org/b?x=1&y=2',
    ]);
  });

  test('without an <html> root is parsed as HTML', () => {
    expect(xhtml('<title>T</title><p>a<p>b<a href=/x>x')).toMatchObject({ title: 'T', linksFound: 1 });
  });

  test('sent as text/html is parsed as HTML', () => {
    expect(parse('<html><title/><a href=/x>x</a></html>').links).toEqual([]);
  });

  test('declares its encoding in its first line', () => {
    const body = Buffer.from(
      '<?xml version="1.0" encoding="iso-8859-1"?><html><title>Z\xfcrich \x96</title></html>',
      'latin1',
    );
    expect(xhtml(body).title).toBe('Zürich –');
  });

  test('nested too deep for a tree still yields its links', () => {
    expect(xhtml(`<html>${'<div>'.repeat(50_000)}<a href="/x"/>`, '; charset=utf-8').links).toHaveLength(1);
  });
});
