import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDirectives } from '../../src/robots/index.ts';

const read = (...texts: string[]) => readDirectives(texts, 'Amble');

describe('what a page asks of robots', () => {
  test.each<[string[], { noindex: boolean; nofollow: boolean }]>([
    [[], { noindex: false, nofollow: false }],
    [[''], { noindex: false, nofollow: false }],
    [['all'], { noindex: false, nofollow: false }],
    [['index, follow'], { noindex: false, nofollow: false }],
    [['noindex'], { noindex: true, nofollow: false }],
    [['NoFollow'], { noindex: false, nofollow: true }],
    [['none'], { noindex: true, nofollow: true }],
    [['noindex,nofollow'], { noindex: true, nofollow: true }],
    [['noindex nofollow'], { noindex: true, nofollow: true }],
    [['noarchive, nosnippet , nofollow'], { noindex: false, nofollow: true }],
    [['noindex', 'nofollow'], { noindex: true, nofollow: true }],
    [['noindexed, xnofollow'], { noindex: false, nofollow: false }],
  ])('%j', (texts, expected) => {
    expect(read(...texts)).toEqual(expected);
  });
});

test('two hundred thousand words are read', () => {
  const words = 'word '.repeat(200_000);
  expect(read(`${words}noindex`)).toEqual({ noindex: true, nofollow: false });
  expect(read(`amble: ${words}none`)).toEqual({ noindex: true, nofollow: true });
});

describe('the name of a robot', () => {
  test.each<[string[], { noindex: boolean; nofollow: boolean }]>([
    [['amble: noindex'], { noindex: true, nofollow: false }],
    [['AMBLE : none'], { noindex: true, nofollow: true }],
    [['otherbot: none'], { noindex: false, nofollow: false }],
    [['ambler: none'], { noindex: false, nofollow: false }],
    [['*: nofollow'], { noindex: false, nofollow: true }],
    // It applies up to the next name on its line, and never to the next line.
    [['otherbot: noindex, nofollow'], { noindex: false, nofollow: false }],
    [['otherbot: noindex, amble: nofollow'], { noindex: false, nofollow: true }],
    [['nofollow, otherbot: noindex'], { noindex: false, nofollow: true }],
    [['otherbot: noindex', 'nofollow'], { noindex: false, nofollow: true }],
    [['amble: noindex, nofollow, otherbot2: all'], { noindex: true, nofollow: true }],
    // A directive for us does not revoke one for every robot.
    [['noindex', 'amble: all'], { noindex: true, nofollow: false }],
  ])('%j', (texts, expected) => {
    expect(read(...texts)).toEqual(expected);
  });
});

test.each([
  'unavailable_after: 25 Jun 2010 15:00:00 PST',
  'unavailable_after: Friday, 25-Jun-10 15:00:00 UTC',
  'max-snippet: 20',
  'max-image-preview:large, max-video-preview: -1',
])('a directive with a value is not a name, and has no effect (%s)', (text) => {
  expect(read(text)).toEqual({ noindex: false, nofollow: false });
  expect(read(`${text}, nofollow`)).toEqual({ noindex: false, nofollow: true });
  expect(read(`otherbot: ${text}, nofollow`)).toEqual({ noindex: false, nofollow: false });
});

test('any text is read without an error', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), fc.string(), (texts, token) => {
      const { noindex, nofollow } = readDirectives(texts, token);
      expect([typeof noindex, typeof nofollow]).toEqual(['boolean', 'boolean']);
    }),
  );
});
