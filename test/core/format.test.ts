import { expect, test } from 'vitest';
import { formatDuration, ordinal, truncateSummary, truncateText } from '../../src/core/format.ts';

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
])('%i as an ordinal is %s', (n, word) => {
  expect(ordinal(n)).toBe(word);
});

test.each([
  [-5, '0 ms'],
  [0, '0 ms'],
  [999.4, '1 s'],
  [3_599_990, '1 h'],
  [1_000, '1 s'],
  [1_500, '1.5 s'],
  [9_940, '9.9 s'],
  [9_960, '10 s'],
  [59_700, '1 min'],
  [90_000, '1 min 30 s'],
  [599_000, '9 min 59 s'],
  [1_490_000, '25 min'],
  [3_600_000, '1 h'],
  [7_800_000, '2 h 10 min'],
  [86_399_000, '1 d'],
  [86_400_000, '1 d'],
  [90_000_000, '1 d 1 h'],
  [10 * 86_400_000, '10 d'],
])('%d ms reads %s', (ms, words) => {
  expect(formatDuration(ms)).toBe(words);
});

/** Without the text: the name and value of the encoding, and the tags and lengths of both fields. */
const PAYLOAD_OVERHEAD_BYTES = 27;

test.each(['x', 'ü', '🕸', '"', '\\', '\u0000', '\u009b', '\ud83d'])(
  'the payload of a summary of many %j never has more than 400 bytes',
  (character) => {
    const summary = truncateSummary(`fetch ${character.repeat(1_000)}`);
    expect(Buffer.byteLength(JSON.stringify(summary)) + PAYLOAD_OVERHEAD_BYTES).toBeLessThanOrEqual(400);
    expect(summary.startsWith('fetch ')).toBe(true);
  },
);

test('a summary has no control characters and no halves of characters', () => {
  expect(truncateSummary('a\u0000b\u001b[31mc\u009bd\ud800e 🕸 ü')).toBe('a b [31mc d\ufffde 🕸 ü');
});

test('a text is not cut in the middle of a character', () => {
  expect(truncateText('ab🕸cd', 4)).toBe('ab…');
  expect(truncateText('ab🕸cd', 5)).toBe('ab🕸…');
  expect(truncateText('ab🕸cd', 6)).toBe('ab🕸cd');
});

test('a text of a server has nothing that Postgres cannot store', () => {
  expect(truncateText('a\0b\ud800c\udc00 🕸', 100)).toBe('a\ufffdb\ufffdc\ufffd 🕸');
});
