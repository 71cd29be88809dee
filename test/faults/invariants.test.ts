import { describe, expect, test } from 'vitest';
import type { Arrival, AttemptOnRecord, Evidence, Injected } from './evidence.ts';
import { judge } from './invariants.ts';

const A = 'http://one.test/a';
const B = 'http://one.test/b';

/** Two pages of one host, fetched 200 ms apart; the second failed once. */
function soundEvidence(): Evidence {
  return {
    policy: { gapMs: 150, maximumAttempts: 3, retryAfterMs: 1_000 },
    expected: [
      { url: A, status: 'Fetched' },
      { url: B, status: 'Fetched' },
    ],
    crawl: { status: 'Completed', found: 2, pages: { Fetched: 2, Failed: 0 } },
    pages: [
      { url: A, status: 'Fetched', attempts: 1 },
      { url: B, status: 'Fetched', attempts: 2 },
    ],
    attempts: [attempt(A, 1, 1_000), attempt(B, 1, 1_200, { outcome: 'Blocked5xx' }), attempt(B, 2, 2_300)],
    requests: [
      { domain: 'one.test', url: A, startedAtMs: 1_000, minGapMs: 150 },
      { domain: 'one.test', url: B, startedAtMs: 1_200, minGapMs: 150 },
      { domain: 'one.test', url: B, startedAtMs: 2_300, minGapMs: 1_000 },
    ],
    arrivals: [arrival(A, 1_001), arrival(B, 1_201, { status: 503 }), arrival(B, 2_301)],
    injected: [],
  };
}

function attempt(url: string, number: number, startedAtMs: number, more: Partial<AttemptOnRecord> = {}) {
  const finishedAtMs = startedAtMs + 20;
  const times = { startedAtMs, finishedAtMs, recordedAtMs: finishedAtMs + 10 };
  return { url, attempt: number, outcome: 'Success' as const, errorKind: null, ...times, ...more };
}

function arrival(url: string, atMs: number, more: Partial<Arrival> = {}): Arrival {
  return { url, host: 'one.test', worker: 'worker-1', atMs, lateMs: 0, status: 200, page: true, ...more };
}

function kill(atMs: number, exposed: string[]): Injected {
  return { fault: 'kill', fromMs: atMs, untilMs: atMs, exposed, isSiteFailure: false };
}

function violationsOf(change: (sound: Evidence) => Partial<Evidence>): string[] {
  const sound = soundEvidence();
  return judge({ ...sound, ...change(sound) }).violations;
}

test('a sound run has no violations', () => {
  expect(judge(soundEvidence())).toEqual({ violations: [], lost: 0, repeats: [] });
});

describe('found = the sum of final statuses', () => {
  test('a crawl that accounts for fewer pages than it found is caught', () => {
    const found = violationsOf(({ crawl }) => ({ crawl: { ...crawl, pages: { Fetched: 1, Failed: 0 } } }));
    expect(found).toContain('the crawl found 2 pages, but accounts for 1');
    expect(found).toContain('the crawl counts 1 Fetched, but 2 are on record');
  });

  test('a page that is still open is caught', () => {
    const open = violationsOf(({ pages: [a] }) => ({
      pages: [a ?? fail(), { url: B, status: 'Queued', attempts: 2 }],
    }));
    expect(open).toContain(`${B} is still Queued`);
  });

  test('a crawl that has not ended is caught', () => {
    expect(violationsOf(({ crawl }) => ({ crawl: { ...crawl, status: 'Running' } }))).toEqual([
      'the crawl is Running, not Completed',
    ]);
  });
});

describe('no page lost', () => {
  test('a page of the web without a row is caught', () => {
    const sound = soundEvidence();
    const { violations, lost } = judge({ ...sound, pages: sound.pages.slice(0, 1) });
    expect(violations).toContain(`${B} is lost`);
    expect(lost).toBe(1);
  });

  test('a page with two rows is caught', () => {
    expect(violationsOf(({ pages }) => ({ pages: [...pages, ...pages.slice(0, 1)] }))).toContain(
      `${A} is on record 2 times`,
    );
  });

  test('a page with another status than it must have is caught', () => {
    const pages = [
      { url: A, status: 'Failed' as const, attempts: 1 },
      { url: B, status: 'Fetched' as const, attempts: 2 },
    ];
    expect(violationsOf(() => ({ pages }))).toContain(`${A} is Failed, not Fetched`);
  });

  test('a page that the web does not have is caught', () => {
    expect(violationsOf(({ expected }) => ({ expected: expected.slice(0, 1) }))).toContain(
      `${B} was never on the web`,
    );
  });
});

describe('no page fetched successfully twice', () => {
  /** Fetched at 500 too, and lost. */
  const twice = (sound: Evidence) => [arrival(A, 500), ...sound.arrivals];

  test('a second fetch that no fault excuses is caught', () => {
    expect(violationsOf((sound) => ({ arrivals: twice(sound) }))).toEqual([
      `${A} was fetched at 500 and again 501 ms later, with no fault to excuse it`,
    ]);
  });

  test('a fetch that was in flight at a kill may be repeated, and is counted', () => {
    const sound = soundEvidence();
    expect(judge({ ...sound, arrivals: twice(sound), injected: [kill(510, [A])] })).toEqual({
      violations: [],
      lost: 0,
      repeats: [{ url: A, fault: 'kill' }],
    });
  });

  test('one that was not in flight at that kill may not', () => {
    expect(violationsOf((sound) => ({ arrivals: twice(sound), injected: [kill(510, [B])] }))).toHaveLength(1);
  });

  test('a kill before the fetch, or after it was repeated, excuses nothing', () => {
    for (const at of [400, 1_100]) {
      expect(violationsOf((sound) => ({ arrivals: twice(sound), injected: [kill(at, [A])] }))).toHaveLength(
        1,
      );
    }
  });

  test('one kill excuses one repetition of a page', () => {
    const thrice = (sound: Evidence) => [arrival(A, 300), ...twice(sound)];
    const found = violationsOf((sound) => ({
      arrivals: thrice(sound),
      injected: [{ ...kill(310, [A]), untilMs: 900 }],
    }));
    expect(found).toHaveLength(1);
  });

  test('a page asked for after its end was recorded is caught, whatever happened', () => {
    const found = violationsOf((sound) => ({
      arrivals: [...sound.arrivals, arrival(A, 3_000)],
      injected: [kill(1_010, [A])],
    }));
    expect(found).toEqual([`${A} was requested 1970 ms after its end was recorded`]);
  });
});

describe('no gap violated', () => {
  test('two starts on record that are closer together than the gap in force are caught', () => {
    const found = violationsOf(({ requests: [a, b, c] }) => ({
      requests: [a ?? fail(), { ...(b ?? fail()), startedAtMs: 1_149 }, c ?? fail()],
    }));
    expect(found).toEqual([`on record, ${B} started 149 ms after ${A}, not 150 ms`]);
  });

  test('the gap that was in force counts, not only the configured one', () => {
    const found = violationsOf(({ requests: [a, b, c] }) => ({
      requests: [a ?? fail(), b ?? fail(), { ...(c ?? fail()), minGapMs: 1_101 }],
    }));
    expect(found).toEqual([`on record, ${B} started 1100 ms after ${B}, not 1101 ms`]);
  });

  test('two arrivals closer together than the gap less 20 ms are caught, robots.txt included', () => {
    const found = violationsOf(({ arrivals }) => ({
      arrivals: [...arrivals, arrival('http://one.test/robots.txt', 872, { page: false })],
    }));
    expect(found).toEqual([
      `${A} (worker-1) came 129.0 ms after http://one.test/robots.txt (worker-1), not 130 ms`,
    ]);
  });

  test('an arrival that the web noticed late came earlier by as much', () => {
    const robots = arrival('http://one.test/robots.txt', 872, { page: false, lateMs: 1 });
    expect(violationsOf(({ arrivals }) => ({ arrivals: [...arrivals, robots] }))).toEqual([]);
  });
});

describe('attempts within policy', () => {
  test('more attempts than the policy has are caught', () => {
    const found = violationsOf(({ policy }) => ({ policy: { ...policy, maximumAttempts: 1 } }));
    expect(found).toEqual([`${B} had 2 attempts`]);
  });

  test('an attempt before the policy’s interval is over is caught', () => {
    const found = violationsOf(({ policy }) => ({ policy: { ...policy, retryAfterMs: 1_081 } }));
    expect(found).toEqual([`${B} was tried again after 1080 ms, not 1081 ms`]);
  });

  test('an attempt after a final outcome is caught', () => {
    const found = violationsOf(({ attempts: [a, , b2] }) => ({
      attempts: [a ?? fail(), attempt(B, 1, 1_200, { outcome: 'Blocked4xx' }), b2 ?? fail()],
    }));
    expect(found).toEqual([`${B} was tried again after Blocked4xx`]);
  });

  test('attempts that are missing or misnumbered are caught', () => {
    const found = violationsOf(({ attempts: [a, , b2] }) => ({ attempts: [a ?? fail(), b2 ?? fail()] }));
    expect(found).toContain(`${B} counts 2 attempts, but 1 are on record`);
    expect(found).toContain(`${B} has no attempt 1, but one numbered 2`);
  });

  test('an attempt charged for a failure on our side is caught', () => {
    const found = violationsOf(({ arrivals: [a, , b2] }) => ({
      arrivals: [a ?? fail(), arrival(B, 1_201, { status: null }), b2 ?? fail()],
    }));
    expect(found).toEqual([`${B} was charged 1 attempts for 0 failures of its site`]);
  });

  describe('with a site that failed for a while', () => {
    /** B's first attempt, from 1,200 to 1,220, got no answer. */
    const unanswered = (fromMs: number, untilMs: number) =>
      violationsOf(({ arrivals: [a, , b2] }) => ({
        arrivals: [a ?? fail(), arrival(B, 1_201, { status: null }), b2 ?? fail()],
        injected: [{ fault: 'drop', fromMs, untilMs, exposed: [], isSiteFailure: true }],
      }));

    test.each([
      ['began under it', 1_100, 1_210],
      ['was in flight when it began', 1_210, 1_500],
      ['lasted longer than it', 1_205, 1_206],
    ])('an attempt that %s is the fault of the site', (_what, fromMs, untilMs) => {
      expect(unanswered(fromMs, untilMs)).toEqual([]);
    });

    test.each([
      ['had ended before', 1_400, 1_700],
      ['began after', 700, 1_000],
    ])('an attempt that %s it is not excused by it', (_what, fromMs, untilMs) => {
      expect(unanswered(fromMs, untilMs)).toEqual([`${B} was charged 1 attempts for 0 failures of its site`]);
    });

    test('one attempt may be charged, not two', () => {
      const found = violationsOf(({ attempts: [a], arrivals: [arrivalOfA] }) => ({
        pages: [
          { url: A, status: 'Fetched', attempts: 1 },
          { url: B, status: 'Fetched', attempts: 3 },
        ],
        attempts: [
          a ?? fail(),
          attempt(B, 1, 1_200, { outcome: 'Failed' }),
          attempt(B, 2, 2_300, { outcome: 'Failed' }),
          attempt(B, 3, 3_400),
        ],
        arrivals: [
          arrivalOfA ?? fail(),
          arrival(B, 1_201, { status: null }),
          arrival(B, 2_301, { status: null }),
          arrival(B, 3_401),
        ],
        injected: [{ fault: 'drop', fromMs: 1_150, untilMs: 1_450, exposed: [], isSiteFailure: true }],
      }));
      expect(found).toEqual([`${B} was charged 2 attempts for 1 failures of its site`]);
    });
  });

  test('three fetches lost with their workers may be charged as one attempt', () => {
    const found = violationsOf(({ arrivals: [a, , b2] }) => ({
      arrivals: [a ?? fail(), arrival(B, 1_201, { status: null }), b2 ?? fail()],
      injected: [1_205, 1_210, 1_215].map((at) => kill(at, [B])),
    }));
    expect(found).toEqual([]);
  });
});

function fail(): never {
  throw new Error('The sound evidence has fewer items than this test takes for granted.');
}
