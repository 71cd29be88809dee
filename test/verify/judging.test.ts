import { describe, expect, it } from 'vitest';
import { prove, type RecordedRequest, type Records, type SentRequest } from '../../src/verify/index.ts';

const RULES: Record<string, string> = {
  '1': 'User-agent: *\nDisallow: /private',
  slow: 'User-agent: *\nCrawl-delay: 5\n\nUser-agent: Swift\nDisallow:',
  endless: 'User-agent: *\nCrawl-delay: 1000',
  'slow to evaluate': `User-agent: *\n${Array.from({ length: 2_000 }, (_, n) => `Allow: /*a*a*a*b${n}`).join('\n')}`,
};
const STORED_AT_MS = 50_000;
const MAX_CRAWL_DELAY_MS = 8_000;

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

function recordsOf(requests: RecordedRequest[], sent: SentRequest[] = []): Records {
  return {
    async *domains() {
      yield* new Set(requests.map(({ domain }) => domain));
    },
    async *requests(domain) {
      yield* requests.filter((one) => one.domain === domain);
    },
    rules: async (id) => {
      const body = RULES[id];
      const kept = { origin: 'http://a.test', storedAtMs: STORED_AT_MS, maxCrawlDelayMs: MAX_CRAWL_DELAY_MS };
      return body === undefined ? null : { ...kept, body };
    },
    politeness: async (crawlId) =>
      ({ one: { minGapMs: 500, concurrency: 1 }, many: { minGapMs: 0, concurrency: 4 } })[crawlId] ?? null,
    async *addressBlocks() {
      if (sent.length > 0) yield '192.0.2.1';
    },
    async *sentTo() {
      yield* sent;
    },
    async *excessAttempts() {},
  };
}

const judge = (...requests: RecordedRequest[]) =>
  prove(recordsOf(requests), ({ crawlId }) => crawlId === 'one');

describe('a gap', () => {
  it('as long as required is polite, and a millisecond less is a violation', async () => {
    expect((await judge(request(0), request(1_000))).violations).toEqual([]);
    const { violations, violationCount } = await judge(request(0), request(999));
    expect(violationCount).toBe(1);
    expect(violations).toMatchObject([{ kind: 'gap', domain: 'a.test', gapMs: 999, requiredMs: 1_000 }]);
  });

  it('that may be too short only by the clocks’ error is counted, not reported', async () => {
    const unsure = request(0, { startedErrorMs: 30 });
    expect(await judge(unsure, request(1_030))).toMatchObject({ violationCount: 0, withinClockError: 0 });
    const { violationCount, withinClockError, domains } = await judge(unsure, request(1_029));
    expect([violationCount, withinClockError]).toEqual([0, 1]);
    expect(domains).toMatchObject([{ tightest: { gapMs: 1_029, clockErrorMs: 30, requiredMs: 1_000 } }]);
    expect(await judge(unsure, request(999))).toMatchObject({ violationCount: 1, withinClockError: 0 });
  });

  it('is judged by what was in force for its later request', async () => {
    const slowedDown = request(1_000, { minGapMs: 1_000 });
    const after = request(11_000, { minGapMs: 10_000 });
    expect((await judge(request(0, { minGapMs: 60_000 }), slowedDown, after)).violationCount).toBe(0);
  });

  it('is the tightest if it had the least time to spare, however long it was', async () => {
    const { domains } = await judge(
      request(0),
      request(2_000),
      request(12_001, { minGapMs: 10_000 }),
      request(14_000),
    );
    expect(domains).toMatchObject([
      { domain: 'a.test', requests: 4, tightest: { gapMs: 10_001, requiredMs: 10_000 } },
    ]);
  });

  it('is never between two domains', async () => {
    expect((await judge(request(0), request(1, { domain: 'b.test' }))).domains).toMatchObject([
      { domain: 'a.test', tightest: null },
      { domain: 'b.test', tightest: null },
    ]);
  });

  it('to a request of another crawl is judged, and one between two other crawls is not', async () => {
    const other = { crawlId: 'two' };
    expect((await judge(request(0, other), request(500))).violationCount).toBe(1);
    expect((await judge(request(0), request(500, other))).violationCount).toBe(1);
    expect((await judge(request(0, other), request(500, other), request(2_000))).violationCount).toBe(0);
  });
});

describe('the gap in force', () => {
  it('must not be shorter than the request’s own crawl asks for', async () => {
    expect((await judge(request(0, { minGapMs: 500 }), request(500, { minGapMs: 500 }))).violations).toEqual(
      [],
    );
    const { violations } = await judge(request(0), request(1_000, { minGapMs: 499 }));
    expect(violations).toMatchObject([
      { kind: 'granted', domain: 'a.test', requiredMs: 500, request: { startedAtMs: 1_000 } },
    ]);
  });

  it('is judged for robots.txt and for the first request of a domain, but not for crawls that are not on record', async () => {
    const robots = request(0, { minGapMs: 0, isRobots: true, allowedBy: null });
    expect((await judge(robots)).violations).toMatchObject([
      { kind: 'granted', request: { isRobots: true } },
    ]);
    const all = await prove(recordsOf([request(0, { minGapMs: 0, crawlId: 'gone' })]), () => true);
    expect(all.violations).toEqual([]);
  });
});

describe('a Crawl-delay', () => {
  const slow = { allowedBy: { rulesId: 'slow', agent: 'Amble' } };
  /** Two requests, two seconds apart. */
  const judgeTwo = async (one: Partial<RecordedRequest>, other = one, more: RecordedRequest[] = []) => {
    const pair = [request(100_000, one), request(102_000, other)];
    const inOrder = [...pair, ...more].sort((a, b) => a.startedAtMs - b.startedAtMs);
    const { violations } = await prove(recordsOf(inOrder), () => true);
    return violations;
  };
  const robotsAt = (startedAtMs: number) =>
    request(startedAtMs, { url: 'http://a.test/robots.txt', isRobots: true, allowedBy: null });

  it('is required between two requests under its rules, whatever gap was in force', async () => {
    const [fault, ...more] = await judgeTwo(slow, slow, [robotsAt(STORED_AT_MS)]);
    expect(fault).toMatchObject({ kind: 'crawl-delay', domain: 'a.test', gapMs: 2_000, requiredMs: 5_000 });
    expect(more).toEqual([]);
    expect((await judge(request(100_000, slow), request(105_000, slow))).violations).toEqual([]);
  });

  it('is required up to the configured maximum', async () => {
    const endless = { allowedBy: { rulesId: 'endless', agent: 'Amble' } };
    expect(await judgeTwo(endless)).toMatchObject([{ kind: 'crawl-delay', requiredMs: MAX_CRAWL_DELAY_MS }]);
  });

  it('applies only to the agents it names', async () => {
    expect(await judgeTwo({ allowedBy: { rulesId: 'slow', agent: 'Swift' } })).toEqual([]);
  });

  it.each<[string, Partial<RecordedRequest>, Partial<RecordedRequest>, RecordedRequest[]]>([
    ['one was allowed by other rules', {}, slow, []],
    ['robots.txt was requested after they were stored', slow, slow, [robotsAt(STORED_AT_MS + 1)]],
    ['robots.txt was requested between them', slow, slow, [robotsAt(101_000)]],
    [
      'both crawls allow concurrent requests, so both may have been granted before',
      { ...slow, crawlId: 'many' },
      { ...slow, crawlId: 'many' },
      [],
    ],
    [
      'one crawl is not on record and the other allows concurrent requests',
      { ...slow, crawlId: 'many' },
      { ...slow, crawlId: 'gone' },
      [],
    ],
  ])('is not judged if %s', async (_, one, other, more) => {
    expect(await judgeTwo(one, other, more)).toEqual([]);
  });

  it('is judged if one of the two crawls allows no concurrent request', async () => {
    expect(await judgeTwo(slow, { ...slow, crawlId: 'many' })).toMatchObject([{ kind: 'crawl-delay' }]);
  });
});

describe('a path', () => {
  const why = async (changed: Partial<RecordedRequest>) =>
    (await judge(request(0, changed))).violations.map((fault) => ('why' in fault ? fault.why : fault.kind));

  it('that the rules disallowed is a violation, except robots.txt itself', async () => {
    expect(await why({ url: 'http://a.test/public' })).toEqual([]);
    expect(await why({ url: 'http://a.test/private/x' })).toEqual([
      'http://a.test/robots.txt disallowed it for Amble at that time',
    ]);
    expect(await why({ url: 'http://a.test/robots.txt', isRobots: true, allowedBy: null })).toEqual([]);
  });

  it('without rules, or with lost rules or those of another origin, is a violation', async () => {
    expect(await why({ allowedBy: null })).toEqual(['no rules are on record that allowed it']);
    expect(await why({ allowedBy: { rulesId: '7', agent: 'Amble' } })).toEqual([
      'no rules are on record that allowed it',
    ]);
    expect(await why({ url: 'https://a.test/' })).toEqual(['it was judged by the rules of http://a.test']);
  });
});

describe('rules that are slow to evaluate', () => {
  /** Each takes some 20 ms. */
  const requestsTo = (urlOf: (n: number) => string) =>
    Array.from({ length: 50 }, (_, n) =>
      request(1_000 * n, { url: urlOf(n), allowedBy: { rulesId: 'slow to evaluate', agent: 'Amble' } }),
    );
  const long = `http://a.test/${'a'.repeat(300)}`;
  const proveWithin = (maxRulesMs: number, urlOf: (n: number) => string) =>
    prove(recordsOf(requestsTo(urlOf)), () => true, { maxRulesMs });

  it('do not hold up what else the process has to do', async () => {
    let turns = 0;
    const other = setInterval(() => (turns += 1), 1);
    const proof = await judge(...requestsTo((n) => `${long}${n}`));
    clearInterval(other);
    expect(proof).toMatchObject({ requests: 50, rulesTooSlow: 0, violationCount: 0 });
    expect(turns).toBeGreaterThan(10);
  });

  it('are evaluated for a limited time, and the other requests are counted', async () => {
    const { requests, rulesTooSlow, violationCount } = await proveWithin(100, (n) => `${long}${n}`);
    expect([requests, violationCount]).toEqual([50, 0]);
    expect(rulesTooSlow).toBeGreaterThan(0);
  });

  it('are evaluated once for each URL', async () => {
    expect(await proveWithin(400, () => long)).toMatchObject({ requests: 50, rulesTooSlow: 0 });
  });
});

it('rules that are no longer kept are counted, and are no violation', async () => {
  const records: Records = { ...recordsOf([request(0), request(1_000)]), rules: async () => 'dropped' };
  expect(await prove(records, () => true)).toMatchObject({
    requests: 2,
    rulesDropped: 2,
    violationCount: 0,
  });
});

it('violations beyond a thousand are counted, not listed', async () => {
  const requests = Array.from({ length: 1_500 }, (_, i) => request(i));
  const { violations, violationCount } = await judge(...requests);
  expect(violations).toHaveLength(1_000);
  expect(violationCount).toBe(1_499);
});

describe('requests to one address', () => {
  const sent = (sentAtMs: number, changed: Partial<SentRequest> = {}): SentRequest => ({
    leaseId: `lease-${sentAtMs}`,
    crawlId: 'one',
    url: `http://a${sentAtMs}.test/`,
    address: '192.0.2.1',
    sentAtMs,
    clockErrorMs: 10,
    endedAtMs: sentAtMs + 100,
    limit: { gapMs: 250, maxOpen: 2 },
    ...changed,
  });
  const judgeSent = (...requests: SentRequest[]) =>
    prove(recordsOf([], requests), ({ crawlId }) => crawlId === 'one');

  it('keep their gap if the clocks’ error can explain the rest', async () => {
    expect(await judgeSent(sent(0), sent(240))).toMatchObject({ violationCount: 0, addresses: 1 });
    expect((await judgeSent(sent(0), sent(239))).violations).toMatchObject([
      { kind: 'address-gap', requiredMs: 250, before: { sentAtMs: 0 }, after: { sentAtMs: 239 } },
    ]);
  });

  it('need the gap that applied to the earlier one', async () => {
    const exempt = sent(0, { limit: null });
    expect(await judgeSent(exempt, sent(1))).toMatchObject({ violationCount: 0, exemptRequests: 1 });
    expect(await judgeSent(sent(0), sent(1, { limit: null }))).toMatchObject({ violationCount: 1 });
  });

  it('are open at the same time up to the limit', async () => {
    const slow = { endedAtMs: 5_000 };
    const [one, other] = [sent(0, slow), sent(300, slow)];
    expect(await judgeSent(one, other)).toMatchObject({ violationCount: 0 });
    expect((await judgeSent(one, other, sent(600))).violations).toMatchObject([
      { kind: 'address-open', open: 3, request: { sentAtMs: 600 } },
    ]);
    expect(await judgeSent(one, other, sent(5_000))).toMatchObject({ violationCount: 0 });
  });

  it('of other crawls only count together with those in question', async () => {
    const other = { crawlId: 'another' };
    expect(await judgeSent(sent(0, other), sent(100, other))).toMatchObject({
      violationCount: 0,
      addresses: 0,
    });
    expect(await judgeSent(sent(0), sent(100, other))).toMatchObject({ violationCount: 1 });
  });
});
