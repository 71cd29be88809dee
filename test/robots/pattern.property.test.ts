import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normaliseOctets } from '../../src/robots/octets.ts';
import { forbids, ORIGIN, rulesOf } from './support.ts';

/** Few letters, so that patterns match now and then, and repeat themselves like hostile ones. */
const path = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 12 }).map((rest) => `/${rest}`);
const pattern = fc
  .string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 8 })
  .chain((rest) => fc.constantFrom(`/${rest}`, `/${rest}$`, `*${rest}`));

/** The rules of the RFC in their simplest form, however slow. */
function matchesPlainly(written: string, text: string): boolean {
  const [first = '', rest] = [written[0], written.slice(1)];
  if (written === '') return true;
  if (written === '$') return text === '';
  if (first === '*')
    return Array.from({ length: text.length + 1 }, (_, at) => text.slice(at)).some((tail) =>
      matchesPlainly(rest, tail),
    );
  return text[0] === first && matchesPlainly(rest, text.slice(1));
}

describe('a pattern', () => {
  test('matches what its definition says', () => {
    fc.assert(
      fc.property(pattern, path, (written, text) => {
        expect(forbids(written, text)).toBe(matchesPlainly(written, text));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('normalising octets', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('%', '2', '4', 'F', 'a', '/', '*', '$', "'"),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
  });

  test('is idempotent', () => {
    fc.assert(
      fc.property(text, (written) => {
        const once = normaliseOctets(written);
        expect(normaliseOctets(once)).toBe(once);
      }),
    );
  });

  test('leaves only ASCII, without the characters that have a meaning in a pattern', () => {
    fc.assert(
      fc.property(text, (written) => {
        expect(normaliseOctets(written)).toMatch(/^[!-~]*$/);
        expect(normaliseOctets(written)).not.toMatch(/[*$]/);
      }),
    );
  });
});

describe('any robots.txt', () => {
  const field = fc.constantFrom(
    'User-agent',
    'Allow',
    'Disallow',
    'Crawl-delay',
    'Sitemap',
    'Disalow',
    '#',
    '',
  );
  const line = fc
    .tuple(
      field,
      fc.constantFrom(':', ' ', ': ', ''),
      fc.oneof(pattern, fc.constantFrom('*', 'Amble'), fc.string({ unit: 'binary' })),
    )
    .map((parts) => parts.join(''));
  const file = fc
    .tuple(fc.array(line, { maxLength: 20 }), fc.constantFrom('\n', '\r', '\r\n'))
    .map(([lines, end]) => lines.join(end));

  test('is parsed without an error, decides on any URL, and always allows itself', () => {
    fc.assert(
      fc.property(fc.oneof(file, fc.string({ unit: 'binary' })), fc.webPath(), (text, asked) => {
        const rules = rulesOf(text);
        expect(rules.isAllowed(ORIGIN + asked)).toBeTypeOf('boolean');
        expect(rules.isAllowed(`${ORIGIN}/robots.txt`)).toBe(true);
        expect(rules.crawlDelayMs === null || rules.crawlDelayMs > 0).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('means the same with each line doubled, and for a URL with needless escapes', () => {
    fc.assert(
      fc.property(file, path, (text, asked) => {
        const once = rulesOf(text).isAllowed(ORIGIN + asked);
        const doubled = text.replace(/[^\r\n]+/g, (line) => `${line}\n${line}`);
        expect(rulesOf(doubled).isAllowed(ORIGIN + asked)).toBe(once);
        expect(rulesOf(text).isAllowed(ORIGIN + asked.replaceAll('a', '%61'))).toBe(once);
      }),
      { numRuns: 1_000 },
    );
  });

  test('that repeats one rule or one agent until it is full is evaluated', () => {
    const url = `${ORIGIN}/${'a'.repeat(1_900)}`;
    const rules = rulesOf(`User-agent: *\n${'Disallow: /*aab\n'.repeat(32_000)}`);
    expect(rules.isAllowed(url)).toBe(true);
    const crowd = rulesOf(`${'User-agent: Amble\n'.repeat(14_000)}${'Disallow: /b\n'.repeat(18_000)}`);
    expect(crowd.isAllowed(url)).toBe(true);
  });
});
