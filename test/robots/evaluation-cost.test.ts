/** A robots.txt that is made to be slow: its cost is bounded before robots-parser sees a path. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EvaluationCost, MAX_EVALUATION_COST } from '../../src/robots/evaluation-cost.ts';
import { MAX_ROBOTS_BYTES } from '../../src/robots/index.ts';
import { ORIGIN, rulesOf } from './support.ts';

/** The steps of robots-parser's matching, counted: how many positions are alive at each character of the pattern. */
function countSteps(pattern: string, path: string): number {
  let alive = [0];
  let steps = path.length + 1;
  for (const [at, character] of [...pattern].entries()) {
    if (character === '$' && at === pattern.length - 1) break;
    if (character === '*') {
      const first = alive[0] ?? 0;
      alive = Array.from({ length: path.length - first + 1 }, (_, more) => first + more);
      steps += alive.length;
    } else {
      steps += alive.length;
      alive = alive.filter((position) => path[position] === character).map((position) => position + 1);
    }
    if (alive.length === 0) break;
  }
  return steps;
}

/** As much of a file for everybody as fits into the limit of robots.txt. */
function fullFile(line: (n: number) => string): string {
  let text = 'User-agent: *\n';
  for (let n = 0; ; n += 1) {
    const next = `${line(n)}\n`;
    if (text.length + next.length > MAX_ROBOTS_BYTES) return text;
    text += next;
  }
}

const LONG_PATH = `/${'a'.repeat(1_999)}`;

test('the cost is an upper bound for the steps of matching', () => {
  const characters = fc.constantFrom('a', 'b', '/', '%', '*');
  const pattern = fc
    .tuple(fc.string({ unit: characters, maxLength: 12 }), fc.constantFrom('', '$'))
    .map(([start, end]) => `/${start}${end}`);
  const path = fc.string({ unit: fc.constantFrom('a', 'b', '/', '%'), maxLength: 30 });
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 5 }), path, (patterns, rest) => {
      const steps = patterns.reduce((sum, written) => sum + countSteps(written, `/${rest}`), 0);
      expect(new EvaluationCost(patterns).of(`/${rest}`)).toBeGreaterThanOrEqual(steps);
    }),
    { numRuns: 2_000 },
  );
});

test('the cost is exact for the slowest patterns', () => {
  const path = 'a'.repeat(100);
  const pattern = '*a*a*a*a';
  expect(new EvaluationCost([pattern]).of(path) / countSteps(pattern, path)).toBeLessThan(1.1);
});

describe('a hostile robots.txt', () => {
  test.each<[string, string]>([
    ['57,000 short wildcard rules', fullFile((n) => `allow:*${n.toString(36)}`)],
    ['57,000 short plain rules', fullFile((n) => `allow:${n.toString(36)}`)],
    ['many rules of many wildcards', fullFile((n) => `allow:/${'*a'.repeat(10)}${n}`)],
    ['a few rules of very many wildcards', fullFile((n) => `allow:/${'*a'.repeat(8_000)}${n}`)],
    ['nothing but wildcards', fullFile((n) => `allow:${'*'.repeat(8_000)}${n}`)],
    ['long literals that match almost everywhere', fullFile((n) => `allow:/*${'a'.repeat(2_000)}${n}`)],
    ['rules that grow threefold when escaped', fullFile((n) => `allow:/*${'"'.repeat(2_000)}${n}`)],
  ])('of %s disallows long paths as too costly', (_, text) => {
    const rules = rulesOf(text);
    expect(rules.check(ORIGIN + LONG_PATH)).toBe('too-costly');
    expect(rules.isAllowed(ORIGIN + LONG_PATH)).toBe(false);
    expect(rules.isAllowed(`${ORIGIN}/robots.txt`)).toBe(true);
  });

  test('of one pattern is too costly for a long path, and evaluated for a short one', () => {
    const rules = rulesOf(`User-agent: *\nDisallow: /${'*a'.repeat(8_000)}b`);
    expect(rules.check(`${ORIGIN}/${'a'.repeat(60_000)}`)).toBe('too-costly');
    expect(rules.check(`${ORIGIN}/aa`)).toBe('allowed');
  });

  test('still states its Crawl-delay', () => {
    const text = fullFile((n) => (n === 0 ? 'Crawl-delay: 7' : `allow:*${n}`));
    expect(rulesOf(text).crawlDelayMs).toBe(7_000);
  });

  test('that repeats one rule 57,000 times is evaluated like one rule', () => {
    expect(rulesOf(fullFile(() => 'allow:*~')).check(ORIGIN + LONG_PATH)).toBe('allowed');
    expect(rulesOf(fullFile(() => 'disallow:*a')).check(ORIGIN + LONG_PATH)).toBe('disallowed');
  });

  test('that is too large for one group does not matter to an agent with a group of its own', () => {
    const rules = rulesOf(`${fullFile((n) => `allow:*${n}`)}User-agent: Amble\nDisallow: /x`);
    expect(rules.check(ORIGIN + LONG_PATH)).toBe('allowed');
    expect(rules.check(`${ORIGIN}/x`)).toBe('disallowed');
  });
});

describe('a large robots.txt that people do write', () => {
  const path = `/shop/category/article-${'b'.repeat(60)}?page=3&sort=price`;

  test.each<[string, string]>([
    ['3,000 parameters', [...Array(3_000).keys()].map((n) => `Disallow: /*?filter${n}=`).join('\n')],
    ['10,000 paths', [...Array(10_000).keys()].map((n) => `Disallow: /shop/article-${n}.html$`).join('\n')],
    ['500 file types', [...Array(500).keys()].map((n) => `Disallow: /*/*.type${n}$`).join('\n')],
  ])('with %s is evaluated', (_, lines) => {
    const rules = rulesOf(`User-agent: *\n${lines}\nDisallow: /*sort=price`);
    expect(rules.check(ORIGIN + path)).toBe('disallowed');
    expect(rules.check(`${ORIGIN}/shop/`)).toBe('allowed');
  });
});

test('a path is evaluated up to the limit, and no further', () => {
  const rules = [...Array(1_000).keys()].map((n) => `Disallow: /*${n}`);
  const cost = new EvaluationCost(rules.map((rule) => rule.toLowerCase()));
  const longest = longestWithin(cost);
  const parsed = rulesOf(`User-agent: *\n${rules.join('\n')}`);
  expect(parsed.check(`${ORIGIN}/${'b'.repeat(longest)}`)).toBe('allowed');
  expect(parsed.check(`${ORIGIN}/${'b'.repeat(longest + 1)}`)).toBe('too-costly');
});

function longestWithin(cost: EvaluationCost): number {
  let length = 0;
  while (cost.of(`/${'b'.repeat(length + 1)}`) <= MAX_EVALUATION_COST) length += 1;
  return length;
}
