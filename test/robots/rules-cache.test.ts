import { expect, test } from 'vitest';
import { createRobotsRulesCache } from '../../src/robots/index.ts';

const text = 'User-agent: *\nDisallow: /x';
const source = (origin: string, fetchedAt = 1) => ({ origin, token: 'Amble', fetchedAt, text });

test('rules are parsed once per version of a robots.txt', () => {
  const cache = createRobotsRulesCache();
  const rules = cache.get(source('http://a.test'));
  expect(cache.get(source('http://a.test'))).toBe(rules);
  const refreshed = cache.get({ ...source('http://a.test', 2), text: '' });
  expect(refreshed.isAllowed('http://a.test/x')).toBe(true);
  expect(rules.isAllowed('http://a.test/x')).toBe(false);
});

test('rules are parsed per product token', () => {
  const cache = createRobotsRulesCache();
  const forAmble = { ...source('http://a.test'), text: 'User-agent: Amble\nDisallow: /x' };
  expect(cache.get(forAmble).isAllowed('http://a.test/x')).toBe(false);
  expect(cache.get({ ...forAmble, token: 'Other' }).isAllowed('http://a.test/x')).toBe(true);
});

test('the least recently used rules are evicted when there are too many characters', () => {
  const cache = createRobotsRulesCache(2 * text.length);
  const [a, b] = [cache.get(source('http://a.test')), cache.get(source('http://b.test'))];
  expect(cache.get(source('http://a.test'))).toBe(a);
  cache.get(source('http://c.test'));
  expect(cache.get(source('http://a.test'))).toBe(a);
  expect(cache.get(source('http://b.test'))).not.toBe(b);
});

test('a robots.txt that exceeds the whole cache is parsed nevertheless', () => {
  expect(createRobotsRulesCache(1).get(source('http://a.test')).isAllowed('http://a.test/x')).toBe(false);
});
