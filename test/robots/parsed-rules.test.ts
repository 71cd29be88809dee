import { expect, test } from 'vitest';
import { ParsedRules } from '../../src/robots/index.ts';

const text = 'User-agent: *\nDisallow: /x';
const stored = (origin: string, fetchedAt = 1) => ({ origin, token: 'Amble', fetchedAt, text });

test('rules are parsed once, and again when they were fetched anew', () => {
  const parsed = new ParsedRules(1_000);
  const rules = parsed.get(stored('http://a.test'));
  expect(parsed.get(stored('http://a.test'))).toBe(rules);
  const renewed = parsed.get({ ...stored('http://a.test', 2), text: '' });
  expect(renewed.isAllowed('http://a.test/x')).toBe(true);
  expect(rules.isAllowed('http://a.test/x')).toBe(false);
});

test('the longest unused go when there are too many characters', () => {
  const parsed = new ParsedRules(2 * text.length);
  const [a, b] = [parsed.get(stored('http://a.test')), parsed.get(stored('http://b.test'))];
  expect(parsed.get(stored('http://a.test'))).toBe(a);
  parsed.get(stored('http://c.test'));
  expect(parsed.get(stored('http://a.test'))).toBe(a);
  expect(parsed.get(stored('http://b.test'))).not.toBe(b);
});

test('one that is larger than all the room is parsed all the same', () => {
  expect(new ParsedRules(1).get(stored('http://a.test')).isAllowed('http://a.test/x')).toBe(false);
});
