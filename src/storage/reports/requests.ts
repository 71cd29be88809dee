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

const REQUEST_BATCH = 5_000;
const KEY_BATCH = 1_000;
/** The settings of one crawl may be large: its rules for domains may be many. */
const MAX_CACHED_CRAWLS = 100;

/** Of one crawl. null: of all crawls. */
export function readRecords(db: Database, crawlId: string | null): Records {
  const crawls = new LRUCache<string, { crawl: CrawlRecord | null }>({
    max: MAX_CACHED_CRAWLS,
    // Wrapped, so that a crawl that is not on record is looked up once, and not for each of its requests.
    fetchMethod: async (id) => ({ crawl: await findCrawl(db, id) }),
    ignoreFetchAbort: true,
  });
  return {
    domains: () => readKeys(db, Prisma.sql`domain`, crawlId),
    requests: (domain) => readRequests(db, domain),
    rules: (id) => readRules(db, id),
    politeness: async (id, domain) => {
      const { crawl } = await crawls.forceFetch(id);
      if (crawl === null) return null;
      const { delay, concurrency } = politenessFor(crawl.settings, domain);
      return { minGapMs: delay.minMs, concurrency };
    },
    addressBlocks: () => readKeys(db, Prisma.sql`address_block`, crawlId),
    sentTo: (block) => readSentRequests(db, block),
    excessAttempts: () => findExcessAttempts(db, crawlId),
  };
}

/** The values of a column that begins an index. */
async function* readKeys(db: Database, column: Prisma.Sql, crawlId: string | null): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const rows = await db.$queryRaw<{ key: string }[]>`
      SELECT DISTINCT ${column} AS key FROM requests
      WHERE ${column} > ${after} ${crawlId === null ? Prisma.empty : Prisma.sql`AND crawl_id = ${crawlId}`}
      ORDER BY ${column} LIMIT ${KEY_BATCH}`;
    for (const { key } of rows) yield key;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.key;
  }
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

/** By the last row instead of by offset, so that a later batch costs the same as the first. */
async function* readRequests(db: Database, domain: string): AsyncGenerator<RecordedRequest> {
  let last: Pick<RequestRow, 'started_at' | 'lease_id'> = { started_at: new Date(0), lease_id: '' };
  for (;;) {
    const rows: RequestRow[] = await db.$queryRaw<RequestRow[]>`
      SELECT lease_id, crawl_id, url, purpose = 'robots' AS is_robots, started_at, started_error_ms, min_gap_ms,
             rules_id, product_token
      FROM requests WHERE domain = ${domain} AND (started_at, lease_id) > (${last.started_at}, ${last.lease_id})
      ORDER BY started_at, lease_id LIMIT ${REQUEST_BATCH}`;
    for (const row of rows) yield toRequest(domain, row);
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end;
  }
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
  let last: Pick<SentRow, 'sent_at' | 'lease_id'> = { sent_at: new Date(0), lease_id: '' };
  for (;;) {
    const rows: SentRow[] = await db.$queryRaw<SentRow[]>`
      SELECT lease_id, crawl_id, url, address, sent_at, started_error_ms,
             started_at + duration_ms * interval '1 millisecond' AS ended_at, address_gap_ms, address_max_open
      FROM requests WHERE address_block = ${block} AND (sent_at, lease_id) > (${last.sent_at}, ${last.lease_id})
      ORDER BY sent_at, lease_id LIMIT ${REQUEST_BATCH}`;
    for (const row of rows) yield toSentRequest(row);
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end;
  }
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

async function readRules(db: Database, id: string): Promise<StoredRules | null> {
  const kept = await db.robotsRules.findUnique({ where: { id: BigInt(id) } });
  if (kept === null) return null;
  const { origin, body, createdAt, maxCrawlDelayMs } = kept;
  return { origin, body, storedAtMs: createdAt.getTime(), maxCrawlDelayMs };
}

async function* findExcessAttempts(db: Database, crawlId: string | null): AsyncGenerator<ExcessAttempts> {
  for (let after = 0n; ; ) {
    const rows = await db.$queryRaw<
      { id: bigint; crawl_id: string; url: string; attempts: number; allowed: number }[]
    >`
      SELECT page.id, page.crawl_id, page.url, tried.attempts,
             (crawl.settings -> 'retry' ->> 'maximumAttempts')::int AS allowed
      FROM pages page JOIN crawls crawl ON crawl.id = page.crawl_id
      CROSS JOIN LATERAL (SELECT greatest(count(*), max(attempt))::int AS attempts
                          FROM page_crawls WHERE page_id = page.id) tried
      WHERE page.id > ${after} AND tried.attempts > (crawl.settings -> 'retry' ->> 'maximumAttempts')::int
        ${crawlId === null ? Prisma.empty : Prisma.sql`AND page.crawl_id = ${crawlId}`}
      ORDER BY page.id LIMIT ${REQUEST_BATCH}`;
    for (const { crawl_id, url, attempts, allowed } of rows)
      yield { kind: 'attempts', crawlId: crawl_id, url, attempts, allowed };
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}
