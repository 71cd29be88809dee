import { load } from 'cheerio';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasTooManyAttributes } from '../../src/html/attribute-limit.ts';
import { isElement, walk } from '../../src/html/walk.ts';
import { SEED } from '../fuzz/arbitraries.ts';

const MAX = 100;

function attributes(count: number, attribute: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => attribute(n)).join('');
}

/** The most attributes that cheerio gives to one element. */
function largestElement(html: string): number {
  let largest = 0;
  walk(load(html)._root, (node) => {
    if (isElement(node)) largest = Math.max(largest, Object.keys(node.attribs).length);
    return 'enter';
  });
  return largest;
}

test.each([
  ['names alone', (n: number) => ` a${n}`],
  ['slashes between them', (n: number) => `/a${n}`],
  ['values', (n: number) => ` a${n}=x`],
  ['quotes and nothing between them', (n: number) => `a${n}="x"`],
  ['ends of tags in their values', (n: number) => ` a${n} = ">" b${n}='>'`],
  ['tags in their values', (n: number) => ` a${n}="<b c='"`],
])('a tag with too many attributes is found: %s', (_, attribute) => {
  for (const begin of ['<i ', '</i ', '<script>"<a b=\'"</script><i ', '<!--><i ', '<a ="="><i '])
    expect(hasTooManyAttributes(`<p>${begin}${attributes(MAX + 1, attribute)}>`, MAX)).toBe(true);
});

test.each(['<i', '</i'])('many tags with many attributes are too many together: %s', (begin) => {
  const tag = `${begin}${attributes(1_900, (n) => ` a${n}`)}>`;
  expect(hasTooManyAttributes(tag)).toBe(false);
  expect(hasTooManyAttributes(tag.repeat(10))).toBe(true);
});

test('many tags with few attributes are not too many', () => {
  const tag = `<i${attributes(MAX, (n) => ` a${n}="${n}"`)}>x</i>`;
  expect(hasTooManyAttributes(`a < b ${tag.repeat(100)}`, MAX)).toBe(false);
});

test('no tag that cheerio reads is overlooked, whatever surrounds it', () => {
  const crumb = fc.constantFrom(
    ...['<a', '</a', '<a b=', '<a b="', "<a b='", '<a =', '="', "='", '=', '"', "'", '>', '/', ' ', '<', 'x'],
    ...['<!--', '-->', '<!-->', '<![CDATA[', ']]>', '<?', '<script>', '</script>', '<title>', '</title>'],
  );
  const crumbs = fc.array(crumb, { maxLength: 12 }).map((pieces) => pieces.join(''));
  const attribute = fc.constantFrom(
    ' aN',
    '/aN',
    ' aN=x',
    'aN="x"',
    " aN='>'",
    ' aN=">"',
    ' aN = "\'<i "',
    ' aN=b="',
  );
  let found = 0;
  fc.assert(
    fc.property(crumbs, crumbs, attribute, crumbs, (before, inside, form, after) => {
      const many = attributes(MAX + 20, (n) => form.replace('N', `${n}`));
      const html = `${before}<i ${inside}${many}${after}>`;
      if (largestElement(html) <= MAX) return;
      found += 1;
      expect(hasTooManyAttributes(html, MAX)).toBe(true);
    }),
    { seed: SEED, numRuns: 5_000 },
  );
  expect(found).toBeGreaterThan(500);
});
