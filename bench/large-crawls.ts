/** Large crawls in a database, written by SQL in a minute instead of crawled in months. */
import type { AmbleConfig } from '../src/config/index.ts';
import { foldChanges } from '../src/storage/counts.ts';
import { openCrawl } from '../src/storage/crawls.ts';
import type { Database } from '../src/storage/database.ts';
import { throughTriggers } from './trigger-rows.ts';

export interface Size {
  crawls: number;
  pagesPerCrawl: number;
  /** All crawls share them. */
  domains: number;
  orders: number;
}

/** Has a quarter of the pages of every crawl. */
export const LARGEST_DOMAIN = 'd0.test';

export const crawlName = (crawl: number): string => `large-${crawl}`;

export const urlOf = (page: number): string => `http://${LARGEST_DOMAIN}/a/${page}`;

/** The first crawl has ended; one is paused; the others run. */
export async function fillLargeCrawls(db: Database, config: AmbleConfig, size: Size): Promise<void> {
  await throughTriggers(db, async () => {
    for (let crawl = 0; crawl < size.crawls; crawl += 1) await fillCrawl(db, config, crawlName(crawl), size);
  });
  await db.$executeRaw`
    UPDATE crawls SET status = 'Completed', finished_at = now() - interval '1 hour' WHERE id = ${crawlName(0)}`;
  await db.$executeRaw`UPDATE crawls SET status = 'Paused' WHERE id = ${crawlName(1)}`;
  await db.$executeRaw`UPDATE crawls SET created_at = now() - interval '30 days'`;
  await fillDomains(db, size);
  await fillRequests(db);
  await fillOrders(db, size);
  for (let crawl = 0; crawl < size.crawls; crawl += 1) await foldChanges(db, crawlName(crawl));
  await fillSamples(db);
  await db.$executeRaw`VACUUM ANALYZE`;
}

async function fillCrawl(db: Database, config: AmbleConfig, id: string, size: Size): Promise<void> {
  const seed = { url: `http://${LARGEST_DOMAIN}/`, keyword: null, priority: null };
  await openCrawl(db, { id, seeds: [seed], settings: config.crawl, unit: config.politenessKey });
  await db.$executeRaw`
    INSERT INTO crawl_domains SELECT ${id}, 'd' || n || '.test' FROM generate_series(0, ${size.domains - 1}::int) n
    ON CONFLICT DO NOTHING`;
  // A hash decides what became of a page: it looks random, and is the same in each run.
  await db.$executeRaw`
    INSERT INTO pages (crawl_id, domain, url, url_hash, status, error_kind, status_code, reason, title, links_found, links_skipped,
                       attempts, fetched_at, failed_at, next_attempt_at, redirect_to, created_at)
    SELECT ${id}, domain, url, sha256(convert_to(url, 'UTF8')), status::page_status,
           CASE status WHEN 'Failed' THEN (ARRAY['timeout', 'status', 'dns', 'reset', 'status'])[1 + n % 5]
                       WHEN 'Rejected' THEN 'type' WHEN 'Blocked' THEN 'robots' END,
           CASE WHEN status = 'Failed' AND n % 5 IN (1, 4) THEN 500 + n % 5 WHEN status = 'Fetched' THEN 200 END,
           CASE status WHEN 'Failed' THEN 'it failed' WHEN 'Blocked' THEN 'disallowed by robots.txt' END,
           CASE status WHEN 'Fetched' THEN 'The title of page ' || n END,
           CASE status WHEN 'Fetched' THEN 40 ELSE 0 END,
           CASE status WHEN 'Fetched' THEN '{"out of scope": 12, "nofollow": 2}'::jsonb END,
           CASE status WHEN 'Pending' THEN 0 WHEN 'Failed' THEN 3 ELSE 1 END,
           CASE status WHEN 'Fetched' THEN at END, CASE status WHEN 'Failed' THEN at END,
           CASE WHEN status = 'Pending' AND n % 100 = 1 THEN now() + interval '1 hour' END,
           CASE status WHEN 'Redirected' THEN 'http://' || domain || '/to/' || n END, at
    FROM (SELECT *, 'http://' || domain || '/a/' || n AS url, now() - (n % 2592000) * interval '1 second' AS at,
                 CASE WHEN chance < 400 THEN 'Fetched' WHEN chance < 450 THEN 'Redirected' WHEN chance < 480 THEN 'Rejected'
                      WHEN chance < 500 THEN 'Blocked' WHEN chance < 550 THEN 'Failed' ELSE 'Pending' END AS status
          FROM (SELECT n, abs(hashint4(n)::bigint) % 1000 AS chance,
                       CASE WHEN n % 4 = 0 THEN ${LARGEST_DOMAIN} ELSE 'd' || n % ${size.domains}::int || '.test' END AS domain
                FROM generate_series(1, ${size.pagesPerCrawl}::int) n) AS drawn) AS page`;
  await db.$executeRaw`
    INSERT INTO page_crawls (page_id, attempt, outcome, status_code, error_kind, started_at, finished_at, slot_wait_ms, latency_ms,
                             bytes, next_attempt_at, created_at)
    SELECT page.id, tried.attempt, CASE status WHEN 'Failed' THEN 'Timeout' WHEN 'Rejected' THEN 'Rejected'
                                               WHEN 'Blocked' THEN 'BlockedRobots' ELSE 'Success' END::outcome,
           status_code, error_kind, created_at, created_at, 9000, 120, 20000,
           CASE WHEN tried.attempt < attempts THEN created_at END, created_at
    FROM pages page CROSS JOIN LATERAL generate_series(1, attempts) AS tried (attempt) WHERE crawl_id = ${id}`;
  await db.$executeRaw`
    INSERT INTO links (page_id, url_hash, url, anchor)
    SELECT id, sha256(convert_to(url || n, 'UTF8')), url || n, 'link ' || n
    FROM pages, generate_series(1, 10) n WHERE crawl_id = ${id} AND status = 'Fetched' AND id % 10 = 0`;
}

/** One in a thousand is paused, one in 500 down, one in 500 in a Retry-After. */
async function fillDomains(db: Database, { domains }: Size): Promise<void> {
  await db.$executeRaw`
    INSERT INTO domains (name, epoch, min_gap_ms, paused, blocked_until, outages, gate, stats, updated_at)
    SELECT 'd' || n || '.test', 1, 10000, n % 1000 = 7, CASE WHEN n % 500 = 3 THEN now() + interval '1 hour' END,
           CASE WHEN n % 500 = 9 THEN jsonb_build_object('http://d' || n || '.test', jsonb_build_object(
             'since', 0, 'until', extract(epoch FROM now()) * 1000 + 60000, 'failures', 3, 'error', 'connection refused'))
                ELSE '{}' END,
           jsonb_build_object('lastStart', extract(epoch FROM now()) * 1000 - n * 1000, 'delayUntil', 0, 'open', '[]'::jsonb,
                              'spent', '[]'::jsonb),
           jsonb_build_object('started', 5000, 'averageDurationMs', 120), now() - n * interval '1 second'
    FROM generate_series(0, ${domains - 1}::int) n`;
  await db.$executeRaw`
    INSERT INTO robots_rules (origin, body, max_crawl_delay_ms)
    SELECT 'http://' || name, repeat('# a comment' || chr(10), version * 10) || 'User-agent: *' || chr(10) || 'Disallow: /private', 0
    FROM domains, generate_series(1, 2) AS version`;
  await db.$executeRaw`
    INSERT INTO robots (origin, domain, product_token, body, status_code, rules_id, fetched_at, fresh_until)
    SELECT DISTINCT ON (origin) origin, substr(origin, 8), 'amble', body, 200, id, now(), now() + interval '1 day'
    FROM robots_rules ORDER BY origin, id DESC`;
}

/** One for each attempt, ten seconds apart in each domain. */
async function fillRequests(db: Database): Promise<void> {
  await db.$executeRaw`
    INSERT INTO requests (lease_id, domain, crawl_id, page_id, purpose, url, started_at, started_error_ms, min_gap_ms, address,
                          address_block, sent_at, rules_id, product_token, status_code, duration_ms)
    SELECT 'lease-' || id, domain, crawl_id, page_id, 'page', url, at, 1, 10000, '192.0.2.1', '192.0.2.1', at, rules_id, 'amble', 200, 120
    FROM (SELECT attempt.id, page.domain, page.crawl_id, page.id AS page_id, page.url, robots.rules_id,
                 now() - row_number() OVER (PARTITION BY page.domain ORDER BY attempt.id DESC) * interval '10 seconds' AS at
          FROM page_crawls attempt JOIN pages page ON page.id = attempt.page_id
          JOIN robots ON robots.origin = 'http://' || page.domain) AS sent`;
}

async function fillOrders(db: Database, { orders, crawls, domains }: Size): Promise<void> {
  await db.$executeRaw`
    INSERT INTO orders (id, given_at, kind, crawl_id, domain, channel, given_by, reason, effect)
    SELECT 'order-' || n, now() - n * interval '1 minute', (ARRAY['pause', 'resume'])[1 + n % 2]::order_kind,
           CASE WHEN n % 3 = 0 THEN 'large-' || n % ${crawls}::int END, CASE WHEN n % 3 <> 0 THEN 'd' || n % ${domains}::int || '.test' END,
           (ARRAY['cli', 'dashboard', 'api'])[1 + n % 3]::order_channel, 'anna', 'asked by its owner', 'done'
    FROM generate_series(1, ${orders}::int) n`;
}

/** As many as the sweeps of a month take. */
async function fillSamples(db: Database): Promise<void> {
  await db.$executeRaw`
    INSERT INTO crawl_samples (crawl_id, at, found, done)
    SELECT crawl.id, crawl.created_at + n * interval '26 minutes', counted.found * n / 1600, counted.found * n / 3200
    FROM crawls crawl CROSS JOIN generate_series(1, 1600) n CROSS JOIN LATERAL (
      SELECT sum(pages)::int AS found FROM crawl_page_counts WHERE crawl_id = crawl.id) AS counted`;
}
