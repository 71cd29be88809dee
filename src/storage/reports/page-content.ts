/** What a page contains and what it is linked with. */
import type { Database } from '../database.ts';
import type { Page } from '../generated/client.ts';

export interface PageContent {
  title: string | null;
  description: string | null;
  canonicalUrl: string | null;
  language: string | null;
  contentType: string | null;
  /** Its key in the content store. */
  contentHash: string | null;
  contentBytes: number | null;
  /** The first page of the crawl with the same content. */
  duplicateOf: string | null;
  /** The page on which the crawl found it first. */
  foundOn: string | null;
  linksFound: number;
  /** By reason, those that did not become pages. */
  linksSkipped: Record<string, number>;
  /** The first of its links. */
  linksOut: { url: string; anchor: string | null; rel: string | null }[];
  /** Pages of the same crawl that link to it; its start page may have more than are listed. */
  linksIn: { url: string; anchor: string | null }[];
  /** More links lead to it than were compared, so that some of this crawl may be missing. */
  moreLinksIn: boolean;
}

const MAX_LINKS = 100;

/** Links of all crawls that are compared to find those of this one. */
export const MAX_COMPARED = 1_000;

export async function readPageContent(
  db: Database,
  { id, crawlId, urlHash }: Pick<Page, 'id' | 'crawlId' | 'urlHash'>,
): Promise<PageContent | null> {
  const [page, linksOut, linksIn] = await Promise.all([
    db.page.findUnique({
      where: { id },
      select: {
        ...{ title: true, description: true, canonicalUrl: true, language: true, contentType: true },
        ...{ contentHash: true, contentBytes: true, duplicateOfId: true, foundOnId: true },
        ...{ linksFound: true, linksSkipped: true },
      },
    }),
    db.link.findMany({
      where: { pageId: id },
      select: { url: true, anchor: true, rel: true },
      orderBy: [{ pageId: 'asc' }, { urlHash: 'asc' }],
      take: MAX_LINKS,
    }),
    db.$queryRaw<{ compared: number; url: string | null; anchor: string | null }[]>`
      WITH link AS MATERIALIZED (
        SELECT page_id, anchor FROM links WHERE url_hash = ${urlHash} LIMIT ${MAX_COMPARED})
      SELECT (SELECT count(*) FROM link)::int AS compared, found.url, found.anchor
      FROM (VALUES (1)) AS always LEFT JOIN LATERAL (
        SELECT page.url, link.anchor
        FROM link JOIN pages page ON page.id = link.page_id AND page.crawl_id = ${crawlId}
        LIMIT ${MAX_LINKS}) AS found ON true`,
  ]);
  if (page === null) return null;
  const { duplicateOfId, foundOnId, linksSkipped, ...shown } = page;
  const urls = await readUrls(db, [duplicateOfId, foundOnId]);
  return {
    ...shown,
    duplicateOf: urls.get(duplicateOfId) ?? null,
    foundOn: urls.get(foundOnId) ?? null,
    // As record-attempt.ts wrote it.
    linksSkipped: (linksSkipped ?? {}) as Record<string, number>,
    linksOut,
    linksIn: linksIn.flatMap(({ url, anchor }) => (url === null ? [] : [{ url, anchor }])),
    moreLinksIn: linksIn[0]?.compared === MAX_COMPARED,
  };
}

async function readUrls(db: Database, ids: readonly (bigint | null)[]): Promise<Map<bigint | null, string>> {
  const pages = await db.page.findMany({
    where: { id: { in: ids.filter((id) => id !== null) } },
    select: { id: true, url: true },
  });
  return new Map(pages.map(({ id, url }) => [id, url]));
}
