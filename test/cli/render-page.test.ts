import { describe, expect, it } from 'vitest';
import { renderPageReport } from '../../src/cli/render/page.ts';
import type { StoredDomain } from '../../src/core/slot-protocol.ts';
import { describePage, type PageContext } from '../../src/operator/describe-page.ts';
import type { RecordedOrder } from '../../src/storage/orders.ts';
import type { PageReport } from '../../src/storage/reports/page-report.ts';
import { newThrottle, toStoredDomain, view } from '../../src/throttle/index.ts';
import type { ThrottleView } from '../../src/throttle/view.ts';
import { CONFIG } from '../throttle/support.ts';
import { anAttempt, aPage } from './support.ts';

const NOW = new Date(2026, 0, 31, 14, 0, 0);
const at = (hours: number, minutes: number) => new Date(2026, 0, 31, hours, minutes, 0);

const NO_CONTEXT: PageContext = { slot: null, domain: null, work: { active: true } };

const describeWith = (changes: Parameters<typeof aPage>[0], slot: PageContext['slot'] = null) =>
  describePage(aPage(changes), { ...NO_CONTEXT, slot }, NOW);

const PAUSE: RecordedOrder = {
  ...{ id: '1', givenAt: NOW, crawlId: 'a-crawl', domain: null, by: 'anna', reason: 'the owner asked' },
  ...{ kind: 'pause', channel: 'cli', effect: 'Running → Paused' },
};

const THROTTLE = view({ ...newThrottle('example.org', CONFIG), openedAt: 0 }, NOW.getTime());

describe('a pending page', () => {
  it('shows how many pages are ahead of it and how many are in progress', () => {
    expect(describeWith({ before: { pending: 7, queued: 100 } })).toBe(
      'behind 7 other pages; 100 of at most 100 pages of example.org are in progress.',
    );
    expect(describeWith({ before: { pending: 0, queued: 40 } })).toBe(
      'next to start; 40 of at most 100 pages of example.org are in progress.',
    );
  });

  it('shows until when it is deferred, and why', () => {
    const page = { nextAttemptAt: at(14, 5), reason: 'attempt 1 of 3: Status 503.' };
    expect(describeWith({ page })).toBe('not before 14:05:00 (in 5 min): attempt 1 of 3: Status 503.');
  });

  it('shows that its crawl is paused or being cancelled', () => {
    expect(describeWith({ crawl: { status: 'Paused' } })).toBe('the crawl is paused.');
    expect(describeWith({ crawl: { status: 'Paused', pausedBy: PAUSE } })).toBe(
      'the crawl is paused by anna (cli): the owner asked.',
    );
    expect(describeWith({ crawl: { status: 'Cancelling' } })).toBe('the crawl is being cancelled.');
  });

  it('shows that everything is stopped', () => {
    const stoppedBy: RecordedOrder = { ...PAUSE, kind: 'stop', crawlId: null };
    expect(describeWith({ crawl: { stoppedBy } })).toBe(
      'everything is stopped by anna (cli): the owner asked.',
    );
    const slot = { kind: 'granted', notBefore: NOW.getTime(), startBy: at(14, 1).getTime() } as const;
    expect(
      describeWith({ page: { status: 'Queued' }, crawl: { stoppedBy } }, { slot, domain: THROTTLE }),
    ).toContain('everything is stopped');
  });
});

describe('a page that has not started', () => {
  const before = { pending: 120, queued: 4 };
  const crawl = { window: 4 };
  const PLACE = 'behind 120 other pages; 4 of at most 4 pages of example.org are in progress';
  const outage = {
    since: at(13, 0).getTime(),
    until: at(14, 10).getTime(),
    failures: 2,
    error: 'Refused.',
    validFrom: 1,
  };

  /** From its throttle, and from its row when no worker answers for the throttle. */
  function liveAndStored(live: Partial<ThrottleView>, stored: Partial<StoredDomain>): string[] {
    const row = { ...toStoredDomain(newThrottle('example.org', CONFIG)), ...stored };
    const known = { name: 'example.org', stored: row, lastStart: null, writtenAt: NOW };
    const domains = [
      { domain: 'example.org', live: { ...THROTTLE, ...live }, known: null, pausedBy: PAUSE },
      { domain: 'example.org', live: null, known, pausedBy: PAUSE },
    ];
    return domains.map((domain) => describePage(aPage({ before, crawl }), { ...NO_CONTEXT, domain }, NOW));
  }

  it('shows that its domain is paused', () => {
    const sentence = `${PLACE}; the domain is paused by anna (cli): the owner asked.`;
    expect(liveAndStored({ phase: 'paused' }, { paused: true })).toEqual([sentence, sentence]);
  });

  it('shows the Retry-After of its domain', () => {
    const blockedUntil = at(15, 0).getTime();
    const sentence = `${PLACE}; the domain asked for no requests until 15:00:00 (Retry-After).`;
    expect(liveAndStored({ phase: 'blocked', blockedUntil }, { blockedUntil })).toEqual([sentence, sentence]);
    expect(liveAndStored({}, { blockedUntil: at(13, 0).getTime() })[1]).toBe(`${PLACE}.`);
  });

  it('shows that its origin is unreachable, but not that another one is', () => {
    const sentence = `${PLACE}; https://example.org has been unreachable since 13:00:00; next attempt at 14:10:00. Error: Refused.`;
    const of = (origin: string) =>
      liveAndStored({ phase: 'down', outages: [{ ...outage, origin }] }, { outages: { [origin]: outage } });
    expect(of('https://example.org')).toEqual([sentence, sentence]);
    for (const sentence of of('http://example.org')) expect(sentence).not.toContain('unreachable');
  });

  it('shows the gap of its domain and the reason for it', () => {
    const lease = { id: '1', workflowId: 'page', crawlId: 'a-crawl', notBefore: NOW.getTime() + 20_000 };
    const gap: Partial<ThrottleView> = {
      ...{ gapMs: 40_000, gapReason: 'backoff' },
      leases: [{ ...lease, startBy: lease.notBefore + 10_000 }],
    };
    expect(liveAndStored(gap, {})).toEqual([
      `${PLACE}; next slot in 20 s; the gap is 40 s because of backoff.`,
      `${PLACE}.`,
    ]);
  });

  it('shows that its crawl is warming up, unless it is a seed', () => {
    const warming = { ...crawl, warmup: { pending: 500, until: at(14, 8) } };
    const next = { pending: 0, queued: 0 };
    expect(describeWith({ before: next, crawl: warming })).toBe(
      'the crawl is warming up: only seeds are fetched until they are done, 500 pages are pending, or it is 14:08:00 (in 8 min).',
    );
    expect(describeWith({ before: next, crawl: warming, page: { isSeed: true } })).toBe(
      'next to start; 0 of at most 4 pages of example.org are in progress.',
    );
  });

  it('shows that the budget of its crawl is used up, once it is', () => {
    const budget = { maxPages: 10, reserved: 9 };
    expect(describeWith({ before, crawl: { ...crawl, budget } })).toBe(`${PLACE}.`);
    expect(describeWith({ before, crawl: { ...crawl, budget: { ...budget, reserved: 10 } } })).toBe(
      "the crawl's budget is used up (maxPages: 10); the page starts only if a page in progress turns out not to be fetched, and is cancelled otherwise.",
    );
  });

  it('shows how sitemaps are read if it is one', () => {
    expect(describeWith({ before: { pending: 1, queued: 4 }, page: { kind: 'sitemap' } })).toBe(
      'behind 1 other page; sitemaps of example.org are read one at a time, and only while the crawl may fetch more pages than it has found.',
    );
  });
});

it('shows that its crawl is stalled', () => {
  const work = { active: false, reason: 'no worker is running' } as const;
  expect(renderPageReport(aPage({}), { ...NO_CONTEXT, work }, NOW)).toContain(
    '            The crawl is stalled: no worker is running.',
  );
});

it('a page between two attempts shows which is next, when, and why', () => {
  const nextAttemptAt = at(14, 5);
  const attempt = anAttempt(NOW, {
    outcome: 'Timeout',
    errorKind: 'timeout',
    error: 'No answer.',
    nextAttemptAt,
  });
  const page = {
    status: 'Waiting',
    attempts: 1,
    nextAttemptAt,
    reason: 'attempt 1 of 3: No answer.',
  } as const;
  expect(describeWith({ page, attempts: [attempt] })).toBe(
    'attempt 2 of 3 at 14:05:00 (in 5 min), after attempt 1 of 3: No answer.',
  );
});

describe('a page in progress', () => {
  const page = { status: 'Queued' } as const;
  const place = {
    kind: 'waiting',
    position: 3,
    of: 12,
    askedAt: NOW.getTime(),
    retryAt: NOW.getTime() + 20_000,
  } as const;
  const domain = { ...THROTTLE, gapMs: 10_000, gapReason: 'crawl-delay' } as const;

  it('shows that no slot is reserved for it yet, when it asks again, and the reason for the gap', () => {
    expect(describeWith({ page }, { slot: place, domain })).toBe(
      '3rd of 12 that wait for a slot of example.org; it asks again in 20 s; the gap is 10 s because of Crawl-delay in robots.txt.',
    );
  });

  it('shows what blocks the whole domain: an operator, a Retry-After', () => {
    expect(describeWith({ page }, { slot: place, domain: { ...domain, phase: 'paused' } })).toBe(
      '3rd of 12 that wait for a slot of example.org, which is paused by an operator.',
    );
    const blocked = { ...domain, phase: 'blocked', blockedUntil: at(15, 0).getTime() } as const;
    expect(describeWith({ page }, { slot: place, domain: blocked })).toBe(
      '3rd of 12 that wait for a slot of example.org, which asked for no requests until 15:00:00 (Retry-After).',
    );
  });

  it('shows the outage of its own origin, but not of others of the domain', () => {
    const down = (origin: string, error: string) => ({
      ...{
        origin,
        error,
        since: at(13, 0).getTime(),
        until: at(14, 10).getTime(),
        failures: 2,
        validFrom: 1,
      },
    });
    const outages = [down('http://example.org', 'theirs.'), down('https://example.org', 'Refused.')];
    const sentence =
      '3rd of 12 that wait for a slot of example.org; https://example.org has been unreachable since 13:00:00; next attempt at 14:10:00. Error: Refused.';
    expect(describeWith({ page }, { slot: place, domain: { ...domain, outages } })).toBe(sentence);
    expect(describeWith({ page }, { slot: place, domain: { ...domain, phase: 'down', outages } })).toBe(
      sentence,
    );
    const others = { ...domain, outages: outages.slice(0, 1) };
    expect(describeWith({ page }, { slot: place, domain: others })).toMatch(/asks again in 20 s/);
  });

  it('shows that its crawl is paused, unless it is already being fetched', () => {
    const crawl = { status: 'Paused' } as const;
    expect(describeWith({ page, crawl }, { slot: place, domain })).toBe('the crawl is paused.');
    expect(describeWith({ page: { status: 'Waiting', nextAttemptAt: at(15, 0) }, crawl })).toBe(
      'the crawl is paused.',
    );
    const granted = {
      kind: 'granted',
      notBefore: at(13, 59).getTime(),
      startBy: at(14, 1).getTime(),
    } as const;
    expect(describeWith({ page, crawl }, { slot: granted, domain })).toMatch(/being fetched/);
  });

  it('shows that it is being fetched', () => {
    const granted = {
      kind: 'granted',
      notBefore: at(13, 59).getTime(),
      startBy: at(14, 1).getTime(),
    } as const;
    expect(describeWith({ page }, { slot: granted, domain })).toBe(
      'being fetched, or about to be: its slot of example.org is at 13:59:00, and may be used until 14:01:00.',
    );
  });

  it('shows when its slot is, and what may keep it from being used', () => {
    const granted = {
      kind: 'granted',
      notBefore: at(14, 1).getTime(),
      startBy: at(14, 2).getTime(),
    } as const;
    expect(describeWith({ page }, { slot: granted, domain })).toBe(
      'its slot of example.org is at 14:01:00 (in 1 min); the gap is 10 s because of Crawl-delay in robots.txt.',
    );
    expect(describeWith({ page }, { slot: granted, domain: { ...domain, phase: 'paused' } })).toBe(
      'its slot of example.org is at 14:01:00, but the domain is paused by an operator.',
    );
  });

  it('shows that its redirected robots.txt waits for a slot of another domain', () => {
    const robots = {
      origin: 'https://example.org',
      url: 'https://other.org/robots.txt',
      domain: 'other.org',
      hop: 1,
    };
    expect(describeWith({ page }, { slot: place, domain, robots })).toBe(
      'for its robots.txt, redirected to https://other.org/robots.txt: 3rd of 12 that wait for a slot of other.org; it asks again in 20 s; the gap is 10 s because of Crawl-delay in robots.txt.',
    );
    const granted = {
      kind: 'granted',
      notBefore: at(13, 59).getTime(),
      startBy: at(14, 1).getTime(),
    } as const;
    expect(describeWith({ page }, { slot: granted, domain, robots })).toBe(
      'for its robots.txt, redirected to https://other.org/robots.txt: being fetched, or about to be: its slot of other.org is at 13:59:00, and may be used until 14:01:00.',
    );
    expect(describeWith({ page }, { slot: { kind: 'absent' }, domain, robots })).toBe(
      'for its robots.txt, redirected to https://other.org/robots.txt: in progress: about to ask for a slot, or being recorded.',
    );
  });

  it('shows that its throttle does not answer, or that its robots.txt is unavailable', () => {
    expect(describeWith({ page })).toBe('waiting for a slot of example.org, whose throttle does not answer.');
    const paused = { ...toStoredDomain(newThrottle('example.org', CONFIG)), paused: true };
    const known = { name: 'example.org', stored: paused, lastStart: null, writtenAt: NOW };
    const around = { ...NO_CONTEXT, domain: { domain: 'example.org', live: null, known } };
    expect(describePage(aPage({ page }), around, NOW)).toBe(
      'waiting for a slot of example.org, whose throttle does not answer; when last stored, the domain is paused by an operator.',
    );
    const robotsFailure = { error: 'answered 503', since: at(13, 30), retryAt: at(14, 1) };
    expect(describeWith({ page, robotsFailure }, { slot: { kind: 'absent' }, domain })).toBe(
      'its robots.txt has been unavailable since 13:30:00 (answered 503); next attempt at 14:01:00.',
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
  [{ status: 'Failed', attempts: 3, reason: 'Status 503.' }, 'Status 503. This was attempt 3 of 3.'],
  [{ status: 'Blocked', reason: 'Disallowed by robots.txt.' }, 'Disallowed by robots.txt.'],
])('a page with a final status shows the reason: %o', (page, sentence) => {
  expect(describeWith({ page })).toBe(sentence);
});

it('a page in a redirect chain shows all of it', () => {
  const chain = [
    { url: 'http://old.org/', step: -2 },
    { url: 'https://old.org/', step: -1 },
    { url: 'https://older.org/', step: -1 },
    { url: 'https://example.org/about/', step: 1 },
  ];
  expect(renderPageReport(aPage({ chain }), NO_CONTEXT, NOW)).toEqual(
    expect.arrayContaining([
      '  Redirects http://old.org/',
      '            -> https://old.org/, https://older.org/',
      '            -> https://example.org/about (this page)',
      '            -> https://example.org/about/',
    ]),
  );
});
