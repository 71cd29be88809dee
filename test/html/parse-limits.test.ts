import { describe, expect, test } from 'vitest';
import { parseDocument } from '../../src/html/document.ts';
import { createParser, type PageSource, parsePage } from '../../src/html/index.ts';
import { MAX_LINKS_LENGTH } from '../../src/html/links.ts';
import { findPageElements, innerText } from '../../src/html/page-elements.ts';
import { Deadline } from '../../src/html/parse-limits.ts';
import { NO_RULES } from '../../src/urls/index.ts';
import { documentOf } from '../support/document-of.ts';
import { SOAK } from '../support/size.ts';

function source(html: string, more: Partial<PageSource> = {}): PageSource {
  return {
    body: Buffer.from(html),
    url: 'https://example.org/dir/page',
    contentType: 'text/html',
    token: 'Amble',
    maxLinks: 100,
    rules: NO_RULES,
    ...more,
  };
}

/** Every <p> reopens all of them: 4 bytes become 300 elements. */
const FORGOTTEN = `<p>${Array.from({ length: 300 }, (_, n) => `<b id=${n}>`).join('')}`;

const DEEP = '<div>'.repeat(600);

describe('a page that exceeds the limits of a tree', () => {
  test('takes no more memory than others', () => {
    const before = process.memoryUsage().heapUsed;
    const page = parsePage(source(`<title>T</title>${FORGOTTEN}${'<p>x'.repeat(5_000)}<a href=/x>x</a>`));
    // Its tree would take a gigabyte. Garbage counts too, because no collection is forced.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(300e6);
    expect(page).toMatchObject({ title: 'T', linksFound: 1 });
  });

  test.each([
    ['many nodes', FORGOTTEN + '<p>x'.repeat(500)],
    ['deep', DEEP],
  ])('yields the same as others: %s', (_, bulk) => {
    const html = `<!doctype html><html lang=de><head><base href="/base/"><title>A &amp; B</title>
      <meta name=description content="Through &quot;it&quot;"><meta name=robots content=noindex>
      <link rel=canonical href=c><noscript><meta http-equiv=refresh content="0;url=/no"></noscript></head><body>${bulk}</b>
      <h2>Two <i>words</i></h2><p>Some text<script>var x = "<a href=/script>";</script> that is read.
      <a href=one rel=nofollow>On<b>e</b><img alt=pic></a> and <A HREF='two?a=1&amp;b=2' title=t></A>
      <template><a href=/template>t</a></template><!-- <a href=/comment>c</a> -->
      <svg><title>Icon</title></svg><iframe src=/frame></iframe><map><area href=/area></map>`;
    expect(parsePage(source(html))).toMatchObject({
      title: 'A & B',
      language: 'de',
      description: 'Through "it"',
      canonical: 'https://example.org/base/c',
      headings: [{ level: 2, text: 'Two words' }],
      refreshTo: null,
      noindex: true,
      text: expect.stringMatching(/Two words\nSome text that is read\. One and$/m),
      linksFound: 4,
      links: [
        { url: 'https://example.org/base/one', anchor: 'One pic', rel: 'nofollow', nofollow: true },
        { url: 'https://example.org/base/two?a=1&b=2', anchor: 't', rel: null, nofollow: false },
        { url: 'https://example.org/frame', anchor: '', rel: null, nofollow: false },
        { url: 'https://example.org/area', anchor: '', rel: null, nofollow: false },
      ],
    });
  });

  test('respects the maximum of links', () => {
    const links = Array.from({ length: 500 }, (_, n) => `<a href=/${n}>${n}</a>`).join('');
    const page = parsePage(source(DEEP + links));
    expect(page.links).toHaveLength(100);
    expect(page.linksFound).toBe(500);
  });

  test('is also one that takes too long, unless the caller asks for an error', () => {
    const html = `<p>${'<i>x</i>'.repeat(100)}<a href=/x>x</a>`;
    expect(parsePage(source(html), { treeTimeoutMs: -1 }).links).toHaveLength(1);
    expect(() => parsePage(source(html), { treeTimeoutMs: -1, throwOnTimeout: true })).toThrow();
  });
});

test.each([
  ['start', '<a href=/x', '>'],
  ['end', '<a href=/x></a', '>'],
])('a %s tag with a hundred thousand attributes does not take long', (_, before, after) => {
  const attributes = Array.from({ length: 100_000 }, (_, n) => ` a${n}`).join('');
  const started = process.cpuUsage();
  const page = parsePage(source(before + attributes + after));
  const { user } = process.cpuUsage(started);
  expect(page.links).toHaveLength(1);
  // It takes a tenth of a second; comparing each with all others took half a minute.
  expect(user / 1e6).toBeLessThan(3);
});

describe('what many elements share', () => {
  const HUGE = 200_000;

  test('is not read whole for each of them: text', () => {
    const [heading] = findPageElements(
      parseDocument(`<h1>${'x '.repeat(HUGE)}`, { contentType: 'text/html', deadline: new Deadline(60_000) }),
    ).headings;
    expect(heading && innerText(heading, 300)).toHaveLength(300);
  });

  // Each took half a minute or more when every element read all of it.
  test.each([
    ['a title', `<a href=/x title="${' '.repeat(HUGE)}">`],
    ['a rel', `<a href=/x rel="${'a '.repeat(HUGE / 2)}">`],
    ['an address', `<a href="http://example.org/${'./'.repeat(3_900)}">`],
  ])('is not read whole for each of them: %s', (_, shared) => {
    const started = process.cpuUsage();
    // Every <p> reopens the link that was not closed.
    const page = parsePage(source(`<p>${shared}${'<p><wbr>'.repeat(20_000)}`));
    const { user } = process.cpuUsage(started);
    expect(page.linksFound).toBe(1);
    expect(user / 1e6).toBeLessThan(5);
  });
});

test('links that a <base> makes long are kept up to a length in all, and the rest are counted', () => {
  const base = `<base href="http://example.org/${'x'.repeat(1_900)}/">`;
  const html = base + Array.from({ length: 10_000 }, (_, n) => `<a href=${n}>`).join('');
  const { links, linksFound } = parsePage({ ...source(html), maxLinks: 10_000 });
  const length = links.reduce((sum, { url }) => sum + url.length, 0);
  expect(length).toBeGreaterThan(MAX_LINKS_LENGTH - 2_000);
  expect(length).toBeLessThan(MAX_LINKS_LENGTH + 2_000);
  expect(linksFound).toBe(10_000);
});

test.each([
  ['the clock alone is over', 21, 20, false],
  ['CPU time alone is over', 20, 21, false],
  ['both are over', 21, 21, true],
])('a deadline of 20 ms, if %s', (_case, elapsedMs, usedMs, passed) => {
  const time = { nowMs: 100, cpuMs: 5 };
  const deadline = new Deadline(20, { nowMs: () => time.nowMs, cpuMs: () => time.cpuMs });
  time.nowMs += elapsedMs;
  time.cpuMs += usedMs;
  expect(deadline.hasPassed()).toBe(passed);
});

const LARGE_MIB = SOAK ? 10 : 3;

describe(`a document of ${LARGE_MIB} MiB`, () => {
  const fill = (piece: (n: number) => string): string => {
    const parts: string[] = [];
    for (let length = 0, n = 0; length < LARGE_MIB * 1024 * 1024; n += 1) {
      const part = piece(n);
      parts.push(part);
      length += part.length;
    }
    return parts.join('');
  };

  // Each tree would exceed the heap of the thread or take minutes.
  test.each([
    ['a table', `<table>${fill(() => '<tr><td>x')}`],
    ['nested', fill(() => '<b>')],
    ['attributes of one element', `<i${fill((n) => ` a${n}`)}>`],
  ])(
    'yields its links, however dense it is: %s',
    async (_, html) => {
      const page = await createParser()(
        documentOf(source(`<title>Dense</title><a href=/first>1</a>${html}<a href=/last>2</a>`)),
      );
      expect(page).toMatchObject({ title: 'Dense', linksFound: 2 });
    },
    120_000,
  );
});
