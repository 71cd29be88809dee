/** What a page contains and what it is linked with. */
import type { Database } from '../database.ts';

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
}

const MAX_LINKS = 100;

export async function readPageContent(db: Database, pageId: bigint): Promise<PageContent | null> {
  const [page, linksOut] = await Promise.all([
    db.page.findUnique({
      where: { id: pageId },
      select: {
        ...{ title: true, description: true, canonicalUrl: true, language: true, contentType: true },
        ...{ contentHash: true, contentBytes: true, duplicateOfId: true, foundOnId: true },
        ...{ linksFound: true, linksSkipped: true },
      },
    }),
    db.link.findMany({
      where: { pageId },
      select: { url: true, anchor: true, rel: true },
      orderBy: [{ pageId: 'asc' }, { urlHash: 'asc' }],
      take: MAX_LINKS,
    }),
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
  };
}

async function readUrls(db: Database, ids: readonly (bigint | null)[]): Promise<Map<bigint | null, string>> {
  const pages = await db.page.findMany({
    where: { id: { in: ids.filter((id) => id !== null) } },
    select: { id: true, url: true },
  });
  return new Map(pages.map(({ id, url }) => [id, url]));
}
