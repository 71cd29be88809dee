import { describe, expect, it } from 'vitest';
import { prove, type RecordedRequest, type Records } from '../../src/verify/index.ts';

const RULES = 'User-agent: *\nDisallow: /private';

function request(startedAtMs: number, changed: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    leaseId: `lease-${startedAtMs}`,
    domain: 'a.test',
    crawlId: 'one',
    url: `http://a.test/${startedAtMs}`,
    isRobots: false,
    startedAtMs,
    startedErrorMs: 1,
    minGapMs: 1_000,
    allowedBy: { rulesId: '1', agent: 'Amble' },
    ...changed,
  };
}

function recordsOf(requests: RecordedRequest[]): Records {
  return {
    async *domains() {
      yield* new Set(requests.map(({ domain }) => domain));
    },
    async *requests(domain) {
      yield* requests.filter((one) => one.domain === domain);
    },
    rules: async (id) => (id === '1' ? { origin: 'http://a.test', body: RULES } : null),
    shortestGap: async (crawlId) => (crawlId === 'one' ? 500 : null),
    async *overTried() {},
  };
}

const judge = (...requests: RecordedRequest[]) =>
  prove(recordsOf(requests), ({ crawlId }) => crawlId === 'one');

describe('a gap', () => {
  it('of exactly what was in force is polite, and a millisecond less is not', async () => {
    expect((await judge(request(0), request(1_000))).violations).toEqual([]);
    const { violations, violationCount } = await judge(request(0), request(999));
    expect(violationCount).toBe(1);
    expect(violations).toMatchObject([{ kind: 'gap', domain: 'a.test', gapMs: 999, wantedMs: 1_000 }]);
  });

  it('is judged by what was in force for the later request, not by what came after', async () => {
    const slowedDown = request(1_000, { minGapMs: 1_000 });
    const after = request(11_000, { minGapMs: 10_000 });
    expect((await judge(request(0, { minGapMs: 60_000 }), slowedDown, after)).violationCount).toBe(0);
  });

  it('is the tightest by what it had to spare, not by its length', async () => {
    const { domains } = await judge(
      request(0),
      request(2_000),
      request(12_001, { minGapMs: 10_000 }),
      request(14_000),
    );
    expect(domains).toMatchObject([
      { domain: 'a.test', requests: 4, tightest: { gapMs: 10_001, wantedMs: 10_000 } },
    ]);
  });

  it('between two domains is no gap', async () => {
    expect((await judge(request(0), request(1, { domain: 'b.test' }))).domains).toMatchObject([
      { domain: 'a.test', tightest: null },
      { domain: 'b.test', tightest: null },
    ]);
  });

  it('to a request of another crawl counts; one between two requests of others is theirs', async () => {
    const other = { crawlId: 'two' };
    expect((await judge(request(0, other), request(500))).violationCount).toBe(1);
    expect((await judge(request(0), request(500, other))).violationCount).toBe(1);
    expect((await judge(request(0, other), request(500, other), request(2_000))).violationCount).toBe(0);
  });
});

describe('the gap in force', () => {
  it('is not shorter than what the request’s own crawl wants, whatever the throttle wrote down', async () => {
    expect((await judge(request(0, { minGapMs: 500 }), request(500, { minGapMs: 500 }))).violations).toEqual(
      [],
    );
    const { violations } = await judge(request(0), request(1_000, { minGapMs: 499 }));
    expect(violations).toMatchObject([
      { kind: 'granted', domain: 'a.test', wantedMs: 500, request: { startedAtMs: 1_000 } },
    ]);
  });

  it('counts for robots.txt and for the first request of a domain, and not for crawls that are not on record', async () => {
    const robots = request(0, { minGapMs: 0, isRobots: true, allowedBy: null });
    expect((await judge(robots)).violations).toMatchObject([
      { kind: 'granted', request: { isRobots: true } },
    ]);
    const all = await prove(recordsOf([request(0, { minGapMs: 0, crawlId: 'gone' })]), () => true);
    expect(all.violations).toEqual([]);
  });
});

describe('a path', () => {
  const why = async (changed: Partial<RecordedRequest>) =>
    (await judge(request(0, changed))).violations.map((fault) => ('why' in fault ? fault.why : fault.kind));

  it('that the rules of its time disallow is a fault, robots.txt itself never', async () => {
    expect(await why({ url: 'http://a.test/public' })).toEqual([]);
    expect(await why({ url: 'http://a.test/private/x' })).toEqual([
      'http://a.test/robots.txt, as it was then, disallows it for Amble',
    ]);
    expect(await why({ url: 'http://a.test/robots.txt', isRobots: true, allowedBy: null })).toEqual([]);
  });

  it('is not proven by no rules, lost rules, or the rules of another origin', async () => {
    expect(await why({ allowedBy: null })).toEqual(['no rules are on record that allowed it']);
    expect(await why({ allowedBy: { rulesId: '7', agent: 'Amble' } })).toEqual([
      'no rules are on record that allowed it',
    ]);
    expect(await why({ url: 'https://a.test/' })).toEqual(['it was judged by the rules of http://a.test']);
  });
});

it('faults beyond a thousand are counted, not kept', async () => {
  const requests = Array.from({ length: 1_500 }, (_, i) => request(i));
  const { violations, violationCount } = await judge(...requests);
  expect(violations).toHaveLength(1_000);
  expect(violationCount).toBe(1_499);
});
