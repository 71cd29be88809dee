import { describe, expect, it } from 'vitest';
import { renderPage, type Surroundings, whereAndWhy } from '../../src/cli/render/page.ts';
import type { StoredDomain } from '../../src/core/slot-protocol.ts';
import type { PageReport } from '../../src/storage/reports/page-report.ts';
import { newThrottle, toStoredDomain, view } from '../../src/throttle/index.ts';
import type { ThrottleView } from '../../src/throttle/view.ts';
import { CONFIG } from '../throttle/support.ts';

const NOW = new Date(2026, 0, 31, 14, 0, 0);
const at = (hours: number, minutes: number) => new Date(2026, 0, 31, hours, minutes, 0);

type Changes = Omit<Partial<PageReport>, 'page' | 'crawl'> & {
  page?: Partial<PageReport['page']>;
  crawl?: Partial<PageReport['crawl']>;
};

function aPage({ page, crawl, ...rest }: Changes): PageReport {
  return {
    crawl: {
      id: 'example',
      status: 'Running',
      maximumAttempts: 3,
      window: 100,
      warmup: null,
      budget: null,
      ...crawl,
    },
    alsoIn: [],
    attempts: [],
    before: null,
    robotsTrouble: null,
    chain: [],
    page: {
      id: 1n,
      crawlId: 'example',
      url: 'https://example.org/about',
      urlHash: new Uint8Array(),
      domain: 'example.org',
      kind: 'page',
      status: 'Pending',
      reason: null,
      depth: 1,
      priority: 5,
      rank: 0,
      seed: false,
      attempts: 0,
      nextAt: null,
      redirectTo: null,
      statusCode: null,
      title: null,
      fetchedAt: null,
      ...page,
    },
    ...rest,
  };
}

const ALONE: Surroundings = { where: null, domain: null, atWork: { working: true } };

const say = (changes: Changes, where: Surroundings['where'] = null) =>
  whereAndWhy(aPage(changes), { ...ALONE, where }, NOW);

const THROTTLE = view({ ...newThrottle('example.org', CONFIG), openedAt: 0 }, NOW.getTime());

describe('a page in the table', () => {
  it('says how many go before it and whether there is room', () => {
    expect(say({ before: { pending: 7, queued: 100 } })).toBe(
      'behind 7 others; 100 of 100 places of example.org are taken.',
    );
    expect(say({ before: { pending: 0, queued: 40 } })).toBe(
      'the next to begin; 40 of 100 places of example.org are taken.',
    );
  });

  it('says until when it was put off, and why', () => {
    const page = { nextAt: at(14, 5), reason: 'attempt 1 of 3: Status 503.' };
    expect(say({ page })).toBe('not before 14:05:00 (in 5 min): attempt 1 of 3: Status 503.');
  });

  it('says when it is its crawl that does not go on', () => {
    expect(say({ crawl: { status: 'Paused' } })).toBe('the crawl is paused.');
    expect(say({ crawl: { status: 'Cancelling' } })).toBe('the crawl is being cancelled.');
  });
});

describe('a page that has not begun', () => {
  const before = { pending: 120, queued: 4 };
  const crawl = { window: 4 };
  const PLACE = 'behind 120 others; 4 of 4 places of example.org are taken';
  const outage = { since: at(13, 0).getTime(), until: at(14, 10).getTime(), failures: 2, error: 'Refused.' };

  /** As its throttle tells it, and as its row does where no worker answers for that. */
  function saidOf(live: Partial<ThrottleView>, stored: Partial<StoredDomain>): string[] {
    const row = { ...toStoredDomain(newThrottle('example.org', CONFIG), true), ...stored };
    const known = { name: 'example.org', stored: row, writtenAt: NOW };
    const domains = [
      { domain: 'example.org', live: { ...THROTTLE, ...live }, known: null },
      { domain: 'example.org', live: null, known },
    ];
    return domains.map((domain) => whereAndWhy(aPage({ before, crawl }), { ...ALONE, domain }, NOW));
  }

  it('says that its domain is paused', () => {
    const sentence = `${PLACE}; the domain is paused by an operator.`;
    expect(saidOf({ phase: 'paused' }, { paused: true })).toEqual([sentence, sentence]);
  });

  it('says that its domain asked for patience', () => {
    const blockedUntil = at(15, 0).getTime();
    const sentence = `${PLACE}; the domain asked for patience (Retry-After) until 15:00:00.`;
    expect(saidOf({ phase: 'blocked', blockedUntil }, { blockedUntil })).toEqual([sentence, sentence]);
    expect(saidOf({}, { blockedUntil: at(13, 0).getTime() })[1]).toBe(`${PLACE}.`);
  });

  it('says that its origin cannot be reached, and nothing of others', () => {
    const sentence = `${PLACE}; https://example.org cannot be reached since 13:00:00, tried again at 14:10:00: Refused.`;
    const of = (origin: string) =>
      saidOf({ phase: 'down', outages: [{ ...outage, origin }] }, { outages: { [origin]: outage } });
    expect(of('https://example.org')).toEqual([sentence, sentence]);
    for (const said of of('http://example.org')) expect(said).not.toContain('reached');
  });

  it('says how fast its domain goes, and why not faster', () => {
    const gap = { gapMs: 40_000, gapReason: 'backoff', nextGrantAt: NOW.getTime() + 20_000 } as const;
    expect(saidOf(gap, {})).toEqual([
      `${PLACE}; the next slot is due in 20 s; the gap is 40 s, because of backoff.`,
      `${PLACE}.`,
    ]);
  });

  it('says that its crawl warms up, unless it is a seed', () => {
    const warming = { ...crawl, warmup: { pending: 500, until: at(14, 8) } };
    const next = { pending: 0, queued: 0 };
    expect(say({ before: next, crawl: warming })).toBe(
      'the crawl warms up: beside its start URLs nothing begins before 500 pages are pending or those are done, or 14:08:00 (in 8 min).',
    );
    expect(say({ before: next, crawl: warming, page: { seed: true } })).toBe(
      'the next to begin; 0 of 4 places of example.org are taken.',
    );
  });

  it('says that the crawl may not fetch any more, once that is so', () => {
    const budget = { maxPages: 10, reserved: 9 };
    expect(say({ before, crawl: { ...crawl, budget } })).toBe(`${PLACE}.`);
    expect(say({ before, crawl: { ...crawl, budget: { ...budget, reserved: 10 } } })).toBe(
      "the crawl's budget is taken (maxPages: 10); it begins only if a page that has begun is not fetched after all, and is cancelled otherwise.",
    );
  });

  it('that is a sitemap says how those are read', () => {
    expect(say({ before: { pending: 1, queued: 4 }, page: { kind: 'sitemap' } })).toBe(
      'behind 1 other; sitemaps of example.org are read one at a time, and only while the crawl may fetch more pages than it knows.',
    );
  });
});

it('says when nobody works on its crawl', () => {
  const atWork = { working: false, because: 'no worker runs' } as const;
  expect(renderPage(aPage({}), { ...ALONE, atWork }, NOW)).toContain(
    '            Nobody works on the crawl: no worker runs.',
  );
});

it('a page between two attempts says which is next, when, and after what', () => {
  const nextAt = at(14, 5);
  const attempt = {
    id: 1n,
    pageId: 1n,
    attempt: 1,
    outcome: 'Timeout',
    statusCode: null,
    errorKind: 'timeout',
    error: 'No answer.',
    priority: 5,
    startedAt: NOW,
    finishedAt: NOW,
    slotWaitMs: 0,
    latencyMs: null,
    bytes: null,
    nextAttemptAt: nextAt,
    createdAt: NOW,
  } as const;
  const page = { status: 'Waiting', attempts: 1, nextAt, reason: 'attempt 1 of 3: No answer.' } as const;
  expect(say({ page, attempts: [attempt] })).toBe(
    'retry 2 of 3 at 14:05:00 (in 5 min), after attempt 1 of 3: No answer.',
  );
});

describe('a page that has begun', () => {
  const page = { status: 'Queued' } as const;
  const place = {
    kind: 'queued',
    position: 3,
    of: 12,
    askedAt: NOW.getTime(),
    expectedAt: NOW.getTime() + 20_000,
  } as const;
  const domain = { ...THROTTLE, gapMs: 10_000, gapReason: 'crawl-delay' } as const;

  it('says its place in line, when it may expect its slot, and whose gap that is', () => {
    expect(say({ page }, { place, domain })).toBe(
      '3rd of 12 in line for a slot of example.org, expected in 20 s; the gap is 10 s, because of Crawl-delay in robots.txt.',
    );
  });

  it('says what holds the whole domain: a person, a Retry-After', () => {
    expect(
      say({ page }, { place: { ...place, expectedAt: null }, domain: { ...domain, phase: 'paused' } }),
    ).toBe('3rd of 12 in line for a slot of example.org, which is paused by an operator.');
    const blocked = { ...domain, phase: 'blocked', blockedUntil: at(15, 0).getTime() } as const;
    expect(say({ page }, { place, domain: blocked })).toBe(
      '3rd of 12 in line for a slot of example.org, which asked for patience (Retry-After) until 15:00:00.',
    );
  });

  it('says why its own origin is not asked, whatever the others of the domain do', () => {
    const down = (origin: string, error: string) => ({
      ...{ origin, error, since: at(13, 0).getTime(), until: at(14, 10).getTime(), failures: 2 },
    });
    const outages = [down('http://example.org', 'theirs.'), down('https://example.org', 'Refused.')];
    const sentence =
      '3rd of 12 in line for a slot of example.org; https://example.org cannot be reached since 13:00:00, tried again at 14:10:00: Refused.';
    expect(say({ page }, { place, domain: { ...domain, outages } })).toBe(sentence);
    expect(say({ page }, { place, domain: { ...domain, phase: 'down', outages } })).toBe(sentence);
    const others = { ...domain, outages: outages.slice(0, 1) };
    expect(say({ page }, { place, domain: others })).toMatch(/expected in 20 s/);
  });

  it('says that its crawl is paused, unless it is being fetched all the same', () => {
    const crawl = { status: 'Paused' } as const;
    expect(say({ page, crawl }, { place, domain })).toBe('the crawl is paused.');
    expect(say({ page: { status: 'Waiting', nextAt: at(15, 0) }, crawl })).toBe('the crawl is paused.');
    const granted = { kind: 'granted', notBefore: 0, startBy: 0, startedAt: at(13, 59).getTime() } as const;
    expect(say({ page, crawl }, { place: granted, domain })).toMatch(/being fetched/);
  });

  it('says that it is being fetched', () => {
    const granted = { kind: 'granted', notBefore: 0, startBy: 0, startedAt: at(13, 59).getTime() } as const;
    expect(say({ page }, { place: granted, domain })).toBe('it is being fetched since 13:59:00.');
  });

  it('says that its robots.txt, which was redirected, is in the line of another domain', () => {
    const robots = {
      origin: 'https://example.org',
      url: 'https://other.org/robots.txt',
      domain: 'other.org',
      hop: 1,
    };
    expect(say({ page }, { place, domain, robots })).toBe(
      'first its robots.txt, which leads to https://other.org/robots.txt: 3rd of 12 in line for a slot of other.org, expected in 20 s; the gap is 10 s, because of Crawl-delay in robots.txt.',
    );
    const granted = { kind: 'granted', notBefore: 0, startBy: 0, startedAt: at(13, 59).getTime() } as const;
    expect(say({ page }, { place: granted, domain, robots })).toBe(
      'first its robots.txt, which leads to https://other.org/robots.txt: it is being fetched since 13:59:00.',
    );
    expect(say({ page }, { place: { kind: 'absent' }, domain, robots })).toBe(
      'first its robots.txt, which leads to https://other.org/robots.txt: under way: about to ask for a slot, or being recorded.',
    );
  });

  it('says that nobody answers for its throttle, or what robots.txt has to do with it', () => {
    expect(say({ page })).toBe(
      'it waits for a slot of example.org, whose throttle does not answer: is a worker running?',
    );
    const paused = { ...toStoredDomain(newThrottle('example.org', CONFIG), true), paused: true };
    const known = { name: 'example.org', stored: paused, writtenAt: NOW };
    const around = { ...ALONE, domain: { domain: 'example.org', live: null, known } };
    expect(whereAndWhy(aPage({ page }), around, NOW)).toBe(
      'it waits for a slot of example.org, whose throttle does not answer; as last written down, the domain is paused by an operator.',
    );
    const robotsTrouble = { error: 'answered 503', since: at(13, 30), heldUntil: at(14, 1) };
    expect(say({ page, robotsTrouble }, { place: { kind: 'absent' }, domain })).toBe(
      'its robots.txt cannot be read since 13:30:00 (answered 503); tried again at 14:01:00.',
    );
  });
});

it.each<[Partial<PageReport['page']>, string]>([
  [
    { status: 'Fetched', statusCode: 200, fetchedAt: at(13, 0), title: 'About' },
    'status 200 at 13:00:00, "About".',
  ],
  [{ status: 'Redirected', redirectTo: 'https://example.org/' }, 'to https://example.org/.'],
  [
    {
      status: 'Redirected',
      redirectTo: 'https://other.org/',
      reason: 'not followed: the target is out of scope',
    },
    'to https://other.org/, not followed: the target is out of scope.',
  ],
  [{ status: 'Failed', attempts: 3, reason: 'Status 503.' }, 'after 3 of 3 attempts: Status 503.'],
  [{ status: 'Blocked', reason: 'Disallowed by robots.txt.' }, 'Disallowed by robots.txt.'],
])('a page with a final status says how it came to it: %o', (page, sentence) => {
  expect(say({ page })).toBe(sentence);
});

it('a page in a chain of redirects shows the whole of it', () => {
  const chain = [
    { url: 'http://old.org/', step: -2 },
    { url: 'https://old.org/', step: -1 },
    { url: 'https://older.org/', step: -1 },
    { url: 'https://example.org/about/', step: 1 },
  ];
  expect(renderPage(aPage({ chain }), ALONE, NOW)).toEqual(
    expect.arrayContaining([
      '  Chain     http://old.org/',
      '            -> https://old.org/, https://older.org/',
      '            -> https://example.org/about (this page)',
      '            -> https://example.org/about/',
    ]),
  );
});
