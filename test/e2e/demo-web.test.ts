import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DemoWeb, startDemoWeb } from '../../src/demo/index.ts';
import { DEMO_DOMAIN, DEMO_HOSTS, type DemoHost } from '../../src/demo/site.ts';
import type { Request } from '../../src/storage/generated/client.ts';
import { shortGapsOnArrival, shortGapsOnRecord } from '../support/gaps.ts';
import { initialiseHome } from '../support/initialised-home.ts';
import {
  createInstallation,
  type Ended,
  type Installation,
  lastLine,
  networkFlags,
  tally,
} from './support.ts';

const DELAY_MS = 200;

describe('the demo web, crawled by two workers in two processes', () => {
  let web: DemoWeb;
  let amble: Installation;
  let crawled: Ended;
  let seen: Seen;
  let exported: Ended;
  let status: Ended;
  let stopped: Ended;
  let left: string[];

  beforeAll(async () => {
    web = await startDemoWeb();
    amble = await createInstallation();
    await initialiseHome(amble.home);
    const up = amble.start('up');
    await up.waitForStderr(/Amble is up/);
    crawled = await amble.run(
      ...['crawl', ...web.seeds, '--id', 'e2e', '--delay', `${DELAY_MS}ms`, '--json'],
      ...networkFlags(web.resolve),
    );
    seen = await amble.look(async ({ db, client }) => ({
      pages: (await db.page.findMany({ where: { crawlId: 'e2e' } })).map(({ url, status }) => ({
        url,
        status,
      })),
      requests: await db.request.findMany({ where: { crawlId: 'e2e' } }),
      shortGaps: await shortGapsOnRecord(db, 'e2e', gapMs),
      fetchers: await fetchersOf(client, 'e2e'),
    }));
    exported = await amble.run('export', 'e2e', '--format', 'jsonl');
    status = await amble.run('status', 'e2e');
    up.kill('SIGINT');
    stopped = await up.ended;
    left = await amble.processes();
  });

  afterAll(async () => {
    await amble?.remove();
    await web?.stop();
  });

  test('completes and prints one JSON object on the last line', () => {
    const pages = tally(web.expected.map(({ status }) => status));
    const { Fetched = 0, Redirected = 0, Rejected = 0, Failed = 0, Blocked = 0 } = pages;
    const failures = web.expected.reduce((sum, { url }) => sum + failuresAt(new URL(url)), 0);
    expect(crawled).toMatchObject({ code: 0 });
    expect(lastLine(crawled.stdout)).toMatchObject({
      crawl: 'e2e',
      status: 'Completed',
      found: web.expected.length,
      pages: { Pending: 0, Queued: 0, Waiting: 0, Cancelled: 0, ...pages },
      attempts: {
        Success: Fetched + Redirected,
        Rejected,
        Blocked4xx: Failed,
        Blocked5xx: failures,
        BlockedRobots: Blocked,
        Failed: 0,
        Timeout: 0,
      },
      seconds: expect.any(Number),
    });
  });

  test('gives every reachable page its expected status, and finds no other page', () => {
    expect(inOrder(seen.pages)).toEqual(inOrder(web.expected));
  });

  test('requests each page and robots.txt once, and again only after a 503', () => {
    const expected = new Map(DEMO_HOSTS.map(({ name }) => [`${name}.${DEMO_DOMAIN}/robots.txt`, 1]));
    for (const { url, status } of web.expected) {
      const { hostname, pathname } = new URL(url);
      if (status !== 'Blocked') expected.set(hostname + pathname, 1 + failuresAt(new URL(url)));
    }
    const arrived = tally(web.arrivals.map(({ host, path }) => host + path));
    expect(arrived).toEqual(Object.fromEntries(expected));
  });

  test('never requests what robots.txt disallows', () => {
    const blocked = web.expected.filter(({ status }) => status === 'Blocked');
    expect(blocked.length).toBeGreaterThan(0);
    expect(web.arrivals.filter(({ path }) => path.startsWith('/private/'))).toEqual([]);
  });

  test('keeps the delay of each host, as the host sees it', () => {
    expect(shortGapsOnArrival(web.arrivals, gapMs)).toEqual([]);
  });

  test('records every request, with the delay kept exactly', () => {
    const recorded = seen.requests.map(({ url }) => ({ url }));
    const arrived = web.arrivals.map(({ host, path }) => ({ url: `http://${host}:${web.port}${path}` }));
    expect(inOrder(recorded)).toEqual(inOrder(arrived));
    expect(seen.shortGaps).toEqual([]);
  });

  test('is the work of both processes', () => {
    expect(seen.fetchers.size).toBe(2);
  });

  test('can be exported: one line a page, with every attempt', () => {
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    const pages: Record<string, unknown>[] = exported.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(inOrder(pages.map(({ url, status }) => ({ url: String(url), status })))).toEqual(
      inOrder(web.expected),
    );
    const today = pages.find(({ url }) => url === `http://bakery.${DEMO_DOMAIN}:${web.port}/today`);
    expect(today).toMatchObject({
      title: 'Fresh today',
      depth: 1,
      content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      fetched_at: expect.stringMatching(ISO_DATE),
      attempts: [
        { attempt: 1, outcome: 'Blocked5xx', status_code: 503 },
        { attempt: 2, outcome: 'Blocked5xx', status_code: 503 },
        {
          attempt: 3,
          outcome: 'Success',
          status_code: 200,
          started_at: expect.stringMatching(ISO_DATE),
          finished_at: expect.stringMatching(ISO_DATE),
        },
      ],
    });
  });

  test('is shown by amble status, domain by domain', () => {
    expect(status).toMatchObject({ code: 0, stderr: '' });
    expect(status.stdout).toContain('Crawl e2e completed in');
    for (const { name } of DEMO_HOSTS) expect(status.stdout).toContain(`${name}.${DEMO_DOMAIN}`);
  });

  test('leaves no process behind', () => {
    expect(stopped.code).toBe(0);
    expect(left).toEqual([]);
  });
});

interface Seen {
  pages: { url: string; status: string }[];
  requests: Request[];
  shortGaps: string[];
  fetchers: Set<string>;
}

const ISO_DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function hostOf(hostname: string): DemoHost | undefined {
  return DEMO_HOSTS.find(({ name }) => `${name}.${DEMO_DOMAIN}` === hostname);
}

/** Delay of the crawl, or what the host's robots.txt asks for. */
function gapMs(hostname: string): number {
  return Math.max(DELAY_MS, (hostOf(hostname)?.robots?.crawlDelaySeconds ?? 0) * 1_000);
}

/** How often a page answers 503 before it serves. */
function failuresAt({ hostname, pathname }: URL): number {
  const page = hostOf(hostname)?.pages.find(({ path }) => path === pathname);
  return page?.kind === 'html' ? (page.failures ?? 0) : 0;
}

/** The workers that took fetches of this crawl, as Temporal's histories name them: `pid@machine`. */
async function fetchersOf(client: Client, crawlId: string): Promise<Set<string>> {
  const fetchers = new Set<string>();
  for await (const page of client.workflow.list({ query: `RootWorkflowId = "${crawlId}"` })) {
    const { events } = await client.workflow.getHandle(page.workflowId, page.runId).fetchHistory();
    const fetches = new Set(
      events
        ?.filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'fetchPage')
        .map(({ eventId }) => String(eventId)),
    );
    for (const { activityTaskStartedEventAttributes: started } of events ?? []) {
      if (started?.identity && fetches.has(String(started.scheduledEventId))) fetchers.add(started.identity);
    }
  }
  return fetchers;
}

function inOrder<T extends { url: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => (a.url < b.url ? -1 : Number(a.url > b.url)));
}
