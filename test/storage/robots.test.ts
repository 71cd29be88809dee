import { beforeEach, describe, expect, test } from 'vitest';
import { recordRequest } from '../../src/storage/pages/record-attempt.ts';
import { readRecords } from '../../src/storage/reports/requests.ts';
import {
  extendRobotsClaim,
  hasRobotsTxt,
  lookUpRobots,
  type RobotsReader,
  readRobotsRow,
  readRulesText,
  releaseRobotsClaim,
  saveRobotsFailure,
  saveRobotsRules,
} from '../../src/storage/robots.ts';
import { atOnce, HOUR_MS, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();
const CLAIM_MS = 60_000;
const FAILURE = {
  statusCode: 503,
  error: 'answered 503',
  retryMs: 60_000,
  maxRetryMs: 4 * HOUR_MS,
  outageGiveUpMs: 24 * HOUR_MS,
  maxBlockMs: 26.4 * HOUR_MS,
};

let origin: string;
let origins = 0;
beforeEach(() => {
  origins += 1;
  origin = `http://robots-${origins}.test`;
});

const READER = { domain: 'robots.test', agent: 'Amble' };
/** With the text of the rules, if there are any. */
const consult = async (more: Partial<RobotsReader> & { acceptStale?: boolean } = {}) => {
  const lookup = { origin, ...READER, claimMs: CLAIM_MS, ...more };
  const stored = await lookUpRobots(db(), lookup, await readRobotsRow(db(), origin, lookup));
  if (stored.kind !== 'rules') return stored;
  return { ...stored, body: stored.hasText ? await readRulesText(db(), stored.rulesId) : null };
};
const rules = (
  body: string | null,
  freshMs = HOUR_MS,
  reader: Partial<RobotsReader> & { maxCrawlDelayMs?: number } = {},
) =>
  saveRobotsRules(db(), origin, {
    ...READER,
    maxCrawlDelayMs: 300_000,
    ...reader,
    body,
    statusCode: body === null ? 404 : 200,
    freshMs,
  });
const letTimePass = (ms: number) => db().$executeRaw`
  UPDATE robots SET claimed_until = claimed_until - ${ms} * interval '1 millisecond',
    retry_at = retry_at - ${ms} * interval '1 millisecond',
    failing_since = failing_since - ${ms} * interval '1 millisecond',
    fresh_until = fresh_until - ${ms} * interval '1 millisecond' WHERE origin = ${origin}`;

test('of 50 pages of a new origin, exactly one claims its robots.txt and the others wait', async () => {
  const answers = await atOnce(50, () => consult());
  expect(answers.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
  const deferred = answers.filter((answer) => answer.kind === 'deferred');
  expect(deferred).toHaveLength(49);
  for (const { until, why } of deferred) {
    expect(until).toBeGreaterThan(Date.now());
    expect(why).toBe(`robots.txt of ${origin} is being fetched`);
  }
});

test('stored rules apply to every page, and null means that there is no robots.txt', async () => {
  await consult();
  await rules('User-agent: *');
  expect(await consult()).toMatchObject({ kind: 'rules', body: 'User-agent: *' });
  await rules(null);
  expect(await consult()).toMatchObject({ kind: 'rules', body: null });
});

test('rules are stored once as long as they and the limit of their Crawl-delay stay the same', async () => {
  await consult();
  const kept = () => db().robotsRules.findMany({ where: { origin }, orderBy: { id: 'asc' } });
  await rules('User-agent: *');
  await rules('User-agent: *');
  expect(await kept()).toMatchObject([{ maxCrawlDelayMs: 300_000 }]);
  await rules('User-agent: *', HOUR_MS, { maxCrawlDelayMs: 600_000 });
  expect(await kept()).toMatchObject([{ maxCrawlDelayMs: 300_000 }, { maxCrawlDelayMs: 600_000 }]);
  const { rulesId } = await db().robots.findUniqueOrThrow({ where: { origin } });
  expect(rulesId).toBe((await kept())[1]?.id);
});

describe('the versions of a robots.txt that are kept', () => {
  const LONG = 500 * 1024;
  const kept = () =>
    db().robotsRules.findMany({ where: { origin }, orderBy: { id: 'asc' }, select: { id: true } });
  const addVersions = async (bodies: readonly string[]) => {
    await consult();
    for (const body of bodies) await rules(body);
  };
  const longBody = (n: number) => `# ${n}\n`.padEnd(LONG, 'x');

  test('are all, if they are short', async () => {
    await addVersions(Array.from({ length: 30 }, (_, n) => `# ${n}`));
    expect(await kept()).toHaveLength(30);
  });

  test('are the newest that fit into 4 MiB, and the one in force is among them', async () => {
    await addVersions(Array.from({ length: 12 }, (_, n) => longBody(n)));
    const versions = await kept();
    expect(versions).toHaveLength(8);
    const { rulesId } = await db().robots.findUniqueOrThrow({ where: { origin } });
    expect(versions.at(-1)?.id).toBe(rulesId);
    // The same rules again drop none.
    await rules(longBody(11));
    expect(await kept()).toHaveLength(8);
  });

  test('are a thousand at most', async () => {
    await consult();
    await db().$executeRaw`
      INSERT INTO robots_rules (origin, body, max_crawl_delay_ms)
      SELECT ${origin}, 'old ' || n, 1 FROM generate_series(1, 1100) n`;
    await rules('new');
    expect(await kept()).toHaveLength(1_000);
  });

  test('are told from rules that were never there, or were lost, when a request is judged', async () => {
    await consult();
    await rules('first');
    const first = (await kept())[0]?.id ?? 0n;
    for (let n = 0; n < 12; n += 1) await rules(longBody(n));
    const { rules: read } = readRecords(db(), null);
    expect(await read(`${first}`, `${origin}/page`)).toBe('dropped');
    const [oldest] = await kept();
    expect(await read(`${oldest?.id}`, `${origin}/page`)).toMatchObject({ origin });
    expect(await read(`${(oldest?.id ?? 0n) + 1_000_000n}`, `${origin}/page`)).toBeNull();
    expect(await read(`${first}`, 'http://elsewhere.test/page')).toBeNull();
  });
});

test('a claim expires, is released, or is extended', async () => {
  expect(await consult()).toEqual({ kind: 'claimed' });
  expect(await consult()).toMatchObject({ kind: 'deferred' });
  await letTimePass(CLAIM_MS);
  expect(await consult()).toEqual({ kind: 'claimed' });

  await releaseRobotsClaim(db(), origin);
  expect(await consult()).toEqual({ kind: 'claimed' });

  await extendRobotsClaim(db(), origin, 2 * CLAIM_MS);
  await letTimePass(CLAIM_MS);
  expect(await consult()).toMatchObject({ kind: 'deferred' });
});

test('one page claims the refresh of old rules, which stay in force while it runs or fails', async () => {
  await consult();
  await rules('old');
  await letTimePass(2 * HOUR_MS);
  const answers = await atOnce(10, () => consult());
  expect(answers.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
  expect(answers.filter((answer) => answer.kind === 'rules' && answer.body === 'old')).toHaveLength(9);

  const { rulesKnown } = await saveRobotsFailure(db(), origin, FAILURE);
  expect(rulesKnown).toBe(true);
  expect(await consult()).toMatchObject({ kind: 'rules', body: 'old' });
  await letTimePass(FAILURE.retryMs);
  expect(await consult()).toEqual({ kind: 'claimed' });
});

test('a page that has just tried uses old rules instead of trying forever', async () => {
  await consult();
  expect(await consult({ acceptStale: true })).toMatchObject({ kind: 'deferred' });
  await rules('old', 0);
  expect(await consult({ acceptStale: true })).toMatchObject({ kind: 'rules', body: 'old' });
  expect(await consult()).toEqual({ kind: 'claimed' });
});

test.each<Partial<RobotsReader>>([{ domain: 'robots-site.test' }, { agent: 'Another' }])(
  'rules are read again for %j, which may have another Crawl-delay, and apply until then',
  async (other) => {
    await consult();
    await rules('known');
    const answers = await atOnce(10, () => consult(other));
    expect(answers.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
    expect(answers.filter((answer) => answer.kind === 'rules' && answer.body === 'known')).toHaveLength(9);
    expect(await consult()).toMatchObject({ kind: 'rules', body: 'known' });

    await saveRobotsFailure(db(), origin, FAILURE);
    expect(await consult(other)).toMatchObject({ kind: 'rules', body: 'known' });
    await letTimePass(FAILURE.retryMs);
    expect(await consult(other)).toEqual({ kind: 'claimed' });
    await rules('read again', HOUR_MS, other);
    expect(await consult(other)).toMatchObject({ kind: 'rules', body: 'read again' });
  },
);

test('whether an origin has a robots.txt is known from its last response', async () => {
  await consult();
  expect(await hasRobotsTxt(db(), origin)).toBe(false);
  await rules('User-agent: *');
  expect(await hasRobotsTxt(db(), origin)).toBe(true);
  await rules(null);
  expect(await hasRobotsTxt(db(), origin)).toBe(false);
});

test('the backoff of an unavailable robots.txt doubles with each failure, up to its limit', async () => {
  await consult();
  const holds: number[] = [];
  for (let failures = 0; failures < 12; failures += 1) {
    const { until } = await saveRobotsFailure(db(), origin, FAILURE);
    holds.push(Math.round((until - Date.now()) / 60_000));
  }
  expect(holds).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 240, 240, 240, 240]);
  const deferred = await consult();
  expect(deferred).toMatchObject({ kind: 'deferred', why: `robots.txt of ${origin}: answered 503` });
});

test('failures are counted until a success', async () => {
  await consult();
  const first = await saveRobotsFailure(db(), origin, FAILURE);
  expect(first).toMatchObject({ rulesKnown: false });
  expect(first.failingForMs).toBeLessThan(100);
  await letTimePass(FAILURE.retryMs);
  const again = await saveRobotsFailure(db(), origin, FAILURE);
  expect(again.failingForMs).toBeGreaterThanOrEqual(FAILURE.retryMs);
  expect(await consult()).toMatchObject({ kind: 'deferred', beingFetched: false });

  await rules('at last');
  const row = await db().robots.findUniqueOrThrow({ where: { origin } });
  expect(row).toMatchObject({ failures: 0, failingSince: null, retryAt: null, error: null });
});

test('failures further apart than the time to give up still add up, so a site with long gaps is given up too', async () => {
  await consult();
  const impatient = { ...FAILURE, outageGiveUpMs: 1_000 };
  await saveRobotsFailure(db(), origin, impatient);
  await letTimePass(FAILURE.retryMs + 60_000);
  const { failingForMs } = await saveRobotsFailure(db(), origin, impatient);
  expect(failingForMs).toBeGreaterThan(impatient.outageGiveUpMs);
});

test('a site that fails and asks for a day of patience each time counts as failing all the time', async () => {
  await consult();
  await saveRobotsFailure(db(), origin, FAILURE);
  await letTimePass(26.4 * HOUR_MS);
  const { failingForMs } = await saveRobotsFailure(db(), origin, FAILURE);
  expect(failingForMs).toBeGreaterThan(FAILURE.outageGiveUpMs);
});

test('a failure long after the last backoff counts as the first', async () => {
  await consult();
  await saveRobotsFailure(db(), origin, FAILURE);
  await letTimePass(FAILURE.retryMs + FAILURE.maxBlockMs + HOUR_MS + 1_000);
  const restarted = await saveRobotsFailure(db(), origin, FAILURE);
  expect(restarted.failingForMs).toBeLessThan(100);
  // ... with a backoff as short as the first one.
  expect(Math.round((restarted.until - Date.now()) / FAILURE.retryMs)).toBe(1);
});

test('a failure reported again during its backoff changes nothing; after it, it counts', async () => {
  await consult();
  const { until } = await saveRobotsFailure(db(), origin, FAILURE);
  const again = await saveRobotsFailure(db(), origin, {
    ...FAILURE,
    error: 'reported again',
    keepRunningBackoff: true,
  });
  expect(again).toMatchObject({ until, rulesKnown: false });
  expect(await db().robots.findUniqueOrThrow({ where: { origin } })).toMatchObject({
    failures: 1,
    error: FAILURE.error,
  });
  await letTimePass(FAILURE.retryMs);
  await saveRobotsFailure(db(), origin, { ...FAILURE, keepRunningBackoff: true });
  expect(await db().robots.findUniqueOrThrow({ where: { origin } })).toMatchObject({ failures: 2 });
});

test('a claim is distinguished from a failure, however long the origin failed before', async () => {
  await consult();
  await saveRobotsFailure(db(), origin, FAILURE);
  await letTimePass(FAILURE.retryMs);
  expect(await consult()).toEqual({ kind: 'claimed' });
  expect(await consult()).toMatchObject({ kind: 'deferred', beingFetched: true });
});

test('after a backoff exactly one page claims robots.txt, as for a new origin', async () => {
  await consult();
  await saveRobotsFailure(db(), origin, FAILURE);
  expect(await consult()).toMatchObject({ kind: 'deferred' });
  await letTimePass(FAILURE.retryMs);
  const answers = await atOnce(10, () => consult());
  expect(answers.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
});

test('a request for robots.txt is recorded once, like every other', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.admitted('http://a.test/');
  const request = {
    leaseId: `${crawl.id}-lease`,
    domain: 'a.test',
    url: 'http://a.test/robots.txt',
    startedAt: Date.now(),
    startedErrorMs: 1,
    minGapMs: 1_000,
    allowedBy: null,
    statusCode: 200,
    durationMs: 5,
    sentTo: { address: '127.0.0.1', block: '127.0.0.1', at: Date.now(), limit: null },
    crawlId: crawl.id,
    pageId: page.pageId,
  };
  await recordRequest(db(), request);
  await recordRequest(db(), request);
  expect(await db().request.findMany({ where: { crawlId: crawl.id } })).toMatchObject([
    { purpose: 'robots', url: 'http://a.test/robots.txt', startedAt: new Date(request.startedAt) },
  ]);
});
