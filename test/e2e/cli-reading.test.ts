import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import type { PageStatus } from '../../src/storage/generated/enums.ts';
import { exportPages } from '../../src/storage/reports/export.ts';
import { readProgress } from '../../src/storage/reports/progress.ts';
import { freshDatabase, type TestDatabase, testEngines } from '../support/engines.ts';
import { type Run, runAmble } from './run-amble.ts';
import { runInProcess } from './run-in-process.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await freshDatabase();
  db = openDatabase(database.url);
  await openCrawl('other');
  await addPage('other', 'http://other.test/', 'Fetched');
  await openCrawl('example');
  await addPage('example', 'http://a.test/', 'Fetched', ['Blocked5xx', 'Success']);
  await addPage('example', 'http://a.test/gone', 'Failed', ['Blocked4xx']);
  await addPage('example', 'http://a.test/next', 'Queued');
  const requestNow = {
    crawlId: 'example',
    pageId: 1n,
    purpose: 'page',
    statusCode: 200,
    durationMs: 5,
    address: '127.0.0.1',
    addressBlock: '127.0.0.1',
  } as const;
  const startedAt = new Date();
  await db.request.createMany({
    data: [
      {
        ...requestNow,
        leaseId: '1',
        domain: 'a.test',
        url: 'http://a.test/',
        startedAt,
        sentAt: startedAt,
        startedErrorMs: 0,
        minGapMs: 60_000,
      },
      {
        ...requestNow,
        leaseId: '2',
        domain: 'b.test',
        url: 'http://b.test/',
        startedAt,
        sentAt: startedAt,
        startedErrorMs: 0,
        minGapMs: 60_000,
      },
    ],
  });
});

afterAll(async () => {
  await db.$disconnect();
  await database.drop();
});

async function openCrawl(id: string): Promise<void> {
  await db.crawl.create({ data: { id, seeds: [], settings: {}, scopeHosts: [] } });
}

async function addPage(
  crawlId: string,
  url: string,
  status: PageStatus,
  outcomes: ('Success' | 'Blocked4xx' | 'Blocked5xx')[] = [],
): Promise<void> {
  const now = new Date('2026-01-31T09:30:00.000Z');
  await db.page.create({
    data: {
      crawlId,
      url,
      urlHash: createHash('sha256').update(url).digest(),
      domain: new URL(url).hostname,
      status,
      title: status === 'Fetched' ? 'A page' : null,
      fetchedAt: status === 'Fetched' ? now : null,
      attempted: {
        create: outcomes.map((outcome, index) => ({
          attempt: index + 1,
          outcome,
          finishedAt: now,
          slotWaitMs: 10,
        })),
      },
    },
  });
}

const place = () => ({ cwd: tmpdir(), env: { DATABASE_URL: database.url } });

/** The real program: each command once. */
function program(...args: string[]): Promise<Run> {
  return runAmble(args, place());
}

/** The same command line in this process. */
function commandLine(...args: string[]): Promise<Run> {
  return runInProcess(args, place());
}

describe('progress', () => {
  test('counts the pages and attempts of its own crawl', async () => {
    expect(await readProgress(db, 'example')).toMatchObject({
      crawl: 'example',
      status: 'Running',
      found: 3,
      pages: { Fetched: 1, Failed: 1, Queued: 1, Pending: 0 },
      attempts: { Success: 1, Blocked4xx: 1, Blocked5xx: 1, Timeout: 0 },
    });
  });

  test('lists domains with queued pages whose gap is not over yet', async () => {
    const progress = await readProgress(db, 'example');
    expect(progress?.cooling.map(({ domain }) => domain)).toEqual(['a.test']);
    expect(progress?.cooling[0]?.readyInMs).toBeGreaterThan(0);
    expect(progress?.cooling[0]?.readyInMs).toBeLessThanOrEqual(60_000);
  });

  test('of a crawl that does not exist is null', async () => {
    expect(await readProgress(db, 'nobody')).toBeNull();
  });
});

describe('amble doctor', () => {
  test.each([
    ['no worker', {}, /No worker is running, but crawls are open\..*amble worker/s],
    ['no Temporal', { TEMPORAL_ADDRESS: '127.0.0.1:1' }, /Temporal is unavailable: .*TEMPORAL_ADDRESS/s],
    [
      'no such namespace',
      { TEMPORAL_NAMESPACE: 'nowhere' },
      /Postgres +available.*Problem: Temporal is unavailable: .* has no namespace "nowhere"/s,
    ],
  ])('ends with 1 and names the cure if there is %s', async (_, wrong, finding) => {
    const { temporalAddress, namespace } = testEngines();
    const env = {
      ...{ DATABASE_URL: database.url, TEMPORAL_ADDRESS: temporalAddress, TEMPORAL_NAMESPACE: namespace },
      AMBLE_TASK_QUEUE: 'nobody-polls-this',
      ...wrong,
    };
    const { code, stdout } = await runInProcess(['doctor'], { cwd: tmpdir(), env });
    expect(code).toBe(1);
    expect(stdout).toMatch(finding);
  });

  test('says of Temporal whether it is available, also without a database', async () => {
    const { temporalAddress, namespace } = testEngines();
    const env = {
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
      ...{ TEMPORAL_ADDRESS: temporalAddress, TEMPORAL_NAMESPACE: namespace },
    };
    const { code, stdout } = await runAmble(['doctor'], { cwd: tmpdir(), env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/Postgres is unavailable/);
    expect(stdout).toMatch(/^ *Temporal +available/m);
  });
});

describe('amble status', () => {
  test('lists all crawls', async () => {
    const { code, stdout } = await program('status');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Crawl +Status +Found/);
    expect(stdout).toMatch(/^example +Running \(stalled\) +3 +1 +1 +1 /m);
    expect(stdout).toMatch(/^other +Running \(stalled\) +1 +1 +0 +0 /m);
  });

  test('shows one in detail: counts, domains, open pages', async () => {
    const { stdout } = await commandLine('status', 'example');
    expect(stdout).toMatch(
      /^Crawl example is unfinished \(Running\), started .* ago: 3 pages found, 1 page still open\.$/m,
    );
    expect(stdout).toMatch(/^ {2}a\.test +3 +1 +1 +1$/m);
    expect(stdout).toMatch(/^ {2}http:\/\/a\.test\/next +Queued +0 +when its domain has a slot$/m);
  });

  test('prints JSON for programs', async () => {
    const { stdout } = await commandLine('status', 'example', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ crawl: 'example', found: 3, pages: { Fetched: 1 } });
  });
});

test('amble domain list starts with paused, blocked and down domains, and ends with how to list all', async () => {
  const names = Array.from({ length: 100 }, (_, n) => ({ name: `d${n}.test` }));
  await db.domain.createMany({ data: names });
  expect(await program('domain', 'list')).toMatchObject({ code: 0, stderr: '' });
  const weeksAgo = { updatedAt: new Date(Date.now() - 3 * 7 * 86_400_000) };
  const [past, future] = [Date.now() - 60_000, Date.now() + 3_600_000];
  const down = (until: number) => ({ 'http://x.test': { since: 0, until, failures: 1, error: '' } });
  await db.domain.createMany({
    data: [
      { name: 'down.test', ...weeksAgo, outages: down(future) },
      { name: 'blocked.test', ...weeksAgo, blockedUntil: new Date(future) },
      { name: 'paused.test', ...weeksAgo, paused: true },
      { name: 'down-once.test', ...weeksAgo, outages: down(past) },
      { name: 'blocked-once.test', ...weeksAgo, blockedUntil: new Date(past) },
    ],
  });
  const { stdout, stderr } = await commandLine('domain', 'list', '--json');
  const listed = JSON.parse(stdout).map(({ domain }: { domain: string }) => domain);
  expect(listed).toHaveLength(100);
  expect(listed.slice(0, 3)).toEqual(['paused.test', 'blocked.test', 'down.test']);
  expect(listed).not.toContain('down-once.test');
  expect(stderr).toBe(
    'Paused, blocked and down domains come first, then the most recent; --all lists the other 5.\n',
  );
  const all = await commandLine('domain', 'list', '--all');
  expect(all.stdout).toMatch(/^blocked-once\.test +idle /m);
  expect(all).toMatchObject({ code: 0, stderr: '' });
});

describe('amble export', () => {
  test('writes one line of JSON per page, in the order the pages were found, with every attempt', async () => {
    const { code, stdout } = await program('export', 'example', '--format', 'jsonl');
    expect(code).toBe(0);
    const pages = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(pages.map(({ url, status }) => [url, status])).toEqual([
      ['http://a.test/', 'Fetched'],
      ['http://a.test/gone', 'Failed'],
      ['http://a.test/next', 'Queued'],
    ]);
    expect(pages[0]).toMatchObject({
      title: 'A page',
      depth: 0,
      content_hash: null,
      fetched_at: '2026-01-31T09:30:00.000Z',
    });
    expect(pages[0].attempts).toMatchObject([
      { attempt: 1, outcome: 'Blocked5xx', finished_at: '2026-01-31T09:30:00.000Z' },
      { attempt: 2, outcome: 'Success', slot_wait_ms: 10 },
    ]);
  });

  test('neither loses nor repeats a page between batches', async () => {
    await openCrawl('large');
    const urls = Array.from({ length: 1_001 }, (_, index) => `http://large.test/${index}`);
    await db.page.createMany({
      data: urls.map((url) => ({
        crawlId: 'large',
        url,
        urlHash: createHash('sha256').update(url).digest(),
        domain: 'large.test',
      })),
    });
    const exported: string[] = [];
    for await (const page of exportPages(db, 'large')) exported.push(page.url);
    expect(exported).toEqual(urls);
    await db.crawl.delete({ where: { id: 'large' } });
  });

  test('of a crawl that does not exist is bad input', async () => {
    const { code, stderr } = await commandLine('export', 'nobody');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'amble: There is no crawl named nobody; "amble status" lists them.\n',
    });
  });
});
