import { describe, expect, test } from 'vitest';
import { MAX_LINE_LENGTH } from '../../src/robots/group.ts';
import { allowed, forbids, ORIGIN, rulesOf } from './support.ts';

const everybody = (...lines: string[]) => ['User-agent: *', ...lines].join('\n');

describe('robots.txt', () => {
  test('without rules allows everything', () => {
    expect(allowed('', '/x')).toBe(true);
    expect(allowed('<!doctype html>\n<p>Style: none; see /disallow</p>', '/x')).toBe(true);
    expect(allowed(everybody('Disallow:', 'Allow:'), '/x')).toBe(true);
  });

  test('ignores rules before the first group', () => {
    expect(allowed('Disallow: /\nUser-agent: *\nDisallow: /x', '/y')).toBe(true);
  });

  test('disallows every path that starts with the rule, case-sensitively', () => {
    const text = everybody('Disallow: /private');
    expect(allowed(text, '/private/x?y')).toBe(false);
    expect(allowed(text, '/private-life')).toBe(false);
    expect(allowed(text, '/public')).toBe(true);
    expect(allowed(text, '/Private')).toBe(true);
    expect(allowed(text, '/x/private')).toBe(true);
  });

  test('never disallows itself', () => {
    expect(allowed(everybody('Disallow: /'), '/robots.txt')).toBe(true);
    expect(allowed(everybody('Disallow: /'), '/robots.txt.bak')).toBe(false);
  });

  test('applies to one origin only', () => {
    expect(() => rulesOf('').isAllowed('http://example.org/x')).toThrow(
      'does not apply to http://example.org/x',
    );
  });

  test('may use any line ends', () => {
    for (const end of ['\n', '\r', '\r\n', '\n\r']) {
      expect(allowed(['User-agent: *', '', 'Disallow: /x', ''].join(end), '/x')).toBe(false);
    }
  });
});

describe('the group', () => {
  test('that names us applies, and no other does', () => {
    const text = 'User-agent: *\nDisallow: /\n\nUser-agent: amble\nDisallow: /no';
    expect(allowed(text, '/yes')).toBe(true);
    expect(allowed(text, '/no')).toBe(false);
    expect(allowed(text, '/yes', 'Other')).toBe(false);
  });

  test('that names us without a rule exempts us from the rules for *', () => {
    expect(allowed('User-agent: *\nDisallow: /\nUser-agent: Amble\nDisallow:', '/x')).toBe(true);
  });

  test('may name several agents, with unknown fields between them', () => {
    const text = 'User-agent: One\n\n# and\nUser-agent: Amble\nHost: x\nUser-agent: Two\nDisallow: /x';
    for (const agent of ['One', 'Amble', 'Two']) expect(allowed(text, '/x', agent)).toBe(false);
    expect(allowed(text, '/x', 'Three')).toBe(true);
  });

  test('is merged with the other groups of the same agent', () => {
    const text =
      'User-agent: Amble\nDisallow: /a\nUser-agent: Other\nDisallow: /b\nUser-agent: AMBLE\nDisallow: /c';
    expect(['/a', '/b', '/c'].map((path) => allowed(text, path))).toEqual([false, true, false]);
    const split = 'User-agent: *\nDisallow: /a\nUser-agent: *\nDisallow: /b';
    expect(['/a', '/b'].map((path) => allowed(split, path))).toEqual([false, false]);
  });

  test.each(['amble', 'AMBLE', 'Amble/2.0', 'Amble archive', 'amble*', 'Amble # us'])(
    'is ours if it names %j',
    (agent) => {
      expect(allowed(`User-agent: ${agent}\nDisallow: /`, '/x')).toBe(false);
    },
  );

  test.each(['Am', 'Ambler', 'Amble-news', 'x Amble', '', '*Amble', 'ämble'])(
    'is not ours if it names %j',
    (agent) => {
      expect(allowed(`User-agent: ${agent}\nDisallow: /`, '/x')).toBe(true);
    },
  );

  test('is for everybody even if text follows the *', () => {
    expect(allowed('User-agent: * all of you\nDisallow: /', '/x')).toBe(false);
  });
});

describe('of several matching rules', () => {
  test('the longest decides wherever it stands, and Allow wins a tie', () => {
    const text = everybody('Disallow: /a', 'Allow: /a/b', 'Disallow: /c', 'Allow: /c', 'Disallow: /a/b/c');
    expect(allowed(text, '/a/x')).toBe(false);
    expect(allowed(text, '/a/b')).toBe(true);
    expect(allowed(text, '/a/b/c')).toBe(false);
    expect(allowed(text, '/c')).toBe(true);
  });

  test('the length is counted in escaped octets', () => {
    expect(allowed(everybody('Allow: /*ツ', 'Disallow: /*%E3%83%84'), '/ツ')).toBe(true);
    expect(allowed(everybody('Allow: /aaaa*', 'Disallow: /*/ツ'), '/aaaa/ツ')).toBe(false);
  });
});

describe('a pattern', () => {
  test.each([
    ['/*.pdf$', ['/a/b.pdf', '/.pdf', '/x.pdf.pdf'], ['/a/b.pdf?x', '/pdf', '/a.pdfs']],
    ['/a*c*e', ['/ace', '/abcde', '/acce/x', '/a/c/c/e'], ['/aec', '/ac', '/e']],
    ['/a*a$', ['/aa', '/a/a', '/aaa'], ['/a', '/ab', '/aab']],
    ['*', ['/', '/x'], []],
    ['*/x', ['/x', '/a/x/b'], ['/y']],
    ['/$', ['/'], ['/x', '/?x']],
    ['/a**b', ['/ab', '/axb'], ['/a']],
    ['/a*$', ['/a', '/ab'], ['/b']],
    ['/a$b', ['/a$b', '/a%24b'], ['/a', '/ab']],
    ['/a?b', ['/a?b=c'], ['/a', '/axb']],
    ['/a.b+(c)[d]', ['/a.b+(c)[d]'], ['/aXb+(c)[d]']],
  ])('%s', (pattern, forbidden, free) => {
    expect(forbidden.filter((path) => !forbids(pattern, path))).toEqual([]);
    expect(free.filter((path) => forbids(pattern, path))).toEqual([]);
  });

  test('that lacks its leading slash is read with one', () => {
    expect(forbids('private/', '/private/x')).toBe(true);
    expect(forbids('private/', '/x/private/x')).toBe(false);
  });
});

describe('percent-encoding', () => {
  test.each([
    ['/caf%c3%a9', '/café'],
    ['/café', '/caf%C3%A9'],
    ['/%7Ejoe/', '/~joe/'],
    ['/~joe/', '/%7ejoe/'],
    ['/a%2Fb', '/a%2fb'],
    ['/a b', '/a%20b'],
    ['/%2A', '/*x'],
    ['/%24', '/$x'],
    ['/a|b', '/a|b'],
    ["/?q='", "/?q='x'"],
    ['/100%', '/100%'],
    ['/%zz', '/%zz'],
    ['/\ud83d\ude00', '/%F0%9F%98%80'],
  ])('%s forbids %s', (pattern, path) => {
    expect(forbids(pattern, path)).toBe(true);
  });

  test.each([
    ['/a%2Fb', '/a/b'],
    ['/a/b', '/a%2Fb'],
    ['/a%3Fb', '/a?b'],
    ['/%2A', '/x'],
  ])('%s does not match %s, because an escaped delimiter is another octet', (pattern, path) => {
    expect(forbids(pattern, path)).toBe(false);
  });
});

describe('a mistake that is accepted', () => {
  test.each([
    'Disallow : /x',
    'disallow:/x',
    'DISALLOW:\t/x  ',
    'Disallow /x',
    'Disallow:\u00a0/x',
    'Dissallow: /x',
    'Dissalow: /x',
    'Disalow: /x',
    'Diasllow: /x',
    'Disallaw: /x',
    'Disallow: /x # not here',
  ])('%j', (line) => {
    expect(allowed(everybody(line), '/x')).toBe(false);
  });

  test.each(['User agent: *', 'Useragent: *', 'User-agent *'])('%j', (line) => {
    expect(allowed(`${line}\nDisallow: /`, '/x')).toBe(false);
  });

  test.each(['Please disallow: /x', 'Disallow anything below /x', 'Noindex: /x', ': /x', '#Disallow: /x'])(
    'but not %j',
    (line) => {
      expect(allowed(everybody(line), '/x')).toBe(true);
    },
  );

  test('a line that is too long is truncated, not dropped', () => {
    const path = `/${'a'.repeat(MAX_LINE_LENGTH)}`;
    expect(allowed(everybody(`Disallow: ${path}b`), `${path}c`)).toBe(false);
    expect(allowed(everybody(`${' '.repeat(MAX_LINE_LENGTH)}Disallow: /`), '/')).toBe(true);
  });
});

describe('Crawl-delay', () => {
  test.each([
    ['10', 10_000],
    ['0.5', 500],
    ['.25', 250],
    ['0.0001', 1],
    ['0', null],
    ['-1', null],
    ['soon', null],
    ['', null],
    ['Infinity', null],
    ['1e400', Number.MAX_SAFE_INTEGER],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ])('%j is %j ms', (value, ms) => {
    expect(rulesOf(`User-agent: *\nCrawl-delay: ${value}`).crawlDelayMs).toBe(ms);
  });

  test('of our own group applies, not that of *', () => {
    expect(rulesOf('User-agent: *\nCrawl-delay: 30\nUser-agent: Amble\nCrawl-delay: 2').crawlDelayMs).toBe(
      2_000,
    );
    expect(
      rulesOf('User-agent: *\nCrawl-delay: 30\nUser-agent: Amble\nDisallow: /x').crawlDelayMs,
    ).toBeNull();
  });

  test('that occurs several times is the longest, and an invalid one has no effect', () => {
    expect(rulesOf(everybody('Crawl-delay: 2', 'Crawl-delay: 3', 'Crawl-delay: x')).crawlDelayMs).toBe(3_000);
  });

  test('is null if none is given, or only outside a group', () => {
    expect(rulesOf(everybody('Disallow: /x')).crawlDelayMs).toBeNull();
    expect(rulesOf('Crawl-delay: 3\nUser-agent: *\nDisallow: /x').crawlDelayMs).toBeNull();
  });
});

test('Sitemap lines belong to no group, and do not end one', () => {
  const rules = rulesOf(
    [
      'Sitemap: https://cdn.example.net/one.xml',
      'User-agent: Amble',
      'sitemap: /two.xml.gz',
      'User-agent: Other',
      'Disallow: /x',
      'Site-map: https://cdn.example.net/one.xml',
      'Sitemap: ftp://example.org/three.xml',
      'Sitemap:',
    ].join('\n'),
  );
  expect(rules.sitemaps).toEqual(['https://cdn.example.net/one.xml', `${ORIGIN}/two.xml.gz`]);
  expect(rules.isAllowed(`${ORIGIN}/x`)).toBe(false);
});
