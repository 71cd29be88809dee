import { tmpdir } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readRecords } from '../../src/storage/reports/requests.ts';
import { prove } from '../../src/verify/index.ts';
import { type Run, runAmble } from '../e2e/run-amble.ts';
import { runInProcess } from '../e2e/run-in-process.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';

/** A site with a robots.txt, a disallowed page and a page that fails twice: something for each part of the proof. */
function aSite(path: string, { count }: { count: number }) {
  if (path === '/robots.txt') return { body: 'User-agent: *\nDisallow: /private\n' };
  if (path === '/') return { body: links('/1', '/2', '/3', '/private/secret') };
  if (path === '/3' && count < 3) return { status: 503 };
  return { body: '<title>A page</title>' };
}

let amble: Amble;
let web: TestWeb;
let crawlId: string;

beforeAll(async () => {
  amble = await startAmble({ tuning: { throttle: { maxBackoffMs: 10 } } });
  web = await startWeb({ site: aSite });
  const result = await amble.crawl({ seeds: [web.url('site')], ...web.network, delay: '150ms' });
  expect(result.pages).toEqual({ Fetched: 4, Blocked: 1 });
  crawlId = result.crawlId;
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

const verify = (id: string | null = crawlId) =>
  prove(readRecords(amble.db, id), (request) => id === null || request.crawlId === id);

describe('a crawl that ran', () => {
  it('verifies: every request is checked, including robots.txt and retries', async () => {
    const { requests, domains, violations } = await verify();
    expect(violations).toEqual([]);
    expect(requests).toBe(web.arrivals.length);
    expect(requests).toBe(1 + 4 + 2);
    expect(domains).toMatchObject([{ domain: web.name('site'), tightest: { requiredMs: 150 } }]);
  });

  it('still verifies when the site has changed its rules since', async () => {
    await amble.db.$executeRaw`
      INSERT INTO robots_rules (origin, body, max_crawl_delay_ms)
      SELECT origin, 'User-agent: *' || chr(10) || 'Disallow: /', 300000 FROM robots`;
    await amble.db.$executeRaw`
      UPDATE robots SET body = 'User-agent: *' || chr(10) || 'Disallow: /', rules_id = (SELECT max(id) FROM robots_rules)`;
    expect((await verify()).violations).toEqual([]);
  });

  it('verifies in batches and per crawl, however many requests other crawls made', async () => {
    await amble.db.$executeRaw`
      INSERT INTO requests (lease_id, domain, crawl_id, page_id, purpose, url, started_at, started_error_ms, min_gap_ms, duration_ms,
                            address, address_block, sent_at, address_gap_ms, address_max_open)
      SELECT 'many/' || n, 'many.test', 'many', 1, 'robots', 'http://many.test/robots.txt',
             timestamptz '2026-01-01' + n * interval '10 milliseconds', 1, 10, 1,
             '192.0.2.1', '192.0.2.1', timestamptz '2026-01-01' + n * interval '10 milliseconds', 10, 1
      FROM generate_series(1, 12001) n`;
    try {
      expect((await verify()).requests).toBe(7);
      const all = await verify(null);
      expect(all).toMatchObject({ requests: 7 + 12_001, addresses: 1, exemptRequests: 7, violationCount: 0 });
      expect(all.domains).toContainEqual(expect.objectContaining({ domain: 'many.test', requests: 12_001 }));
    } finally {
      await amble.db.request.deleteMany({ where: { crawlId: 'many' } });
    }
  });
});

describe('a violation planted in the records is found, and amble verify ends with exit code 1 and names it', () => {
  let planted: string[] = [];
  beforeEach(() => {
    planted = [];
    return async () => {
      await amble.db.request.deleteMany({ where: { leaseId: { in: planted } } });
    };
  });

  /** Inserts a later, changed copy of the last request of the crawl. */
  async function plant(changed: {
    url?: string;
    afterMs: number;
    crawlId?: string;
    minGapMs?: number;
    startedErrorMs?: number;
    rulesId?: bigint;
    domain?: string;
    address?: { gapMs: number; maxOpen: number };
  }): Promise<void> {
    const last = await amble.db.request.findFirstOrThrow({
      where: { crawlId, purpose: 'page' },
      orderBy: { startedAt: 'desc' },
    });
    const leaseId = `planted-${planted.length}`;
    planted.push(leaseId);
    await amble.db.request.create({
      data: {
        ...last,
        leaseId,
        crawlId: changed.crawlId ?? crawlId,
        url: changed.url ?? last.url,
        minGapMs: changed.minGapMs ?? last.minGapMs,
        startedErrorMs: changed.startedErrorMs ?? last.startedErrorMs,
        rulesId: changed.rulesId ?? last.rulesId,
        startedAt: new Date(last.startedAt.getTime() + changed.afterMs),
        sentAt: new Date(last.sentAt.getTime() + changed.afterMs),
        domain: changed.domain ?? last.domain,
        ...(changed.address && {
          address: '2001:db8::7',
          addressBlock: '2001:db8::/64',
          addressGapMs: changed.address.gapMs,
          addressMaxOpen: changed.address.maxOpen,
        }),
      },
    });
  }

  const place = () => ({ cwd: tmpdir(), env: { DATABASE_URL: amble.databaseUrl } });

  /** The command line in this process. */
  function commandLine(...args: string[]): Promise<Run> {
    return runInProcess(['verify', ...args], place());
  }

  it('a gap a millisecond too short', async () => {
    await plant({ afterMs: 149 });
    expect((await verify()).violations).toMatchObject([{ kind: 'gap', gapMs: 149, requiredMs: 150 }]);
    const { code, stdout } = await runAmble(['verify', crawlId], place());
    expect(code).toBe(1);
    expect(stdout).toContain(`Gap too short on ${web.name('site')}: 0.149 s, but 0.150 s was required.`);
    expect(stdout).toMatch(/NOT polite: 1 violation in 8 requests to 1 domain\./);
  });

  it('a gap too short to a request of another crawl', async () => {
    await plant({ afterMs: 100, crawlId: 'another' });
    expect((await verify()).violations).toMatchObject([{ kind: 'gap', after: { crawlId: 'another' } }]);
  });

  it('a gap shorter than the crawl’s own delay for the domain', async () => {
    await plant({ afterMs: 1_000, minGapMs: 149 });
    expect((await verify()).violations).toMatchObject([{ kind: 'granted', requiredMs: 150 }]);
    const { code, stdout } = await commandLine(crawlId);
    expect(code).toBe(1);
    expect(stdout).toContain('with 0.149 s, but crawl');
    const rules = JSON.stringify({ domains: { [web.name('site')]: { delay: { minMs: 100, maxMs: 200 } } } });
    await amble.db
      .$executeRaw`UPDATE crawls SET settings = settings || ${rules}::jsonb WHERE id = ${crawlId}`;
    try {
      expect((await verify()).violations).toEqual([]);
    } finally {
      await amble.db
        .$executeRaw`UPDATE crawls SET settings = settings || '{"domains": {}}' WHERE id = ${crawlId}`;
    }
  });

  it('requests closer together than the Crawl-delay of the robots.txt that applied to both', async () => {
    const { origin } = new URL(web.url('site'));
    const { id: rulesId } = await amble.db.robotsRules.create({
      data: { origin, body: 'User-agent: *\nCrawl-delay: 2', maxCrawlDelayMs: 300_000 },
    });
    try {
      await plant({ afterMs: 3_000, rulesId });
      await plant({ afterMs: 1_000, rulesId });
      expect((await verify()).violations).toMatchObject([
        { kind: 'crawl-delay', gapMs: 1_000, requiredMs: 2_000 },
      ]);
      const { code, stdout } = await commandLine(crawlId);
      expect(code).toBe(1);
      expect(stdout).toContain(
        `Gap too short on ${web.name('site')}: 1.000 s, but its robots.txt asks for 2.000 s.`,
      );
      // Not if a shorter limit of the Crawl-delay applied then, whatever the limit is now.
      await amble.db.robotsRules.update({ where: { id: rulesId }, data: { maxCrawlDelayMs: 1_000 } });
      expect((await verify()).violations).toEqual([]);
    } finally {
      await amble.db.robotsRules.delete({ where: { id: rulesId } });
    }
  });

  it('but not a gap that may be too short only because of the clocks’ error, which is reported on a line of its own', async () => {
    await plant({ afterMs: 10_000, startedErrorMs: 20 });
    await plant({ afterMs: 160 });
    const before = (await verify()).withinClockError;
    expect(before).toBeGreaterThan(0);
    const { code, stdout } = await commandLine(crawlId);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Note: \d+ gaps? exceeds? (its|their) required length by less than the clock error/m,
    );
    expect(stdout).toMatch(/Tightest gap +Clock error +Required/);
  });

  it('requests of two domains to one address, too close together or too many at once', async () => {
    const address = { gapMs: 5_000, maxOpen: 1 };
    await plant({ afterMs: 10_000, domain: 'one.test', address });
    await plant({ afterMs: 2_000, domain: 'other.test', address });
    const { violations } = await verify();
    expect(violations).toMatchObject([{ kind: 'address-gap', requiredMs: 5_000 }]);
    await amble.db.request.updateMany({ where: { domain: 'one.test' }, data: { durationMs: 60_000 } });
    const { code, stdout } = await commandLine(crawlId);
    expect(code).toBe(1);
    expect(stdout).toContain(
      'Gap too short at 2001:db8::7: 2.000 s, but 5.000 s is required between two requests to one address.',
    );
    expect(stdout).toContain('Too many open requests at 2001:db8::7: 2 of at most 1');
  });

  it('a path that was disallowed', async () => {
    await plant({ afterMs: 1_000, url: web.url('site', '/private/secret') });
    expect((await verify()).violations).toMatchObject([
      { kind: 'disallowed', why: expect.stringMatching(/disallowed it for Amble at that time/i) },
    ]);
  });

  it('one attempt more than the policy allows', async () => {
    const page = await amble.db.page.findFirstOrThrow({ where: { crawlId, url: web.url('site', '/3') } });
    const extra = await amble.db.pageCrawl.create({
      data: { pageId: page.id, attempt: 4, outcome: 'Failed', finishedAt: new Date(), slotWaitMs: 0 },
    });
    try {
      expect((await verify()).violations).toEqual([
        { kind: 'attempts', crawlId, url: page.url, attempts: 4, allowed: 3 },
      ]);
      const { code, stdout } = await commandLine('--all', '--json');
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ polite: false, violations: [{ kind: 'attempts' }] });
    } finally {
      await amble.db.pageCrawl.delete({ where: { id: extra.id } });
    }
  });

  it('and without a violation the program reports that with exit code 0', async () => {
    const { code, stdout } = await commandLine(crawlId);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Polite: 7 requests to 1 domain; no gap too short/m);
  });
});
