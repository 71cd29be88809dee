import { describe, expect, test } from 'vitest';
import { parseRobots } from '../../src/robots/index.ts';

const ORIGIN = 'http://example.org:8080';

function allowed(text: string, path: string): boolean {
  return parseRobots(text, ORIGIN).isAllowed(ORIGIN + path, 'Amble');
}

describe('robots.txt', () => {
  test('without rules allows everything', () => {
    expect(allowed('', '/x')).toBe(true);
    expect(allowed('<html>not found</html>', '/x')).toBe(true);
  });

  test('disallows a path and what is below it', () => {
    const text = 'User-agent: *\nDisallow: /private';
    expect(allowed(text, '/private/x?y')).toBe(false);
    expect(allowed(text, '/public')).toBe(true);
  });

  test('is obeyed in the group that names us, and then in no other', () => {
    const text = 'User-agent: *\nDisallow: /\n\nUser-agent: amble\nDisallow: /no';
    expect(allowed(text, '/yes')).toBe(true);
    expect(allowed(text, '/no')).toBe(false);
  });

  test('lets the longest match win, Allow when they are equal', () => {
    const text = 'User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /c\nAllow: /c';
    expect(allowed(text, '/a/x')).toBe(false);
    expect(allowed(text, '/a/b')).toBe(true);
    expect(allowed(text, '/c')).toBe(true);
  });

  test('understands * and $', () => {
    const text = 'User-agent: *\nDisallow: /*.pdf$';
    expect(allowed(text, '/a/b.pdf')).toBe(false);
    expect(allowed(text, '/a/b.pdf?x')).toBe(true);
  });

  test('never forbids itself', () => {
    expect(allowed('User-agent: *\nDisallow: /', '/robots.txt')).toBe(true);
  });

  test('speaks for one origin only', () => {
    const rules = parseRobots('', ORIGIN);
    expect(() => rules.isAllowed('http://example.org/x', 'Amble')).toThrow(
      'does not speak for http://example.org/x',
    );
  });
});

describe('Crawl-delay', () => {
  test.each([
    ['10', 10_000],
    ['0.5', 500],
    ['0', null],
    ['-1', null],
    ['soon', null],
    ['', null],
    ['Infinity', null],
  ])('%j is %j ms', (value, ms) => {
    expect(parseRobots(`User-agent: *\nCrawl-delay: ${value}`, ORIGIN).crawlDelayMs('Amble')).toBe(ms);
  });

  test('of our own group counts, not that of everybody', () => {
    const text = 'User-agent: *\nCrawl-delay: 30\nUser-agent: Amble\nCrawl-delay: 2';
    expect(parseRobots(text, ORIGIN).crawlDelayMs('Amble')).toBe(2_000);
  });

  test('is null where none is named', () => {
    expect(parseRobots('User-agent: *\nDisallow: /x', ORIGIN).crawlDelayMs('Amble')).toBeNull();
  });
});
