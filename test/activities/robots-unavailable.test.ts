/** When a page gives up waiting for a robots.txt that is unavailable. */
import { expect, test } from 'vitest';
import { decideByRobots } from '../../activities/fetch/robots-decision.ts';
import { deferOrigin } from '../../activities/fetch/robots-unavailable.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createRobotsRulesCache } from '../../src/robots/index.ts';
import { lookUpRobots, readRobotsRow } from '../../src/storage/robots.ts';
import { HOUR_MS, startCrawl, useDatabase } from '../storage/support.ts';

const db = useDatabase();
const config = loadConfig({ env: {}, cwd: '/', flags: {} });

/** A page of the host that its crawl has known for this long. */
async function pageOf(host: string, knownForMs: number): Promise<string> {
  const crawl = await startCrawl(db());
  const { pageId } = await crawl.admitted(`http://${host}/`);
  await db().$executeRaw`
    UPDATE pages SET created_at = now() - ${knownForMs} * interval '1 millisecond' WHERE id = ${BigInt(pageId)}`;
  return pageId;
}

/** The host's robots.txt answered 503 to another page this long ago, and was not requested since. */
async function failedOnce(host: string, agoMs: number): Promise<void> {
  const origin = `http://${host}`;
  await lookUpRobots(db(), { origin, domain: host, agent: 'Amble', claimMs: 1_000 }, null);
  await failAgain(host, await pageOf(host, agoMs));
  await db().$executeRaw`
    UPDATE robots SET retry_at = retry_at - ${agoMs} * interval '1 millisecond',
                      failing_since = failing_since - ${agoMs} * interval '1 millisecond' WHERE origin = ${origin}`;
}

const failAgain = (host: string, pageId: string) =>
  deferOrigin(
    { db: db(), config },
    { origin: `http://${host}`, pageId, statusCode: 503, error: 'answered 503.' },
  );

/** Asked while the backoff after the last failure is running. */
const decide = async (host: string, pageId: string) =>
  decideByRobots(
    { db: db(), config, robotsRules: createRobotsRulesCache() },
    {
      pageId,
      url: `http://${host}/`,
      domain: host,
      robots: await readRobotsRow(db(), `http://${host}`, { domain: host, agent: 'Amble' }),
      justTried: false,
    },
  );

test('a page is given up if its site asks for a day of Retry-After and then fails again', async () => {
  const host = 'patience.test';
  await failedOnce(host, 26.4 * HOUR_MS);
  const page = await pageOf(host, 26.5 * HOUR_MS);
  expect(await failAgain(host, page)).toMatchObject({
    kind: 'attempt',
    report: { outcome: 'BlockedRobots', error: expect.stringContaining('Given up after') },
  });
  expect(await decide(host, page)).toMatchObject({ kind: 'disallowed' });
});

test('a page of a new crawl waits a day of its own, whatever failed before', async () => {
  const host = 'yesterday.test';
  await failedOnce(host, 24.5 * HOUR_MS);
  const [young, old] = [await pageOf(host, 60_000), await pageOf(host, 24.5 * HOUR_MS)];
  expect(await failAgain(host, young)).toMatchObject({ kind: 'deferred' });
  expect(await decide(host, young)).toMatchObject({ kind: 'deferred' });
  expect(await decide(host, old)).toMatchObject({ kind: 'disallowed' });
});

test('an old page is deferred if robots.txt has only just started to fail', async () => {
  const host = 'lately.test';
  await failedOnce(host, 60_000);
  const page = await pageOf(host, 48 * HOUR_MS);
  expect(await failAgain(host, page)).toMatchObject({ kind: 'deferred' });
  expect(await decide(host, page)).toMatchObject({ kind: 'deferred' });
});
