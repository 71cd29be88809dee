/**
 * Limits on how many hosts of a site, and ports of a host, a crawl lets in. The counts are exact: a transaction lets in all that
 * is new to it, counts it under the lock of its group, and takes back what is over the limit. Pages that find the same hosts
 * at the same moment wait for each other without a deadlock, because hosts are inserted in one order, and before their counts.
 */
import { mapInTurns } from '../../core/in-turns.ts';
import type { CrawlSettings } from '../../core/settings.ts';
import { type HostBound, hostBound, hostKey, portBound, type SkipReason } from '../../urls/index.ts';
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import type { Queries } from '../raw-sql.ts';

type Limits = Pick<CrawlSettings, 'traps'>;

interface Found<T> {
  crawlId: string;
  /** URL of the page or sitemap that has them. Its own host and port are known. */
  foundOn: string;
  pages: readonly T[];
  skip: (reason: SkipReason) => void;
}

/** The pages on hosts and ports that the crawl knows or lets in now. */
export async function withinHostBounds<T extends { url: string }>(
  tx: Queries,
  { traps }: Limits,
  { crawlId, foundOn, pages, skip }: Found<T>,
): Promise<T[]> {
  const keyed = await mapInTurns(pages, (page) => ({ page, key: hostKey(page.url) }));
  // By key, because a page may have thousands of links to one host, and it takes time to find the site of each.
  const urls = new Map(keyed.map(({ page, key }) => [key, page.url]));
  urls.delete(hostKey(foundOn));
  const boundsOf = (url: string) => ({ host: hostBound(url, traps), port: portBound(url, traps) });
  const bounds = new Map(await mapInTurns(urls, ([key, url]) => [key, boundsOf(url)] as const));
  const all = [...bounds.values()];
  const fresh = await findNewHosts(tx, crawlId, distinct(all.flatMap(({ host, port }) => [host, port])));
  const refused = await letIn(tx, crawlId, fresh, distinct(all.map(({ host }) => host)));
  const reachable = all.filter(({ host }) => host === null || !refused.has(host.host));
  for (const port of await letIn(tx, crawlId, fresh, distinct(reachable.map(({ port }) => port))))
    refused.add(port);
  return keyed.flatMap(({ page, key }) => {
    const { host = null, port = null } = bounds.get(key) ?? {};
    const over = [host, port].find((bound) => bound !== null && refused.has(bound.host));
    if (over) skip(over.reason);
    return over ? [] : [page];
  });
}

/** For a URL that is fetched without being a page. Returns why the crawl does not let its host or port in, or null. */
export async function letInHost(
  db: Database,
  settings: Limits,
  { crawlId, foundOn, url }: { crawlId: string; foundOn: string; url: string },
): Promise<SkipReason | null> {
  if (hostKey(url) === hostKey(foundOn)) return null;
  return db.inTransaction(async (tx) => {
    const reasons: SkipReason[] = [];
    const skip = (reason: SkipReason): void => void reasons.push(reason);
    await withinHostBounds(tx, settings, { crawlId, foundOn, pages: [{ url }], skip });
    return reasons[0] ?? null;
  });
}

function distinct(bounds: readonly (HostBound | null)[]): HostBound[] {
  return [...new Map(bounds.flatMap((bound) => (bound === null ? [] : [[bound.host, bound]]))).values()];
}

/** For seeds and their redirect targets, which are not counted: the user asked for them. */
export async function letInUncounted(
  tx: Queries,
  { traps }: Limits,
  crawlId: string,
  urls: readonly string[],
): Promise<void> {
  const bounds = distinct(urls.flatMap((url) => [hostBound(url, traps), portBound(url, traps)]));
  if (bounds.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO crawl_hosts (crawl_id, host)
    SELECT ${crawlId}, host FROM unnest(${bounds.map(({ host }) => host)}::text[]) AS host ORDER BY host
    ON CONFLICT DO NOTHING`;
}

/** By host or host with port; whether its group is full, which it then stays. */
type NewHosts = ReadonlyMap<string, boolean>;

/** Those that the crawl does not know. Subqueries in place of joins: planned as a join, all hosts of the crawl may be read. */
async function findNewHosts(tx: Queries, crawlId: string, bounds: readonly HostBound[]): Promise<NewHosts> {
  if (bounds.length === 0) return new Map();
  const rows = await tx.$queryRaw<{ host: string; is_full: boolean }[]>`
    SELECT host, coalesce((SELECT host_count FROM crawl_host_counts WHERE crawl_id = ${crawlId} AND group_name = met.group_name)
                          >= quota, false) AS is_full
    FROM ${met(bounds)}
    WHERE (SELECT true FROM crawl_hosts known WHERE known.crawl_id = ${crawlId} AND known.host = met.host) IS NULL`;
  return new Map(rows.map(({ host, is_full }) => [host, is_full]));
}

/** Lets in the new ones, and returns those over their limit. */
async function letIn(
  tx: Queries,
  crawlId: string,
  fresh: NewHosts,
  bounds: readonly HostBound[],
): Promise<Set<string>> {
  const entering = bounds.filter(({ host }) => fresh.get(host) === false);
  const full = bounds.filter(({ host }) => fresh.get(host) === true);
  const surplus = entering.length === 0 ? [] : await enter(tx, crawlId, entering);
  if (surplus.length > 0) await takeBack(tx, crawlId, surplus);
  return new Set([...full, ...surplus].map(({ host }) => host));
}

/** Returns those over the limit of their group, the ones found last. Those that another page let in meanwhile are not counted. */
async function enter(tx: Queries, crawlId: string, bounds: readonly HostBound[]): Promise<HostBound[]> {
  const rows = await tx.$queryRaw<{ nr: bigint }[]>`
    WITH met AS (SELECT * FROM ${met(bounds)}),
    entered AS (
      INSERT INTO crawl_hosts (crawl_id, host) SELECT ${crawlId}, host FROM met ORDER BY host
      ON CONFLICT DO NOTHING RETURNING host),
    counted AS (
      INSERT INTO crawl_host_counts (crawl_id, group_name, host_count)
      SELECT ${crawlId}, group_name, count(*)::int FROM met JOIN entered USING (host) GROUP BY group_name ORDER BY group_name
      ON CONFLICT (crawl_id, group_name) DO UPDATE SET host_count = crawl_host_counts.host_count + excluded.host_count
      RETURNING group_name, host_count)
    SELECT nr FROM (
      SELECT nr, host_count - quota AS surplus, row_number() OVER (PARTITION BY group_name ORDER BY nr DESC) AS nth_last
      FROM met JOIN entered USING (host) JOIN counted USING (group_name)) AS numbered
    WHERE nth_last <= surplus`;
  const numbers = new Set(rows.map(({ nr }) => Number(nr)));
  return bounds.filter((_, i) => numbers.has(i + 1));
}

async function takeBack(tx: Queries, crawlId: string, surplus: readonly HostBound[]): Promise<void> {
  await tx.$executeRaw`
    WITH removed AS (
      DELETE FROM crawl_hosts WHERE crawl_id = ${crawlId} AND host = ANY(${surplus.map(({ host }) => host)}::text[]))
    INSERT INTO crawl_host_counts (crawl_id, group_name, host_count)
    SELECT DISTINCT ${crawlId}, group_name, quota FROM ${met(surplus)}
    ON CONFLICT (crawl_id, group_name) DO UPDATE SET host_count = excluded.host_count`;
}

/** As a table, numbered from 1. */
function met(bounds: readonly HostBound[]): Prisma.Sql {
  return Prisma.sql`unnest(${bounds.map(({ host }) => host)}::text[], ${bounds.map(({ group }) => group)}::text[],
                           ${bounds.map(({ limit }) => limit)}::int[]) WITH ORDINALITY AS met (host, group_name, quota, nr)`;
}
