/**
 * The facts that the tests of Google's reference parser (github.com/google/robotstxt) state, in cases of our own. We depart
 * from two of them, as src/robots/group.ts says: its reading of `index.html`, and that it does not undo needless escapes.
 */
import { expect, test } from 'vitest';
import { allowed } from './support.ts';

/** Which of the requests this text allows. A request is written as `agent path`. */
function allowedOf(text: string, requests: readonly string[]): string[] {
  return requests.filter((line) => {
    const [agent = '', path = ''] = line.split(' ');
    return allowed(text, path, agent);
  });
}

test('a line consists of a field, a colon or a blank, and a value', () => {
  expect(allowed('user-agent: Walker\ndisallow: /', '/a', 'Walker')).toBe(false);
  expect(allowed('user-agent Walker\ndisallow /', '/a', 'Walker')).toBe(false);
  expect(allowed('one: Walker\ntwo: /', '/a', 'Walker')).toBe(true);
});

test('a group ends at the next list of agents, and the groups of one agent are merged', () => {
  const text = `
    allow: /before/

    user-agent: One
    disallow: /
    allow: /a/
    user-agent: Two
    disallow: /
    allow: /b/


    allow: /c/
    user-agent: Three

    user-agent: One
    allow: /d/
    disallow: /`;
  const everywhere = ['One', 'Two', 'Three'].flatMap((agent) =>
    ['/a/x', '/b/x', '/c/x', '/d/x', '/before/x'].map((path) => `${agent} ${path}`),
  );
  expect(allowedOf(text, everywhere)).toEqual(['One /a/x', 'One /d/x', 'Two /b/x', 'Two /c/x', 'Three /d/x']);
});

test.each(['USER-AGENT: Walker\nALLOW: /a/\nDISALLOW: /', 'uSeR-aGeNt: wALKER\naLLoW: /a/\ndIsAlLoW: /'])(
  'the names of fields and agents are case-insensitive (%j)',
  (text) => {
    expect(allowedOf(text, ['Walker /a/b', 'walker /a/b', 'Walker /b'])).toEqual([
      'Walker /a/b',
      'walker /a/b',
    ]);
  },
);

test('an agent is named up to the first blank', () => {
  const text = 'User-agent: *\nDisallow: /\nUser-agent: Walker Images\nAllow: /a/\nDisallow: /';
  expect(allowedOf(text, ['Walker /a/b', 'Runner /a/b'])).toEqual(['Walker /a/b']);
});

test('the group for * applies to agents that no other group names', () => {
  const global = 'user-agent: *\nallow: /\nuser-agent: Walker\ndisallow: /';
  expect(allowedOf(global, ['Walker /a', 'Runner /a'])).toEqual(['Runner /a']);
  const specific = 'user-agent: Walker\nallow: /\nuser-agent: Runner\ndisallow: /';
  expect(allowedOf(specific, ['Walker /a', 'Runner /a', 'Swimmer /a'])).toEqual(['Walker /a', 'Swimmer /a']);
});

test.each<[string, { rules: string[]; free: string[]; forbidden: string[] }]>([
  ['paths are case-sensitive', { rules: ['Disallow: /A/'], free: ['/a/b'], forbidden: ['/A/b'] }],
  [
    'the longer Disallow wins',
    { rules: ['Disallow: /a/b.html', 'Allow: /a/'], free: ['/a/', '/a/c.html'], forbidden: ['/a/b.html'] },
  ],
  [
    'the longer Allow wins',
    { rules: ['Allow: /a/b.html', 'Disallow: /a/'], free: ['/', '/a/b.html'], forbidden: ['/a/', '/a/c'] },
  ],
  ['empty rules have no effect', { rules: ['Disallow:', 'Allow:'], free: ['/', '/a'], forbidden: [] }],
  ['Allow wins a tie', { rules: ['Disallow: /', 'Allow: /'], free: ['/', '/a'], forbidden: [] }],
  [
    'a slash more is longer',
    { rules: ['Disallow: /a', 'Allow: /a/'], free: ['/a/', '/a/b'], forbidden: ['/a', '/ab'] },
  ],
  [
    'a wildcard counts as one octet',
    { rules: ['Allow: /page', 'Disallow: /*.htm'], free: ['/page', '/page/x'], forbidden: ['/page.htm'] },
  ],
  [
    'a long prefix beats a wildcard',
    { rules: ['Allow: /a/page.', 'Disallow: /*.html'], free: ['/a/page.html'], forbidden: ['/a/b.html'] },
  ],
  [
    'the front page alone can be allowed',
    { rules: ['Allow: /$', 'Disallow: /'], free: ['/'], forbidden: ['/a.html', '/?a'] },
  ],
  [
    'a query is part of the path',
    {
      rules: ['Disallow: /', 'Allow: /a?b=http://c.d?e&f'],
      free: ['/a?b=http://c.d?e&f'],
      forbidden: ['/a?b'],
    },
  ],
  [
    'a non-ASCII character equals its escaped octets',
    { rules: ['Disallow: /', 'Allow: /a/ツ'], free: ['/a/%E3%83%84', '/a/ツ'], forbidden: ['/a/%E3%83'] },
  ],
  [
    'escaped octets equal their character',
    { rules: ['Disallow: /', 'Allow: /a/%e3%83%84'], free: ['/a/%E3%83%84', '/a/ツ'], forbidden: ['/a/'] },
  ],
  [
    'a * matches any octets, or none',
    {
      rules: ['Disallow: /', 'Allow: /a/*/c'],
      free: ['/a/b/c', '/a//c', '/a/b/b/cd'],
      forbidden: ['/a/c', '/a/b'],
    },
  ],
  [
    'a $ matches the end',
    { rules: ['Disallow: /a$', 'Allow: /a/b'], free: ['/a/', '/a/b', '/a/c', '/ab'], forbidden: ['/a'] },
  ],
  [
    'a comment is not a rule, nor part of one',
    { rules: ['# Disallow: /', 'Disallow: /a#b', 'Allow: /'], free: ['/b'], forbidden: ['/a', '/a/c'] },
  ],
  [
    'a path matches everything that starts with it',
    {
      rules: ['Disallow: /', 'Allow: /fish'],
      free: ['/fish', '/fish.html', '/fish/salmon.html', '/fishheads', '/fish.html?id=1'],
      forbidden: ['/Fish.asp', '/catfish', '/?id=fish'],
    },
  ],
  [
    'a * at the end has no effect',
    {
      rules: ['Disallow: /', 'Allow: /fish*'],
      free: ['/fish', '/fishheads/yummy.html'],
      forbidden: ['/Fish.asp', '/catfish', '/?id=fish'],
    },
  ],
  [
    'a slash at the end has one',
    {
      rules: ['Disallow: /', 'Allow: /fish/'],
      free: ['/fish/', '/fish/?id=1', '/fish/salmon'],
      forbidden: ['/fish', '/fish.html', '/Fish/Salmon'],
    },
  ],
  [
    'a suffix after a * matches anywhere',
    {
      rules: ['Disallow: /', 'Allow: /*.php'],
      free: ['/x.php', '/a/x.php?y', '//a/any.php.html', '/x.php/', '/index?f=x.php/'],
      forbidden: ['/php/', '/index?php', '/x.PHP'],
    },
  ],
  [
    'a suffix with a $ matches only at the end',
    {
      rules: ['Disallow: /', 'Allow: /*.php$'],
      free: ['/x.php', '/a/x.php'],
      forbidden: ['/x.php?y', '/x.php/', '/x.php5', '/php/', '/aphpa', '/x.PHP'],
    },
  ],
  [
    'a * in the middle needs both sides to match',
    {
      rules: ['Disallow: /', 'Allow: /fish*.php'],
      free: ['/fish.php', '/fishheads/catfish.php?y'],
      forbidden: ['/Fish.PHP', '/fish.ph'],
    },
  ],
])('%s', (_, { rules, free, forbidden }) => {
  const text = ['User-agent: Walker', ...rules].join('\n');
  expect([...free, ...forbidden].filter((path) => allowed(text, path, 'Walker'))).toEqual(free);
});
