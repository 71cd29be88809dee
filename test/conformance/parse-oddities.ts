/** Odd documents, one per row, with what a crawl must record for the page and its links. */
import type { SkipCounts } from '../../src/urls/index.ts';

export interface DocumentOddity {
  name: string;
  contentType: string;
  body: Buffer;
  /** What is recorded for the page, where it differs from NOTHING_SPECIAL. */
  expected: Partial<PageFacts>;
  /** The paths that its links lead to; all are fetched. */
  followed: string[];
}

export interface PageFacts {
  status: string;
  reason: string | null;
  title: string | null;
  /** Path on its own host. */
  canonical: string | null;
  redirectTo: string | null;
  noindex: boolean;
  linksFound: number;
  linksSkipped: SkipCounts | null;
}

export const NOTHING_SPECIAL: PageFacts = {
  status: 'Fetched',
  reason: null,
  title: 'Odd',
  canonical: null,
  redirectTo: null,
  noindex: false,
  linksFound: 0,
  linksSkipped: null,
};

/** Settings of the worker that crawls them. */
export const MAX_LINKS_PER_PAGE = 10;

/** Settings of the crawl that visits them. */
export const RULES = {
  scope: 'host',
  include: ['/in/*'],
  exclude: ['/in/private/*'],
  traps: { maxPerCalendar: 3 },
};

const TITLE = '<title>Odd</title>';

export const DOCUMENT_ODDITIES: readonly DocumentOddity[] = [
  // Encodings
  titled('utf-16-by-its-mark', 'Zürich', Buffer.from('\ufeff<title>Zürich</title>', 'utf16le'), 'big5'),
  titled(
    'utf-8-by-its-mark',
    'Zürich',
    Buffer.from('\ufeff<meta charset=koi8-r><title>Zürich</title>'),
    'big5',
  ),
  titled(
    'by-its-header',
    '“Zürich”',
    bytes('<meta charset=koi8-r><title>\x93Z\xfcrich\x94</title>'),
    'latin1',
  ),
  titled(
    'by-its-meta',
    'Привет',
    bytes('<meta charset=windows-1251><title>\xcf\xf0\xe8\xe2\xe5\xf2</title>'),
  ),
  titled('undeclared', 'Zürich…', bytes('<title>Z\xfcrich\x85</title>')),
  titled('by-an-unknown-name', 'Zürich', Buffer.from('<title>Zürich</title>'), 'klingon'),
  leads('a-query-in-its-encoding', '<meta charset=windows-1252><a href="/in/?q=caf\xe9">', ['/in/?q=caf%E9']),

  // Where links lead
  leads('base', '<base href="/in/base/"><a href=x>', ['/in/base/x']),
  {
    ...leads('canonical', '<link rel=canonical href="/in/this#part">', []),
    expected: { canonical: '/in/this' },
  },
  {
    ...leads('refresh', '<meta http-equiv=refresh content="0; url=/in/new">', ['/in/new']),
    expected: { status: 'Redirected', redirectTo: '/in/new', linksFound: 1 },
  },
  leads('refresh-after-reading', '<meta http-equiv=refresh content="30; url=/in/next">', ['/in/next']),
  leads('frames', '<iframe src=/in/frame></iframe><map><area href=/in/area></map>', [
    '/in/area',
    '/in/frame',
  ]),
  leads(
    'one-page-by-many-names',
    links(
      '/in/p?b=2&a=1',
      '/in/p?a=1&b=2&utm_source=x',
      '/in/p;jsessionid=0123456789ABCDEF?a=1&b=2#x',
      '/in/q/../p?a=1&b=2&PHPSESSID=0123456789abcdef',
    ),
    ['/in/p?a=1&b=2'],
  ),

  // What is not followed
  skips('nofollow', `${links('/in/a')}<a rel="ugc nofollow" href=/in/b>`, ['/in/a'], { nofollow: 1 }),
  skips('nofollow-for-all', `<meta name=robots content=nofollow>${links('/in/a', '/in/b')}`, [], {
    nofollow: 2,
  }),
  {
    ...leads('noindex', `<meta name=robots content=noindex>${links('/in/a')}`, ['/in/a']),
    expected: { noindex: true, linksFound: 1 },
  },
  skips('scope', links('/in/a', '/out', '/in/private/x', 'http://elsewhere.test/in/a'), ['/in/a'], {
    'not included': 1,
    excluded: 1,
    'out of scope': 1,
  }),
  skips(
    'too-many-links',
    links(...Array.from({ length: 13 }, (_, n) => `/in/${n}`)),
    Array.from({ length: 10 }, (_, n) => `/in/${n}`),
    { 'too many on the page': 3 },
  ),
  skips('repeated-segments', links('/in/a/b/a/b', '/in/a/b/a/b/a/b/a/b'), ['/in/a/b/a/b'], {
    'repeated segments': 1,
  }),
  skips('a-path-without-end', links(`/in/${Array.from({ length: 30 }, (_, n) => n).join('/')}`), [], {
    'path too deep': 1,
  }),
  skips(
    'a-calendar',
    links(...['01', '02', '03', '04', '05'].map((month) => `/in/events/2031/${month}`)),
    ['/in/events/2031/01', '/in/events/2031/02', '/in/events/2031/03'],
    { 'calendar full': 2 },
  ),
  {
    ...leads('an-address-too-long', links(`/in/${'x'.repeat(2_100)}`), []),
    expected: { linksSkipped: { 'too long': 1 } },
  },

  // Invalid markup
  leads(
    'nothing-closed',
    "<div><A HREF=/in/one>1<a href='/in/two'>2<table><a href=/in/three>3<!-- <a href=/in/never>",
    ['/in/one', '/in/three', '/in/two'],
  ),
  leads('a-quote-not-closed', '<a href="/in/one>x</a><p class="y">z</p><a href=/in/two>', [
    '/in/one%3Ex%3C/a%3E%3Cp%20class=',
    '/in/two',
  ]),
  leads(
    'links-that-are-text',
    `<script>"${links('/in/s')}"</script><textarea>${links('/in/t')}</textarea><template>${links('/in/u')}</template>`,
    [],
  ),
  leads(
    'formatting-that-multiplies',
    `<p>${Array.from({ length: 300 }, (_, n) => `<b id=${n}>`).join('')}${'<p>x'.repeat(5_000)}${links('/in/after')}`,
    ['/in/after'],
  ),
  leads('too-deep', `${'<div>'.repeat(5_000)}${links('/in/below')}`, ['/in/below']),
];

function bytes(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}

function links(...hrefs: string[]): string {
  return hrefs.map((href) => `<a href="${href}">x</a>`).join('');
}

function titled(name: string, title: string, body: Buffer, charset?: string): DocumentOddity {
  const contentType = charset === undefined ? 'text/html' : `text/html; charset=${charset}`;
  return { name, contentType, body, expected: { title }, followed: [] };
}

function leads(name: string, html: string, followed: string[]): DocumentOddity {
  return {
    name,
    contentType: 'text/html',
    body: bytes(TITLE + html),
    expected: { linksFound: followed.length },
    followed,
  };
}

function skips(name: string, html: string, followed: string[], linksSkipped: SkipCounts): DocumentOddity {
  const skipped = Object.values(linksSkipped).reduce((sum, count) => sum + count, 0);
  return {
    ...leads(name, html, followed),
    expected: { linksFound: followed.length + skipped, linksSkipped },
  };
}
