import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { politenessFor, ruleFor } from '../../src/core/domain-politeness.ts';

const settings = loadConfig({
  env: {},
  cwd: '/',
  flags: {
    delay: '5s',
    targetConcurrency: 2,
    domains: {
      'example.org': { delay: '30s' },
      'fast.example.org': { concurrency: 4, targetConcurrency: 'none' },
    },
  },
}).crawl;

const delayAt = (domain: string) => politenessFor(settings, domain).delay.minMs;

test('a rule replaces the crawl’s values for its domain and those below', () => {
  expect(delayAt('example.org')).toBe(30_000);
  expect(delayAt('www.example.org')).toBe(30_000);
  expect(delayAt('a.b.example.org')).toBe(30_000);
});

test('a rule does not apply to other domains with a similar name', () => {
  expect(delayAt('example.com')).toBe(5_000);
  expect(delayAt('badexample.org')).toBe(5_000);
  expect(delayAt('org')).toBe(5_000);
});

test('only the most specific rule applies; what it does not set comes from the crawl', () => {
  expect(politenessFor(settings, 'x.fast.example.org')).toEqual({
    delay: { minMs: 5_000, maxMs: 5_000 },
    concurrency: 4,
    targetConcurrency: null,
  });
});

test('a host named like a property of every object has no rule', () => {
  expect(ruleFor(settings.domains, 'constructor')).toBeNull();
  expect(ruleFor(settings.domains, 'x.toString')).toBeNull();
});
