/** What a page does with its slot by the stored robots.txt. */
import { expect, test } from 'vitest';
import { decideByRobots } from '../../activities/fetch/robots-decision.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createRobotsRulesCache } from '../../src/robots/index.ts';
import {
  lookUpRobots,
  readRobotsRow,
  releaseRobotsClaim,
  saveRobotsRules,
} from '../../src/storage/robots.ts';
import { useDatabase } from '../storage/support.ts';

const sent: string[] = [];
const db = useDatabase(({ text }) => sent.push(text));
const config = loadConfig({ env: {}, cwd: '/', flags: { maxCrawlDelay: '20s' } });
const origin = 'http://slow.test';
const robotsRules = createRobotsRulesCache();
const reader = { domain: 'slow.test', agent: 'Amble' };

async function rulesAre(body: string): Promise<void> {
  await lookUpRobots(db(), { origin, ...reader, claimMs: 1_000 }, null);
  const kept = { body, statusCode: 200, freshMs: 60_000, maxCrawlDelayMs: config.throttle.maxCrawlDelayMs };
  await saveRobotsRules(db(), origin, { ...reader, ...kept });
}

const decide = async (path = '/') =>
  decideByRobots(
    { db: db(), config, robotsRules },
    {
      pageId: '1',
      url: origin + path,
      domain: 'slow.test',
      robots: await readRobotsRow(db(), origin, reader),
      justTried: false,
    },
  );

test('a page waits for a robots.txt that is being fetched as long again as that has taken', async () => {
  expect(await decide()).toEqual({ kind: 'read-robots' });
  const waitMs = async () => {
    const asked = Date.now();
    const decision = await decide();
    return decision.kind === 'deferred' ? decision.until - asked : Number.NaN;
  };
  const first = await waitMs();
  expect(first).toBeGreaterThanOrEqual(2_000);
  expect(first).toBeLessThan(10_000);
  await db()
    .$executeRaw`UPDATE robots SET claimed_until = claimed_until - interval '20 s' WHERE origin = ${origin}`;
  expect(await waitMs()).toBeGreaterThanOrEqual(20_000);
  await db().$executeRaw`UPDATE robots SET claimed_until = now() + interval '5 s' WHERE origin = ${origin}`;
  // Postgres's time is rounded to whole milliseconds.
  expect(await waitMs()).toBeLessThanOrEqual(5_001);
  await releaseRobotsClaim(db(), origin);
});

test('the Crawl-delay of robots.txt is required at once, up to its limit', async () => {
  await rulesAre('User-agent: *\nCrawl-delay: 60');
  expect(await decide()).toMatchObject({ kind: 'fetch', gapMs: 20_000 });
  await rulesAre('User-agent: *\nDisallow:');
  expect(await decide()).toMatchObject({ kind: 'fetch', gapMs: 0 });
});

test('the reason says whether a rule disallows a page, or the rules are too costly to evaluate', async () => {
  await rulesAre(`User-agent: *\nDisallow: /private\nDisallow: /${'*a'.repeat(8_000)}`);
  expect(await decide('/private')).toEqual({
    kind: 'disallowed',
    reason: 'Disallowed by http://slow.test/robots.txt.',
  });
  expect(await decide(`/${'a'.repeat(1_000)}`)).toEqual({
    kind: 'disallowed',
    reason: 'Disallowed by http://slow.test/robots.txt: its rules are too costly to evaluate for this URL.',
  });
});

test('the text of a robots.txt is read once, also if it is fetched again unchanged', async () => {
  const readsOfText = () => sent.filter((text) => /SELECT body FROM robots_rules/.test(text)).length;
  const before = readsOfText();
  await rulesAre('User-agent: *\nDisallow: /once');
  for (let n = 0; n < 3; n += 1) expect(await decide('/once')).toMatchObject({ kind: 'disallowed' });
  await rulesAre('User-agent: *\nDisallow: /once');
  expect(await decide('/once')).toMatchObject({ kind: 'disallowed' });
  expect(readsOfText()).toBe(before + 1);
  await rulesAre('User-agent: *\nDisallow: /twice');
  expect(await decide('/once')).toMatchObject({ kind: 'fetch' });
  expect(readsOfText()).toBe(before + 2);
});
