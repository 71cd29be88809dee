/** Crawls whose bodies go to a real S3 server, which fails in the middle of them. s3.test.ts has the faults of the store alone. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { toContentLocation } from '../../src/config/content-store.ts';
import { messageOf } from '../../src/core/errors.ts';
import { openContentStore } from '../../src/worker/open-content-store.ts';
import { shortGapsOnArrival } from '../support/gaps.ts';
import { flatSite, startWeb } from '../support/web.ts';
import { BUCKET, DELAY_MS, type Fleet, startFleet } from './fleet.ts';

const HOSTS = ['a', 'b', 'c'];
const PAGES = 8;
const DISK_BYTES = 4 * 1024 * 1024;

const run = promisify(execFile);

let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet();
});
afterAll(async () => {
  await fleet?.stop();
});

/** The fault lasts until a worker has noticed it. */
async function expectNothingLost(
  crawlId: string,
  { begin, end }: { begin: () => unknown; end: () => unknown },
): Promise<void> {
  const { db, env, startWorker, startCrawl, waitForEnd } = fleet;
  const web = await startWeb(Object.fromEntries(HOSTS.map((host) => [host, flatSite(PAGES)])));
  onTestFinished(() => web.stop());
  const workers = await Promise.all([startWorker(), startWorker()]);
  await startCrawl(
    crawlId,
    HOSTS.map((host) => web.url(host)),
    web.network.resolve,
  );
  const fetched = () => db.page.count({ where: { crawlId, status: 'Fetched' } });
  await expect.poll(fetched, { timeout: 60_000, interval: 20 }).toBeGreaterThan(HOSTS.length);
  await begin();
  await Promise.any(workers.map(({ waitForStderr }) => waitForStderr(/Content store unavailable/)));
  expect(await fetched()).toBeLessThan(HOSTS.length * (PAGES + 1));
  await end();
  await waitForEnd(crawlId);

  const rows = await db.page.findMany({ where: { crawlId } });
  expect(rows.filter(({ status, attempts }) => status !== 'Fetched' || attempts !== 1)).toEqual([]);
  const requested = web.arrivals.filter(({ path }) => path !== '/robots.txt');
  const expected = HOSTS.flatMap((host) =>
    Array.from({ length: PAGES + 1 }, (_, page) => web.url(host, page === 0 ? '/' : `/${page}`)),
  );
  expect(requested.map(({ host, path }) => web.url(host, path)).sort()).toEqual(expected.sort());
  expect(shortGapsOnArrival(web.arrivals, () => DELAY_MS)).toEqual([]);
  const store = openContentStore(toContentLocation(BUCKET, { home: '/', cwd: '/', env }));
  for (const { contentHash } of rows) await store.get(contentHash ?? '');
  for (const worker of workers) worker.kill('SIGTERM');
  for (const { ended } of workers) expect(await ended).toMatchObject({ code: 0 });
}

test('kill -9 of the S3 server: pages wait until it is back, and each is requested once', async () => {
  const { s3 } = fleet;
  await expectNothingLost('killed', { begin: s3.kill, end: s3.start });
});

test('an S3 server that stops answering: pages wait, and each is requested once', async () => {
  const { s3 } = fleet;
  onTestFinished(() => s3.signal('SIGCONT'));
  await expectNothingLost('frozen', { begin: () => s3.signal('SIGSTOP'), end: () => s3.signal('SIGCONT') });
});

test('a full disk of the S3 server: pages wait for room, and each is requested once', async (context) => {
  const { bucketDirectory } = fleet;
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', bucketDirectory]);
  } catch (error) {
    return context.skip(`This machine allows no mounts (${messageOf(error)}).`);
  }
  // Lazily: the server has files open in it.
  onTestFinished(async () => void (await run('umount', ['--lazy', bucketDirectory])));
  const ballast = join(bucketDirectory, 'ballast');
  await expectNothingLost('full', {
    // Ends with an error when the disk is full, which is the purpose.
    begin: () => writeFile(ballast, randomBytes(2 * DISK_BYTES)).catch(() => {}),
    end: () => rm(ballast),
  });
});
