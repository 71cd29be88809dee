import { expect, test } from 'vitest';
import { createRobotsRulesCache } from '../../src/robots/index.ts';

const text = 'User-agent: *\nDisallow: /x';
const source = (rulesId: string, token = 'Amble') => ({ origin: 'http://a.test', token, rulesId });
const read = async () => text;

test('a robots.txt is read and parsed once per version', async () => {
  const cache = createRobotsRulesCache();
  const rules = await cache.get(source('1'), read);
  const readAgain = () => Promise.reject(new Error('It was read again.'));
  expect(await cache.get(source('1'), readAgain)).toBe(rules);
  const refreshed = await cache.get(source('2'), async () => '');
  expect(refreshed.isAllowed('http://a.test/x')).toBe(true);
  expect(rules.isAllowed('http://a.test/x')).toBe(false);
});

test('rules are parsed per product token', async () => {
  const cache = createRobotsRulesCache();
  const forAmble = async () => 'User-agent: Amble\nDisallow: /x';
  expect((await cache.get(source('1'), forAmble)).isAllowed('http://a.test/x')).toBe(false);
  expect((await cache.get(source('1', 'Other'), forAmble)).isAllowed('http://a.test/x')).toBe(true);
});

test('the least recently used rules are evicted when there are too many characters', async () => {
  const cache = createRobotsRulesCache(2 * text.length);
  const [first, second] = [await cache.get(source('1'), read), await cache.get(source('2'), read)];
  expect(await cache.get(source('1'), read)).toBe(first);
  await cache.get(source('3'), read);
  expect(await cache.get(source('1'), read)).toBe(first);
  expect(await cache.get(source('2'), read)).not.toBe(second);
});

test('a robots.txt that exceeds the whole cache is parsed nevertheless', async () => {
  const rules = await createRobotsRulesCache(1).get(source('1'), read);
  expect(rules.isAllowed('http://a.test/x')).toBe(false);
});
