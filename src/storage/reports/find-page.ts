/** Finds a page by its URL, as anybody may write it. */
import { normaliseUrl, urlHash } from '../../urls/index.ts';
import { toSettings } from '../crawls.ts';
import type { Database } from '../database.ts';

export interface FoundPage {
  id: bigint;
  /** Further crawls that have it. */
  alsoIn: string[];
}

/** Older ones are looked through only if they are named: each has its own rules for URLs, which must be read. */
const MAX_SEARCHED_CRAWLS = 500;

/** In the newest crawl that has it, unless one is given. null: no crawl has it. */
export async function findPage(
  db: Database,
  rawUrl: string,
  crawlId: string | undefined,
): Promise<FoundPage | null> {
  const names = await namesOf(db, rawUrl, crawlId);
  // Starts from the crawls, because the hash is indexed only together with its crawl.
  const found = await db.$queryRaw<{ id: bigint; crawl_id: string }[]>`
    SELECT page.id, page.crawl_id
    FROM unnest(${names.map(({ crawlId }) => crawlId)}::text[], ${names.map(({ hash }) => hash)}::text[])
         WITH ORDINALITY AS name (crawl_id, hash, place)
    JOIN pages page ON page.crawl_id = name.crawl_id AND page.url_hash = decode(name.hash, 'hex')
    ORDER BY name.place`;
  const rows = found.filter((row, at) => found.findIndex((one) => one.crawl_id === row.crawl_id) === at);
  const chosen = rows.find((row) => crawlId === undefined || row.crawl_id === crawlId);
  if (chosen === undefined) return null;
  return { id: chosen.id, alsoIn: rows.map((row) => row.crawl_id).filter((id) => id !== chosen.crawl_id) };
}

/**
 * The forms in which each crawl may have stored the URL, newest crawl first: normalised by its own rules, and, because the
 * target of a redirect is stored as it was sent, by the URL standard alone.
 */
async function namesOf(
  db: Database,
  rawUrl: string,
  given: string | undefined,
): Promise<{ crawlId: string; hash: string }[]> {
  const select = { id: true, settings: true } as const;
  const newest = await db.crawl.findMany({
    orderBy: { createdAt: 'desc' },
    take: MAX_SEARCHED_CRAWLS,
    select,
  });
  const isAmong = given === undefined || newest.some(({ id }) => id === given);
  const crawls = isAmong
    ? newest
    : [...newest, ...(await db.crawl.findMany({ where: { id: given }, select }))];
  return crawls.flatMap(({ id: crawlId, settings }) => {
    const { urls } = toSettings(settings);
    const names = [normaliseUrl(rawUrl, undefined, urls), normaliseUrl(rawUrl)];
    const hashes = names.flatMap((name) => (name.ok ? [Buffer.from(urlHash(name.url)).toString('hex')] : []));
    return [...new Set(hashes)].map((hash) => ({ crawlId, hash }));
  });
}
