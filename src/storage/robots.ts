/** The stored robots.txt of each origin, and who is fetching it right now. */
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';

export type StoredRobots =
  /** Rules to go by. `body` null: the origin has no robots.txt, so all is allowed. */
  | { kind: 'rules'; body: string | null; fetchedAt: number; rulesId: string }
  /** This caller shall fetch it now: nobody else will until the claim runs out. */
  | { kind: 'claimed' }
  /** Nobody may go on before `until`: another fetches it, or it could not be reached. */
  | { kind: 'held'; until: number; why: string; beingFetched: boolean; failingForMs: number };

interface RobotsRow {
  body: string | null;
  rules_id: bigint | null;
  fetched_at: Date | null;
  fresh: boolean;
  retry_at: Date | null;
  claimed_until: Date | null;
  failing_for_ms: number;
  error: string | null;
}

/** For whom rules are read: whose throttle hears of their Crawl-delay, and the product token that they are searched for. */
export interface Reader {
  domain: string;
  agent: string;
}

export interface Consultation extends Reader {
  origin: string;
  claimMs: number;
  /** Rules that are known are wanted whatever their age. */
  oldRulesDo?: boolean;
}

/**
 * Looks the rules up, and claims the fetch of them where it is due: where they are old, or were read for another domain or
 * under another name. Until others are known they hold, while a refresh fails or runs.
 */
export async function consultRobots(db: Database, asked: Consultation): Promise<StoredRobots> {
  const { origin, oldRulesDo = false } = asked;
  const row = await readRow(db, origin, asked);
  const known = row && (row.fresh || oldRulesDo) ? rulesIn(row) : null;
  if (known) return known;
  if (await claim(db, asked)) return { kind: 'claimed' };
  const now = await readRow(db, origin, asked);
  const stale = now ? rulesIn(now) : null;
  if (stale) return stale;
  const held = now?.retry_at?.getTime() ?? 0;
  const claimed = now?.claimed_until?.getTime() ?? 0;
  return {
    kind: 'held',
    until: Math.max(held, claimed),
    why:
      held > claimed
        ? `robots.txt of ${origin}: ${now?.error ?? 'not reached'}`
        : `robots.txt of ${origin} is being fetched`,
    beingFetched: held <= claimed,
    failingForMs: now?.failing_for_ms ?? 0,
  };
}

function rulesIn({ body, fetched_at, rules_id }: RobotsRow): Extract<StoredRobots, { kind: 'rules' }> | null {
  if (fetched_at === null || rules_id === null) return null;
  return { kind: 'rules', body, fetchedAt: fetched_at.getTime(), rulesId: rules_id.toString() };
}

async function readRow(db: Database, origin: string, reader: Reader): Promise<RobotsRow | undefined> {
  const [row] = await db.$queryRaw<RobotsRow[]>`
    SELECT body, rules_id, fetched_at, ${isFresh(reader)} AS fresh, retry_at, claimed_until, error,
           ${FAILING_FOR_MS} AS failing_for_ms
    FROM robots WHERE origin = ${origin}`;
  return row;
}

const FAILING_FOR_MS = Prisma.sql`coalesce(extract(epoch FROM now() - failing_since) * 1000, 0)::float8`;

function isFresh({ domain, agent }: Reader): Prisma.Sql {
  return Prisma.sql`coalesce(robots.fresh_until > now() AND robots.domain = ${domain} AND robots.product_token = ${agent}, false)`;
}

/** One statement, so that of a hundred cold pages exactly one spends its slot on robots.txt. */
async function claim(db: Database, { origin, claimMs, ...reader }: Consultation): Promise<boolean> {
  const claimed = await db.$executeRaw`
    INSERT INTO robots (origin, domain, claimed_until)
    VALUES (${origin}, ${reader.domain}, now() + ${claimMs} * interval '1 millisecond')
    ON CONFLICT (origin) DO UPDATE SET claimed_until = excluded.claimed_until
    WHERE coalesce(robots.claimed_until, '-infinity') <= now() AND coalesce(robots.retry_at, '-infinity') <= now()
      AND (NOT ${isFresh(reader)} OR robots.rules_id IS NULL)`;
  return claimed === 1;
}

/** Whether the origin was ever seen to have one, as far as its last answer tells. */
export async function knowsRobots(db: Database, origin: string): Promise<boolean> {
  const known = await db.robots.count({ where: { origin, body: { not: null } } });
  return known > 0;
}

/** Gives a claim back unused. */
export async function unclaimRobots(db: Database, origin: string): Promise<void> {
  await db.$executeRaw`UPDATE robots SET claimed_until = NULL WHERE origin = ${origin}`;
}

/** Keeps the claim alive while the next hop of a redirected robots.txt waits for its slot. */
export async function extendClaim(db: Database, origin: string, claimMs: number): Promise<void> {
  await db.$executeRaw`
    UPDATE robots SET claimed_until = now() + ${claimMs} * interval '1 millisecond' WHERE origin = ${origin}`;
}

/** Rules that changed, or of whose Crawl-delay more or less is heeded, are kept beside those they replace, for the proof that each request was allowed when it was made. */
export async function saveRules(
  db: Database,
  origin: string,
  rules: Reader & {
    body: string | null;
    statusCode: number | null;
    freshMs: number;
    /** What is heeded of a Crawl-delay at most. */
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
      RETURNING id)
    UPDATE robots SET body = ${body}, rules_id = (SELECT id FROM same UNION ALL SELECT id FROM new),
      domain = ${rules.domain}, product_token = ${rules.agent}, status_code = ${rules.statusCode}::int, error = NULL, fetched_at = now(),
      fresh_until = now() + ${rules.freshMs} * interval '1 millisecond', failures = 0, failing_since = NULL,
      retry_at = NULL, claimed_until = NULL
    WHERE origin = ${origin}`;
}

export interface Hold {
  until: number;
  /** How long it has been out of reach, as far as anybody has tried. */
  failingForMs: number;
  /** There are rules of before, which hold on. */
  rulesKnown: boolean;
}

/** After a block its domain's line has to come to the page that tries. */
const LONGEST_IN_LINE_MS = 3_600_000;

/**
 * Records a failed try; nobody tries again before the hold, which doubles up to its cap, is over. A failure so long
 * after the last hold that all would have been given up in between, and that no block explains, is the first of a new row:
 * nobody has tried.
 */
export async function saveUnreachable(
  db: Database,
  origin: string,
  failure: {
    statusCode: number | null;
    error: string;
    retryMs: number;
    maxRetryMs: number;
    outageGiveUpMs: number;
    /** For so long a site may keep everybody away by its own Retry-After. */
    longestBlockMs: number;
    /** It may be the same failure told again: where there is a hold already, that one stands. */
    unlessHeld?: true;
  },
): Promise<Hold> {
  const standing = failure.unlessHeld && (await standingHold(db, origin));
  if (standing) return holdIn(standing);
  const silence = Math.max(failure.outageGiveUpMs, failure.longestBlockMs + LONGEST_IN_LINE_MS);
  const [row] = await db.$queryRaw<HeldRow[]>`
    WITH earlier AS (
      SELECT origin, CASE WHEN retry_at > now() - ${silence} * interval '1 millisecond' THEN failures ELSE 0 END AS failures
      FROM robots WHERE origin = ${origin} FOR UPDATE)
    UPDATE robots SET status_code = ${failure.statusCode}::int, error = ${failure.error}, failures = earlier.failures + 1,
      failing_since = CASE WHEN earlier.failures > 0 THEN coalesce(failing_since, now()) ELSE now() END,
      claimed_until = NULL,
      retry_at = now() + least(${failure.maxRetryMs}::float8, ${failure.retryMs} * 2.0 ^ least(earlier.failures, 20)) * interval '1 millisecond'
    FROM earlier WHERE robots.origin = earlier.origin
    RETURNING retry_at, ${FAILING_FOR_MS} AS failing_for_ms, fetched_at`;
  return row ? holdIn(row) : { until: Date.now() + failure.retryMs, failingForMs: 0, rulesKnown: false };
}

type HeldRow = Pick<RobotsRow, 'retry_at' | 'failing_for_ms' | 'fetched_at'>;

async function standingHold(db: Database, origin: string): Promise<HeldRow | undefined> {
  const [row] = await db.$queryRaw<HeldRow[]>`
    SELECT retry_at, ${FAILING_FOR_MS} AS failing_for_ms, fetched_at
    FROM robots WHERE origin = ${origin} AND retry_at > now()`;
  return row;
}

function holdIn({ retry_at, failing_for_ms, fetched_at }: HeldRow): Hold {
  return {
    until: retry_at?.getTime() ?? Date.now(),
    failingForMs: failing_for_ms,
    rulesKnown: fetched_at !== null,
  };
}
