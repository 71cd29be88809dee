/** The stored robots.txt of each origin, and the claim of the page that is fetching it. */
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import { surplusVersions } from './kept-rules.ts';

export type StoredRobots =
  /** Rules to apply. `hasText` false: the origin has no robots.txt, so everything is allowed. */
  | { kind: 'rules'; hasText: boolean; fetchedAt: number; rulesId: string }
  /** The caller must fetch it now: no other page will until the claim expires. */
  | { kind: 'claimed' }
  /** No page may be fetched before `until`: robots.txt is being fetched, or was unavailable. */
  | { kind: 'deferred'; until: number; why: string; beingFetched: boolean; failingForMs: number };

/** Without the text, which may have 500 KiB: see `readRulesText`. */
export interface RobotsRow {
  has_text: boolean;
  rules_id: bigint | null;
  fetched_at: Date | null;
  fresh: boolean;
  retry_at: Date | null;
  claimed_until: Date | null;
  failing_for_ms: number;
  error: string | null;
}

/** The domain whose throttle applies the Crawl-delay, and the product token that the rules were read for. */
export interface RobotsReader {
  domain: string;
  agent: string;
}

export interface RobotsLookup extends RobotsReader {
  origin: string;
  claimMs: number;
  /** Return known rules whatever their age. */
  acceptStale?: boolean;
}

/**
 * Decides by the row, as it was read a moment ago, and claims the fetch if it is due: if the rules are stale, or were read for
 * another domain or product token. Old rules stay in force until the refresh succeeds.
 */
export async function lookUpRobots(
  db: Database,
  lookup: RobotsLookup,
  row: RobotsRow | null,
): Promise<StoredRobots> {
  const { origin, acceptStale = false } = lookup;
  const known = row && (row.fresh || acceptStale) ? rulesIn(row) : null;
  if (known) return known;
  if (await claim(db, lookup)) return { kind: 'claimed' };
  const now = await readRobotsRow(db, origin, lookup);
  const stale = now ? rulesIn(now) : null;
  if (stale) return stale;
  const retryAt = now?.retry_at?.getTime() ?? 0;
  const claimed = now?.claimed_until?.getTime() ?? 0;
  return {
    kind: 'deferred',
    until: Math.max(retryAt, claimed),
    why:
      retryAt > claimed
        ? `robots.txt of ${origin}: ${now?.error ?? 'unavailable'}`
        : `robots.txt of ${origin} is being fetched`,
    beingFetched: retryAt <= claimed,
    failingForMs: now?.failing_for_ms ?? 0,
  };
}

function rulesIn({
  has_text: hasText,
  fetched_at,
  rules_id,
}: RobotsRow): Extract<StoredRobots, { kind: 'rules' }> | null {
  if (fetched_at === null || rules_id === null) return null;
  return { kind: 'rules', hasText, fetchedAt: fetched_at.getTime(), rulesId: rules_id.toString() };
}

export async function readRobotsRow(
  db: Database,
  origin: string,
  reader: RobotsReader,
): Promise<RobotsRow | null> {
  const [row] = await db.$queryRaw<RobotsRow[]>`
    SELECT ${robotsColumns(reader)} FROM robots WHERE origin = ${origin}`;
  return row ?? null;
}

/** The columns of a `RobotsRow`, of the table `robots`. */
export function robotsColumns(reader: RobotsReader): Prisma.Sql {
  return Prisma.sql`
    robots.body IS NOT NULL AS has_text, robots.rules_id, robots.fetched_at, ${isFresh(reader)} AS fresh, robots.retry_at,
    robots.claimed_until, robots.error, ${FAILING_FOR_MS} AS failing_for_ms`;
}

/** Rules never change: with another text they have another id. */
export async function readRulesText(db: Database, rulesId: string): Promise<string> {
  const [rules] = await db.$queryRaw<{ body: string | null }[]>`
    SELECT body FROM robots_rules WHERE id = ${BigInt(rulesId)}`;
  if (!rules) throw new Error(`There are no robots.txt rules with the id ${rulesId}.`);
  return rules.body ?? '';
}

const FAILING_FOR_MS = Prisma.sql`coalesce(extract(epoch FROM now() - failing_since) * 1000, 0)::float8`;

function isFresh({ domain, agent }: RobotsReader): Prisma.Sql {
  return Prisma.sql`coalesce(robots.fresh_until > now() AND robots.domain = ${domain} AND robots.product_token = ${agent}, false)`;
}

/** One statement, so that exactly one of a hundred pages spends its slot on robots.txt. */
async function claim(db: Database, { origin, claimMs, ...reader }: RobotsLookup): Promise<boolean> {
  const claimed = await db.$executeRaw`
    INSERT INTO robots (origin, domain, claimed_until)
    VALUES (${origin}, ${reader.domain}, now() + ${claimMs} * interval '1 millisecond')
    ON CONFLICT (origin) DO UPDATE SET claimed_until = excluded.claimed_until
    WHERE coalesce(robots.claimed_until, '-infinity') <= now() AND coalesce(robots.retry_at, '-infinity') <= now()
      AND (NOT ${isFresh(reader)} OR robots.rules_id IS NULL)`;
  return claimed === 1;
}

/** Whether the last response had a robots.txt. */
export async function hasRobotsTxt(db: Database, origin: string): Promise<boolean> {
  const known = await db.robots.count({ where: { origin, body: { not: null } } });
  return known > 0;
}

/** Releases an unused claim. */
export async function releaseRobotsClaim(db: Database, origin: string): Promise<void> {
  await db.$executeRaw`UPDATE robots SET claimed_until = NULL WHERE origin = ${origin}`;
}

/** Extends the claim while the next hop of a redirected robots.txt waits for its slot. */
export async function extendRobotsClaim(db: Database, origin: string, claimMs: number): Promise<void> {
  await db.$executeRaw`
    UPDATE robots SET claimed_until = now() + ${claimMs} * interval '1 millisecond' WHERE origin = ${origin}`;
}

/**
 * If the rules or the limit of the Crawl-delay have changed, the old rules are kept too, up to a limit: they prove that each request
 * was allowed when it was sent.
 */
export async function saveRobotsRules(
  db: Database,
  origin: string,
  rules: RobotsReader & {
    body: string | null;
    statusCode: number | null;
    freshMs: number;
    /** The longest Crawl-delay that is honoured. */
    maxCrawlDelayMs: number;
  },
): Promise<void> {
  const { body, maxCrawlDelayMs } = rules;
  await db.$executeRaw`
    WITH same AS (
      SELECT kept.id FROM robots_rules kept JOIN robots current ON current.rules_id = kept.id
      WHERE current.origin = ${origin} AND kept.body IS NOT DISTINCT FROM ${body}
        AND kept.max_crawl_delay_ms = ${maxCrawlDelayMs}),
    new AS (
      INSERT INTO robots_rules (origin, body, max_crawl_delay_ms)
      SELECT ${origin}, ${body}, ${maxCrawlDelayMs}::int WHERE NOT EXISTS (SELECT 1 FROM same)
      RETURNING id),
    dropped AS (
      DELETE FROM robots_rules WHERE EXISTS (SELECT FROM new) AND id IN (${surplusVersions(origin, body)}))
    UPDATE robots SET body = ${body}, rules_id = (SELECT id FROM same UNION ALL SELECT id FROM new),
      domain = ${rules.domain}, product_token = ${rules.agent}, status_code = ${rules.statusCode}::int, error = NULL, fetched_at = now(),
      fresh_until = now() + ${rules.freshMs} * interval '1 millisecond', failures = 0, failing_since = NULL,
      retry_at = NULL, claimed_until = NULL
    WHERE origin = ${origin}`;
}

export interface RobotsBackoff {
  until: number;
  /** How long it has been unavailable, as far as it was tried. */
  failingForMs: number;
  /** Older rules are in force. */
  rulesKnown: boolean;
}

/** After a block, the page that retries may have to wait this long in its domain's queue. */
const MAX_QUEUED_MS = 3_600_000;

/**
 * Records a failure. The next try comes after a backoff that doubles up to its limit. A failure long after the last backoff, longer
 * than it takes to give a page up and than any block lasts, counts as the first: there was no try in between.
 */
export async function saveRobotsFailure(
  db: Database,
  origin: string,
  failure: {
    statusCode: number | null;
    error: string;
    retryMs: number;
    maxRetryMs: number;
    outageGiveUpMs: number;
    /** The longest Retry-After that is honoured. */
    maxBlockMs: number;
    /** This may repeat an earlier report of the same failure: if a backoff is running, keep it. */
    keepRunningBackoff?: true;
  },
): Promise<RobotsBackoff> {
  const running = failure.keepRunningBackoff && (await findRunningBackoff(db, origin));
  if (running) return toBackoff(running);
  const silence = Math.max(failure.outageGiveUpMs, failure.maxBlockMs + MAX_QUEUED_MS);
  const [row] = await db.$queryRaw<BackoffRow[]>`
    WITH earlier AS (
      SELECT origin, CASE WHEN retry_at > now() - ${silence} * interval '1 millisecond' THEN failures ELSE 0 END AS failures
      FROM robots WHERE origin = ${origin} FOR UPDATE)
    UPDATE robots SET status_code = ${failure.statusCode}::int, error = ${failure.error}, failures = earlier.failures + 1,
      failing_since = CASE WHEN earlier.failures > 0 THEN coalesce(failing_since, now()) ELSE now() END,
      claimed_until = NULL,
      retry_at = now() + least(${failure.maxRetryMs}::float8, ${failure.retryMs} * 2.0 ^ least(earlier.failures, 20)) * interval '1 millisecond'
    FROM earlier WHERE robots.origin = earlier.origin
    RETURNING retry_at, ${FAILING_FOR_MS} AS failing_for_ms, fetched_at`;
  return row ? toBackoff(row) : { until: Date.now() + failure.retryMs, failingForMs: 0, rulesKnown: false };
}

type BackoffRow = Pick<RobotsRow, 'retry_at' | 'failing_for_ms' | 'fetched_at'>;

async function findRunningBackoff(db: Database, origin: string): Promise<BackoffRow | undefined> {
  const [row] = await db.$queryRaw<BackoffRow[]>`
    SELECT retry_at, ${FAILING_FOR_MS} AS failing_for_ms, fetched_at
    FROM robots WHERE origin = ${origin} AND retry_at > now()`;
  return row;
}

function toBackoff({ retry_at, failing_for_ms, fetched_at }: BackoffRow): RobotsBackoff {
  return {
    until: retry_at?.getTime() ?? Date.now(),
    failingForMs: failing_for_ms,
    rulesKnown: fetched_at !== null,
  };
}
