/** A crawl in a real database. No workflow runs: the tests call what workflows would call. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import type { CrawlOrder } from '../../src/core/activities.ts';
import type { AttemptReport } from '../../src/core/attempt.ts';
import type { AdmittedPage } from '../../src/core/page-input.ts';
import type { CrawlSettings, Seed } from '../../src/core/settings.ts';
import { applyCrawlOrder, openCrawl } from '../../src/storage/crawls.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { type Admission, admit } from '../../src/storage/frontier/admit.ts';
import { insertPages, newPage } from '../../src/storage/frontier/insert-pages.ts';
import { type GateReading, readGate } from '../../src/storage/gate.ts';
import type { Page } from '../../src/storage/generated/client.ts';
import type { Recorded } from '../../src/storage/pages/page-row.ts';
import { type AttemptToRecord, recordAttempt } from '../../src/storage/pages/record-attempt.ts';
import type { OutLink } from '../../src/storage/pages/register-links.ts';
import type { OnStatement, Queries } from '../../src/storage/raw-sql.ts';
import { countPages } from '../../src/storage/reports/counts.ts';
import { NO_RULES } from '../../src/urls/index.ts';
import { freshDatabase, type TestDatabase } from '../support/engines.ts';

export const HOUR_MS = 3_600_000;

export const SETTINGS: CrawlSettings = {
  preset: 'smallweb',
  scope: 'any',
  include: [],
  exclude: [],
  maxPages: null,
  maxPagesPerDomain: null,
  maxDepth: null,
  maxRedirects: 5,
  sitemaps: false,
  delay: { minMs: 0, maxMs: 0 },
  order: 'first-come',
  warmup: { pending: 0, atMostMs: 0 },
  concurrency: 1,
  targetConcurrency: null,
  domains: {},
  urlTypes: [],
  retry: {
    initialIntervalMs: HOUR_MS,
    backoffCoefficient: 1,
    maximumAttempts: 3,
    maximumIntervalMs: HOUR_MS,
    jitterMs: 0,
  },
  fetch: {
    connectTimeoutMs: 1_000,
    headersTimeoutMs: 1_000,
    totalTimeoutMs: 1_000,
    maxBodyBytes: 1_000_000,
  },
  keepTypes: [],
  resolve: {},
  allowNetwork: [],
  window: 100,
  maxWaiting: 1_000,
  longWaitMs: 60_000,
  sweepIntervalMs: 10_000,
  maxLinksPerPage: 10_000,
  urls: NO_RULES,
  traps: {
    maxPathDepth: null,
    maxRepeats: null,
    maxPerDirectory: null,
    maxPerQuery: null,
    maxPerCalendar: null,
    maxHostsPerSite: null,
    maxPortsPerHost: null,
  },
};

/** One database per test file. Each test opens its own crawls. */
export function useDatabase(onStatement?: OnStatement): () => Database {
  let database: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    database = await freshDatabase();
    db = openDatabase(database.url, { connections: 25, ...(onStatement && { onStatement }) });
  });
  afterAll(async () => {
    await db?.$disconnect();
    await database?.drop();
  });
  return () => db;
}

/** Opens a crawl. Without seeds its frontier is empty. */
export async function startCrawl(
  db: Database,
  { seeds = [], ...settings }: Partial<CrawlSettings> & { seeds?: (string | Seed)[] } = {},
): Promise<TestCrawl> {
  const id = `crawl-${randomUUID()}`;
  const given = seeds.map((seed) => (typeof seed === 'string' ? plainSeed(seed) : seed));
  await openCrawl(db, { id, seeds: given, settings: { ...SETTINGS, ...settings }, unit: 'host' });
  return new TestCrawl(db, id, { ...SETTINGS, ...settings });
}

export function plainSeed(url: string): Seed {
  return { url, keyword: null, priority: null };
}

export type Visited = Pick<AdmittedPage, 'pageId'>;

export class TestCrawl {
  constructor(
    readonly db: Database,
    readonly id: string,
    readonly settings: CrawlSettings,
  ) {}

  /** Adds URLs to the frontier without a page that links to them. */
  add(...urls: string[]): Promise<void> {
    return this.db.inTransaction((tx) => this.addWithin(tx, ...urls));
  }

  addWithin(tx: Queries, ...urls: string[]): Promise<void> {
    const pages = urls.map((url) => newPage(this.settings, 'host', url, null));
    const { order } = this.settings;
    return insertPages(tx, {
      crawlId: this.id,
      order,
      depth: 0,
      redirectCount: 0,
      isSeed: false,
      foundOnId: null,
      pages,
    });
  }

  async admit(
    by: string = randomUUID(),
    domains: Admission['domains'] = null,
    maxPerDomain?: number,
  ): Promise<AdmittedPage[]> {
    const { id: crawlId, settings } = this;
    const atMost = maxPerDomain === undefined ? {} : { maxPerDomain };
    const admission = { crawlId, ...settings, ...atMost, admissionId: by, domains };
    return (await admit(this.db, admission)).pages;
  }

  /** By default a successful first attempt. */
  async record(page: Visited | undefined, done: Partial<AttemptToRecord> = {}): Promise<Recorded> {
    if (page === undefined) throw new Error('There is no such admitted page.');
    return recordAttempt(this.db, this.settings, 'host', {
      crawlId: this.id,
      pageId: page.pageId,
      attempt: 1,
      report: success(),
      slotWaitMs: 0,
      retryAt: null,
      parsed: null,
      ...done,
    });
  }

  /** Adds the URL, admits it and returns it: a page whose workflow has just started. */
  async admitted(url: string): Promise<AdmittedPage> {
    await this.add(url);
    const page = (await this.admit()).find((admitted) => admitted.url === url);
    if (page === undefined) throw new Error(`There was no room for ${url}.`);
    return page;
  }

  page(url: string): Promise<Page> {
    return this.db.page.findFirstOrThrow({ where: { crawlId: this.id, url } });
  }

  pages(): Promise<Page[]> {
    return this.db.page.findMany({ where: { crawlId: this.id }, orderBy: { id: 'asc' } });
  }

  async urls(): Promise<string[]> {
    return (await this.pages()).map(({ url }) => url).sort();
  }

  async statuses(): Promise<Record<string, number>> {
    return (await countPages(this.db, this.id)).pages;
  }

  async reserved(): Promise<number> {
    return (await this.db.crawl.findUniqueOrThrow({ where: { id: this.id } })).pagesReserved;
  }

  /** Moves all times of this crawl into the past. */
  async letTimePass(ms: number): Promise<void> {
    await this.db.$executeRaw`
      UPDATE crawls SET created_at = created_at - ${ms} * interval '1 millisecond' WHERE id = ${this.id}`;
    await this.db.$executeRaw`
      UPDATE pages SET next_attempt_at = next_attempt_at - ${ms} * interval '1 millisecond',
                       check_at = check_at - ${ms} * interval '1 millisecond'
      WHERE crawl_id = ${this.id}`;
  }
}

export function success(): AttemptReport {
  return {
    outcome: 'Success',
    statusCode: 200,
    errorKind: null,
    error: null,
    request: null,
    finishedAt: Date.now(),
    latencyMs: 5,
    bytes: 100,
    found: {
      kind: 'document',
      contentHash: 'c0ffee',
      contentType: 'text/html',
      bytes: 100,
      etag: null,
      lastModified: null,
      contentLanguage: null,
      directives: { noindex: false, nofollow: false },
    },
  };
}

export function failure(outcome: AttemptReport['outcome'] = 'Failed'): AttemptReport {
  return { ...success(), outcome, statusCode: null, error: 'no luck', found: { kind: 'nothing' } };
}

export function redirectTo(to: string): AttemptReport {
  return { ...success(), statusCode: 301, found: { kind: 'redirect', to } };
}

export function linksTo(...urls: string[]): NonNullable<AttemptToRecord['parsed']> {
  const links = urls.map((url): OutLink => ({ url, anchor: null, rel: null, nofollow: false }));
  return {
    hash: 'beef',
    title: null,
    description: null,
    canonical: null,
    language: null,
    detectedLanguage: null,
    refreshTo: null,
    links,
    linksFound: links.length,
    linksTooLong: 0,
    listed: null,
    noindex: false,
  };
}

/** http://a.test/0, /1, ... */
export function numbered(count: number, host = 'a.test'): string[] {
  return Array.from({ length: count }, (_, n) => `http://${host}/${n}`);
}

export function inOneHour(): number {
  return Date.now() + HOUR_MS;
}

/** Runs all tasks at once and returns their results. */
export function atOnce<T>(count: number, task: (n: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => task(n)));
}

/**
 * The same in a race: all tasks wait for the lock that `hold` takes, and continue at the same moment when it is released. By
 * default that is a lock on all pages.
 */
export async function inARace<T>(
  db: Database,
  count: number,
  task: (n: number) => Promise<T>,
  hold: (tx: Queries) => Promise<unknown> = lockPages,
): Promise<T[]> {
  let racing: Promise<T[]> = Promise.resolve([]);
  await db.inTransaction(async (tx) => {
    await hold(tx);
    racing = atOnce(count, task);
    while ((await countWaiting(db)) < count) await setTimeout(5);
  });
  return racing;
}

/** Does not block reads. */
function lockPages(tx: Queries): Promise<unknown> {
  return tx.$executeRaw`LOCK TABLE pages IN EXCLUSIVE MODE`;
}

async function countWaiting(db: Database): Promise<number> {
  const [row] = await db.$queryRaw<{ waiting: number }[]>`
    SELECT count(*)::int AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return row?.waiting ?? 0;
}

/** As an operator gives it. Returns whether the crawl accepted it. */
export function giveOrder(db: Database, crawlId: string, kind: CrawlOrder['kind']): Promise<boolean> {
  const origin = { channel: 'cli', by: 'tester', reason: null } as const;
  return applyCrawlOrder(db, crawlId, { id: randomUUID(), kind, origin });
}

/** The gate of a domain as a worker knows it whose clocks are exact. */
export async function readingOf(db: Database, domain: string): Promise<GateReading> {
  const row = await readGate(db, domain);
  if (row === null) throw new Error(`${domain} is not on record`);
  return { row, clock: { atLeast: () => row.now, atMost: () => row.now } };
}
