/** The chain of redirects that a page is part of. */
import type { Database } from '../database.ts';

export interface ChainLink {
  url: string;
  /** Distance from the page in redirects: negative before it, positive after it. */
  step: number;
}

/** Some sites redirect all their old URLs to one page. */
const MAX_BEFORE = 20;

/** In order, without the page itself. [] if no redirect leads to it or away from it. */
export async function readChain(
  db: Database,
  page: { id: bigint; crawlId: string; url: string },
  maxRedirects: number,
): Promise<ChainLink[]> {
  // The last redirect is not followed, but its target is known.
  const farthest = maxRedirects + 1;
  const [before, after] = await Promise.all([
    db.$queryRaw<ChainLink[]>`
      WITH RECURSIVE back (id, url, step) AS (
        SELECT id, url, 0 FROM pages WHERE id = ${page.id}
        UNION ALL
        SELECT source.id, source.url, step - 1 FROM back JOIN pages source
          ON source.redirect_to = back.url AND source.crawl_id = ${page.crawlId}
        WHERE step > ${-farthest})
      SELECT url, step FROM back WHERE step < 0 ORDER BY step DESC, id LIMIT ${MAX_BEFORE}`,
    db.$queryRaw<ChainLink[]>`
      WITH RECURSIVE ahead (url, step) AS (
        SELECT redirect_to, 1 FROM pages WHERE id = ${page.id}
        UNION ALL
        SELECT next.redirect_to, step + 1 FROM ahead JOIN pages next
          ON next.crawl_id = ${page.crawlId} AND next.url_hash = sha256(convert_to(ahead.url, 'UTF8'))
        WHERE step < ${farthest})
      SELECT url, step FROM ahead WHERE url IS NOT NULL ORDER BY step`,
  ]);
  // A loop would repeat its pages.
  const seen = new Set([page.url]);
  const isNew = ({ url }: ChainLink): boolean => !seen.has(url) && Boolean(seen.add(url));
  return [...before.filter(isNew), ...after.filter(isNew)].sort((one, other) => one.step - other.step);
}
