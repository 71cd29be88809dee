/**
 * The facts that the tests of Google's reference parser (github.com/google/robotstxt) state, in cases of our own. Not
 * followed, as src/robots/rules.ts says: its reading of `index.html`, and that it does not undo needless escapes.
 */
import { expect, test } from 'vitest';
import { allowed } from './support.ts';

/** Who may go where by this text, as `agent path` lists. */
function verdicts(text: string, asked: readonly string[]): string[] {
  return asked.filter((line) => {
    const [agent = '', path = ''] = line.split(' ');
    return allowed(text, path, agent);
  });
}

test('a line is a name, a colon and a value, or a name, a blank and a value', () => {
  expect(allowed('user-agent: Walker\ndisallow: /', '/a', 'Walker')).toBe(false);
  expect(allowed('user-agent Walker\ndisallow /', '/a', 'Walker')).toBe(false);
  expect(allowed('one: Walker\ntwo: /', '/a', 'Walker')).toBe(true);
});

test('groups end at the next list of agents, are merged by agent, and own every rule up to their end', () => {
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
  expect(verdicts(text, everywhere)).toEqual(['One /a/x', 'One /d/x', 'Two /b/x', 'Two /c/x', 'Three /d/x']);
});

test.each(['USER-AGENT: Walker\nALLOW: /a/\nDISALLOW: /', 'uSeR-aGeNt: wALKER\naLLoW: /a/\ndIsAlLoW: /'])(
  'names of fields and agents are read in any case (%j)',
  (text) => {
    expect(verdicts(text, ['Walker /a/b', 'walker /a/b', 'Walker /b'])).toEqual([
      'Walker /a/b',
      'walker /a/b',
    ]);
  },
);

test('an agent is named up to the first blank', () => {
  const text = 'User-agent: *\nDisallow: /\nUser-agent: Walker Images\nAllow: /a/\nDisallow: /';
  expect(verdicts(text, ['Walker /a/b', 'Runner /a/b'])).toEqual(['Walker /a/b']);
});

test('the group for everybody is for those whom no other names; without it nothing holds for them', () => {
  const global = 'user-agent: *\nallow: /\nuser-agent: Walker\ndisallow: /';
  expect(verdicts(global, ['Walker /a', 'Runner /a'])).toEqual(['Runner /a']);
  const specific = 'user-agent: Walker\nallow: /\nuser-agent: Runner\ndisallow: /';
  expect(verdicts(specific, ['Walker /a', 'Runner /a', 'Swimmer /a'])).toEqual(['Walker /a', 'Swimmer /a']);
});

test.each<[string, { rules: string[]; free: string[]; forbidden: string[] }]>([
  ['the case of paths matters', { rules: ['Disallow: /A/'], free: ['/a/b'], forbidden: ['/A/b'] }],
  [
    'the longer Disallow wins',
    { rules: ['Disallow: /a/b.html', 'Allow: /a/'], free: ['/a/', '/a/c.html'], forbidden: ['/a/b.html'] },
  ],
  [
    'the longer Allow wins',
    { rules: ['Allow: /a/b.html', 'Disallow: /a/'], free: ['/', '/a/b.html'], forbidden: ['/a/', '/a/c'] },
  ],
  ['two empty rules are no rules', { rules: ['Disallow:', 'Allow:'], free: ['/', '/a'], forbidden: [] }],
  ['a tie is an Allow', { rules: ['Disallow: /', 'Allow: /'], free: ['/', '/a'], forbidden: [] }],
  [
    'a slash more is longer',
    { rules: ['Disallow: /a', 'Allow: /a/'], free: ['/a/', '/a/b'], forbidden: ['/a', '/ab'] },
  ],
  [
    'a wildcard counts as an octet',
    { rules: ['Allow: /page', 'Disallow: /*.htm'], free: ['/page', '/page/x'], forbidden: ['/page.htm'] },
  ],
  [
    'a long prefix beats a wildcard',
    { rules: ['Allow: /a/page.', 'Disallow: /*.html'], free: ['/a/page.html'], forbidden: ['/a/b.html'] },
  ],
  [
    'the front page alone can be left open',
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
    'a sign beyond ASCII is its escaped octets',
    { rules: ['Disallow: /', 'Allow: /a/ツ'], free: ['/a/%E3%83%84', '/a/ツ'], forbidden: ['/a/%E3%83'] },
  ],
  [
    'escaped octets are that sign',
    { rules: ['Disallow: /', 'Allow: /a/%e3%83%84'], free: ['/a/%E3%83%84', '/a/ツ'], forbidden: ['/a/'] },
  ],
  [
    'a star is any octets, none too',
    {
      rules: ['Disallow: /', 'Allow: /a/*/c'],
      free: ['/a/b/c', '/a//c', '/a/b/b/cd'],
      forbidden: ['/a/c', '/a/b'],
    },
  ],
  [
    'a dollar is the end',
    { rules: ['Disallow: /a$', 'Allow: /a/b'], free: ['/a/', '/a/b', '/a/c', '/ab'], forbidden: ['/a'] },
  ],
  [
    'a comment is no rule, and no part of one',
    { rules: ['# Disallow: /', 'Disallow: /a#b', 'Allow: /'], free: ['/b'], forbidden: ['/a', '/a/c'] },
  ],
  [
    'a path stands for all that begins with it',
    {
      rules: ['Disallow: /', 'Allow: /fish'],
      free: ['/fish', '/fish.html', '/fish/salmon.html', '/fishheads', '/fish.html?id=1'],
      forbidden: ['/Fish.asp', '/catfish', '/?id=fish'],
    },
  ],
  [
    'a star at the end adds nothing',
    {
      rules: ['Disallow: /', 'Allow: /fish*'],
      free: ['/fish', '/fishheads/yummy.html'],
      forbidden: ['/Fish.asp', '/catfish', '/?id=fish'],
    },
  ],
  [
    'a slash at the end does',
    {
      rules: ['Disallow: /', 'Allow: /fish/'],
      free: ['/fish/', '/fish/?id=1', '/fish/salmon'],
      forbidden: ['/fish', '/fish.html', '/Fish/Salmon'],
    },
  ],
  [
    'an ending is looked for anywhere',
    {
      rules: ['Disallow: /', 'Allow: /*.php'],
      free: ['/x.php', '/a/x.php?y', '//a/any.php.html', '/x.php/', '/index?f=x.php/'],
      forbidden: ['/php/', '/index?php', '/x.PHP'],
    },
  ],
  [
    'or at the very end alone',
    {
      rules: ['Disallow: /', 'Allow: /*.php$'],
      free: ['/x.php', '/a/x.php'],
      forbidden: ['/x.php?y', '/x.php/', '/x.php5', '/php/', '/aphpa', '/x.PHP'],
    },
  ],
  [
    'a star in the middle is bound on both sides',
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
