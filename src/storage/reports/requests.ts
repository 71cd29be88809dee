/** The recorded requests for the proof of politeness, read in batches. */
import { LRUCache } from 'lru-cache';
import { politenessFor } from '../../core/domain-politeness.ts';
import type {
  ExcessAttempts,
  RecordedRequest,
  Records,
  SentRequest,
  StoredRules,
} from '../../verify/index.ts';
import { type CrawlRecord, findCrawl } from '../crawls.ts';
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import { wereDropped } from '../kept-rules.ts';

const REQUEST_BATCH = 5_000;
const KEY_BATCH = 1_000;
/** The settings of one crawl may be large: its rules for domains may be many. */
const MAX_CACHED_CRAWLS = 100;

/** Of one crawl. null: of all crawls. */
export function readRecords(db: Database, crawlId: string | null): Records {
  return {
    domains: () => readKeys(db, Prisma.sql`domain`, crawlId),
    requests: (domain) => readRequests(db, domain),
    addressBlocks: () => readKeys(db, Prisma.sql`address_block`, crawlId),
    sentTo: (block) => readSentRequests(db, block),
    excessAttempts: () => findExcessAttempts(db, crawlId),
    ...readRules(db),
  };
}

export interface Period {
  from: Date;
  until: Date;
}

const ALWAYS: Period = { from: new Date(0), until: new Date(8.64e15) };

/** Of one domain in a period, of all crawls, without what concerns other domains too: addresses. */
export function readDomainRecords(db: Database, domain: string, period: Period): Records {
  return {
    domains: () => each([domain]),
    requests: () => readRequests(db, domain, period),
    addressBlocks: () => each([]),
    sentTo: () => each([]),
    excessAttempts: () => each([]),
    ...readRules(db),
  };
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

/**
 * When the request before the last `limit` in a period started: a proof from there on is quick, and judges the gap before the
 * first of them too. null: there are no more than that.
 */
export async function startOfLast(
  db: Database,
  domain: string,
  { from, until }: Period,
  limit: number,
): Promise<Date | null> {
  const [row] = await db.$queryRaw<{ started_at: Date }[]>`
    SELECT started_at FROM (
      SELECT domain, started_at FROM requests WHERE (domain, started_at) <= (${domain}, ${until})
      ORDER BY domain DESC, started_at DESC OFFSET ${limit} LIMIT 1) AS oldest
    WHERE domain = ${domain} AND started_at >= ${from}`;
  return row?.started_at ?? null;
}

function readRules(db: Database): Pick<Records, 'rules' | 'politeness'> {
  const crawls = new LRUCache<string, { crawl: CrawlRecord | null }>({
    max: MAX_CACHED_CRAWLS,
    // Wrapped, so that a crawl that is not on record is looked up once, and not for each of its requests.
    fetchMethod: async (id) => ({ crawl: await findCrawl(db, id) }),
    ignoreFetchAbort: true,
  });
  return {
    rules: (id, url) => readStoredRules(db, id, url),
    politeness: async (id, domain) => {
      const { crawl } = await crawls.forceFetch(id);
      if (crawl === null) return null;
      const { delay, concurrency } = politenessFor(crawl.settings, domain);
      return { minGapMs: delay.minMs, concurrency };
    },
  };
}

/** Reads rows after the last one instead of by offset, so that a later batch costs the same as the first. */
async function* inBatches<After, Row extends After>(
  start: After,
  read: (after: After) => Promise<Row[]>,
): AsyncGenerator<Row> {
  for (let after = start; ; ) {
    const rows = await read(after);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

/** The values of a column that begins an index. */
async function* readKeys(db: Database, column: Prisma.Sql, crawlId: string | null): AsyncGenerator<string> {
  const rows = inBatches(
    { key: '' },
    (after) => db.$queryRaw<{ key: string }[]>`
      SELECT DISTINCT ${column} AS key FROM requests
      WHERE ${column} > ${after.key} ${ofCrawl(Prisma.sql`crawl_id`, crawlId)}
      ORDER BY ${column} LIMIT ${KEY_BATCH}`,
  );
  for await (const { key } of rows) yield key;
}

function ofCrawl(column: Prisma.Sql, crawlId: string | null): Prisma.Sql {
  return crawlId === null ? Prisma.empty : Prisma.sql`AND ${column} = ${crawlId}`;
}

interface RequestRow {
  lease_id: string;
  crawl_id: string;
  url: string;
  is_robots: boolean;
  started_at: Date;
  started_error_ms: number;
  min_gap_ms: number;
  rules_id: bigint | null;
  product_token: string | null;
}

async function* readRequests(
  db: Database,
  domain: string,
  { from, until }: Period = ALWAYS,
): AsyncGenerator<RecordedRequest> {
  const rows = inBatches(
    { started_at: from, lease_id: '' },
    (after) => db.$queryRaw<RequestRow[]>`
      SELECT lease_id, crawl_id, url, purpose = 'robots' AS is_robots, started_at, started_error_ms, min_gap_ms,
             rules_id, product_token
      FROM requests WHERE domain = ${domain} AND (started_at, lease_id) > (${after.started_at}, ${after.lease_id})
        AND started_at <= ${until}
      ORDER BY started_at, lease_id LIMIT ${REQUEST_BATCH}`,
  );
  for await (const row of rows) yield toRequest(domain, row);
}

function toRequest(domain: string, row: RequestRow): RecordedRequest {
  return {
    leaseId: row.lease_id,
    domain,
    crawlId: row.crawl_id,
    url: row.url,
    isRobots: row.is_robots,
    startedAtMs: row.started_at.getTime(),
    startedErrorMs: row.started_error_ms,
    minGapMs: row.min_gap_ms,
    allowedBy:
      row.rules_id === null || row.product_token === null
        ? null
        : { rulesId: row.rules_id.toString(), agent: row.product_token },
  };
}

interface SentRow {
  lease_id: string;
  crawl_id: string;
  url: string;
  address: string;
  sent_at: Date;
  started_error_ms: number;
  ended_at: Date;
  address_gap_ms: number | null;
  address_max_open: number | null;
}

async function* readSentRequests(db: Database, block: string): AsyncGenerator<SentRequest> {
  const rows = inBatches(
    { sent_at: new Date(0), lease_id: '' },
    (after) => db.$queryRaw<SentRow[]>`
      SELECT lease_id, crawl_id, url, address, sent_at, started_error_ms,
             started_at + duration_ms * interval '1 millisecond' AS ended_at, address_gap_ms, address_max_open
      FROM requests WHERE address_block = ${block} AND (sent_at, lease_id) > (${after.sent_at}, ${after.lease_id})
      ORDER BY sent_at, lease_id LIMIT ${REQUEST_BATCH}`,
  );
  for await (const row of rows) yield toSentRequest(row);
}

function toSentRequest(row: SentRow): SentRequest {
  const { address_gap_ms: gapMs, address_max_open: maxOpen } = row;
  return {
    leaseId: row.lease_id,
    crawlId: row.crawl_id,
    url: row.url,
    address: row.address,
    sentAtMs: row.sent_at.getTime(),
    clockErrorMs: row.started_error_ms,
    endedAtMs: row.ended_at.getTime(),
    limit: gapMs === null || maxOpen === null ? null : { gapMs, maxOpen },
  };
}

async function readStoredRules(
  db: Database,
  id: string,
  url: string,
): Promise<StoredRules | 'dropped' | null> {
  const kept = await db.robotsRules.findUnique({ where: { id: BigInt(id) } });
  if (kept === null) return (await wereDropped(db, id, url)) ? 'dropped' : null;
  const { origin, body, createdAt, maxCrawlDelayMs } = kept;
  return { origin, body, storedAtMs: createdAt.getTime(), maxCrawlDelayMs };
}

interface ExcessRow {
  id: bigint;
  crawl_id: string;
  url: string;
  attempts: number;
  allowed: number;
}

async function* findExcessAttempts(db: Database, crawlId: string | null): AsyncGenerator<ExcessAttempts> {
  const rows = inBatches(
    { id: 0n },
    (after) => db.$queryRaw<ExcessRow[]>`
      SELECT page.id, page.crawl_id, page.url, tried.attempts,
             page.attempts_before + (crawl.settings -> 'retry' ->> 'maximumAttempts')::int AS allowed
      FROM pages page JOIN crawls crawl ON crawl.id = page.crawl_id
      CROSS JOIN LATERAL (SELECT greatest(count(*), max(attempt))::int AS attempts
                          FROM page_crawls WHERE page_id = page.id) tried
      WHERE page.id > ${after.id} AND tried.attempts > page.attempts_before + (crawl.settings -> 'retry' ->> 'maximumAttempts')::int
        ${ofCrawl(Prisma.sql`page.crawl_id`, crawlId)}
      ORDER BY page.id LIMIT ${REQUEST_BATCH}`,
  );
  for await (const { crawl_id, url, attempts, allowed } of rows)
    yield { kind: 'attempts', crawlId: crawl_id, url, attempts, allowed };
}
