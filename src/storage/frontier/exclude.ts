/** Excludes URLs from a crawl that runs. */
import { formatCount, formatPlural } from '../../core/format.ts';
import type { OperatorOrder } from '../../core/order.ts';
import type { Database } from '../database.ts';
import { isMatch, rejectedFor } from '../excluded-by.ts';
import { Prisma } from '../generated/client.ts';
import { insertOrder } from '../orders.ts';
import type { Queries } from '../raw-sql.ts';
import { countPages } from '../reports/counts.ts';

export interface ExcludePreview {
  /** Pages of those compared that would be rejected. */
  matching: number;
  /** Pending pages that were compared with the pattern: all, up to 50,000. */
  compared: number;
  /** All pending pages of the crawl. */
  pending: number;
  examples: string[];
}

const MAX_EXAMPLES = 20;

/** More would take longer than a person wants to wait for a preview. */
const MAX_COMPARED = 50_000;

/** Each page of the crawl is compared with all of them before it is fetched. */
export const MAX_EXCLUDED = 100;

/** Pages that one statement looks at: a moment, even if all of them match. */
const BATCH = 5_000;

function matches(pattern: string): Prisma.Sql {
  return isMatch(Prisma.sql`url`, Prisma.sql`${pattern}::text`);
}

export async function previewExclude(
  db: Database,
  crawlId: string,
  pattern: string,
): Promise<ExcludePreview> {
  const [counted] = await db.$queryRaw<{ matching: number; compared: number; examples: string[] }[]>`
    WITH page AS MATERIALIZED (
      SELECT url, ${matches(pattern)} AS hit FROM pages
      WHERE crawl_id = ${crawlId} AND status = 'Pending' AND kind = 'page' LIMIT ${MAX_COMPARED})
    SELECT count(*) FILTER (WHERE hit)::int AS matching, count(*)::int AS compared,
           ARRAY(SELECT url FROM page WHERE hit LIMIT ${MAX_EXAMPLES}) AS examples FROM page`;
  const { matching = 0, compared = 0, examples = [] } = counted ?? {};
  const pending = compared < MAX_COMPARED ? compared : ((await countPages(db, crawlId)).pages.Pending ?? 0);
  return { matching, compared, pending, examples: examples.sort() };
}

/** Of those pages that were compared, in words. */
export function describePreview({ matching, compared, pending }: ExcludePreview): string {
  const all = `${formatCount(matching)} of ${formatPlural(pending, 'pending page')}`;
  return compared < pending ? `at least ${all} (${formatCount(compared)} were compared)` : all;
}

export type ExcludeResult = 'excluded' | 'unknown-crawl' | 'ended' | 'too-many';

/** From now on links that match are skipped, and pages that match stop at their next slot. */
export async function addExcluded(
  db: Database,
  crawlId: string,
  order: OperatorOrder,
  pattern: string,
): Promise<ExcludeResult> {
  return db.inTransaction(async (tx) => {
    const [crawl] = await tx.$queryRaw<{ open: boolean; excluded: string[] }[]>`
      SELECT status IN ('Running', 'Paused') AS open, excluded FROM crawls WHERE id = ${crawlId} FOR NO KEY UPDATE`;
    if (crawl === undefined) return 'unknown-crawl';
    if (!crawl.open) return 'ended';
    const isNew = !crawl.excluded.includes(pattern);
    if (isNew && crawl.excluded.length >= MAX_EXCLUDED) return 'too-many';
    if (isNew)
      await tx.$executeRaw`UPDATE crawls SET excluded = array_append(excluded, ${pattern}) WHERE id = ${crawlId}`;
    await tx.$executeRaw(insertOrder(order, { crawlId, domain: null }, Prisma.sql`${effectOf(pattern, 0)}`));
    return 'excluded';
  });
}

/** Rejects the pending pages that match, and returns how many. Those that are found or admitted meanwhile stop by themselves. */
export async function rejectPending(
  db: Database,
  crawlId: string,
  { id: orderId }: OperatorOrder,
  pattern: string,
): Promise<number> {
  let rejected = 0;
  const record = async (tx: Queries, more: number): Promise<void> => {
    if (more === 0) return;
    await tx.$executeRaw`UPDATE orders SET effect = ${effectOf(pattern, rejected + more)} WHERE id = ${orderId}`;
  };
  for (let after: Place | null = FIRST; after !== null; ) {
    const from: Place = after;
    const batch = await db.inTransaction(async (tx) => {
      const done = await rejectReady(tx, crawlId, pattern, from);
      await record(tx, done.rejected);
      return done;
    });
    rejected += batch.rejected;
    after = batch.last;
  }
  for (let more = BATCH; more === BATCH; ) {
    more = await db.inTransaction(async (tx) => {
      const deferred = await rejectDeferred(tx, crawlId, pattern);
      await record(tx, deferred);
      return deferred;
    });
    rejected += more;
  }
  return rejected;
}

function effectOf(pattern: string, rejected: number): string {
  return `${pattern} excluded, ${rejected} pending ${rejected === 1 ? 'page' : 'pages'} rejected`;
}

/** Of a page in the order of admission. */
interface Place {
  domain: string;
  priority: number;
  rank: number;
  id: bigint;
}

const FIRST: Place = { domain: '', priority: 0, rank: 0, id: 0n };

/** In the order of the index of pages that are due: however few match, each is looked at once. */
async function rejectReady(
  tx: Queries,
  crawlId: string,
  pattern: string,
  after: Place,
): Promise<{ rejected: number; last: Place | null }> {
  const [done] = await tx.$queryRaw<(Place & { rejected: number })[]>`
    WITH batch AS MATERIALIZED (
      SELECT id, url, domain, priority, rank FROM pages
      WHERE crawl_id = ${crawlId} AND status = 'Pending' AND next_attempt_at IS NULL AND kind = 'page'
        AND (domain, priority, rank, id) > (${after.domain}, ${after.priority}, ${after.rank}, ${after.id})
      ORDER BY domain, priority, rank, id LIMIT ${BATCH}),
    rejected AS (
      UPDATE pages SET ${rejectedFor(pattern)}
      WHERE id = ANY(ARRAY(SELECT id FROM batch WHERE ${matches(pattern)})) AND status = 'Pending'
      RETURNING 1)
    SELECT domain, priority, rank, id, (SELECT count(*) FROM rejected)::int AS rejected
    FROM batch ORDER BY domain DESC, priority DESC, rank DESC, id DESC LIMIT 1`;
  return { rejected: done?.rejected ?? 0, last: done ?? null };
}

/** Pages that wait for another attempt. There are few, apart from an outage. */
async function rejectDeferred(tx: Queries, crawlId: string, pattern: string): Promise<number> {
  return tx.$executeRaw`
    UPDATE pages SET ${rejectedFor(pattern)}
    WHERE status = 'Pending' AND id = ANY(ARRAY(
      SELECT id FROM pages WHERE crawl_id = ${crawlId} AND status = 'Pending' AND next_attempt_at IS NOT NULL AND kind = 'page'
        AND ${matches(pattern)} LIMIT ${BATCH}))`;
}
