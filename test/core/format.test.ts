import { expect, test } from 'vitest';
import { brief, inWords, ordinal } from '../../src/core/format.ts';

test.each([
  [1, '1st'],
  [2, '2nd'],
  [3, '3rd'],
  [4, '4th'],
  [10, '10th'],
  [11, '11th'],
  [12, '12th'],
  [13, '13th'],
  [21, '21st'],
  [102, '102nd'],
  [111, '111th'],
  [1_013, '1013th'],
])('%i in a line is %s', (n, word) => {
  expect(ordinal(n)).toBe(word);
});

test.each([
  [-5, '0 ms'],
  [0, '0 ms'],
  [999.4, '1 s'],
  [3_599_990, '1 h'],
  [1_000, '1 s'],
  [1_500, '1.5 s'],
  [90_000, '1.5 min'],
  [3_600_000, '1 h'],
  [86_400_000, '1 d'],
  [10 * 86_400_000, '10 d'],
])('%d ms reads %s', (ms, words) => {
  expect(inWords(ms)).toBe(words);
});

test.each(['x'.repeat(1_000), 'ü'.repeat(1_000), '🕸'.repeat(1_000)])(
  'a summary never has more than 400 bytes',
  (text) => {
    expect(Buffer.byteLength(brief(text))).toBeLessThanOrEqual(400);
    expect(text.startsWith(brief(text))).toBe(true);
  },
);
