/** The pages of a crawl with their attempts, a part at a time. */
import { BadInput } from '../../core/errors.ts';
import type { PageStatus } from '../../core/outcome.ts';
import { normaliseUrl } from '../../urls/index.ts';
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import { findPage } from './find-page.ts';

export interface PageFilter {
  status?: PageStatus | undefined;
  domain?: string | undefined;
  /** The hash of the last URL of the part before. */
  after?: Uint8Array | undefined;
}

const WITH_ATTEMPTS = { attempted: { orderBy: { attempt: 'asc' } } } as const;

/** Rows that one part looks at: however few of a crawl's pages are wanted, a part takes a tenth of a second. */
const MAX_LOOKED_AT = 10_000;

/**
 * In the order of the hashes of their URLs: there is an index for it, so that a later part costs the same as the first. `next`: where
 * the next part begins, even if this one has fewer than `limit`. null: there are no more.
 */
export async function listPages(
  db: Database,
  crawlId: string,
  { status, domain, after }: PageFilter,
  limit: number,
) {
  const lookAt = status === undefined && domain === undefined ? limit : MAX_LOOKED_AT;
  const found = await db.$queryRaw<{ id: bigint | null; url_hash: Uint8Array }[]>`
    WITH looked_at AS MATERIALIZED (
      SELECT id, url_hash, kind, status, domain FROM pages
      WHERE crawl_id = ${crawlId} AND url_hash > ${after ?? new Uint8Array()} ORDER BY url_hash LIMIT ${lookAt})
    (SELECT id, url_hash FROM looked_at
     WHERE kind = 'page' ${status === undefined ? Prisma.empty : Prisma.sql`AND status = ${status}::page_status`}
       ${domain === undefined ? Prisma.empty : Prisma.sql`AND domain = ${domain}`}
     ORDER BY url_hash LIMIT ${limit})
    UNION ALL
    SELECT NULL, url_hash FROM (SELECT url_hash FROM looked_at OFFSET ${lookAt - 1}) AS last`;
  const ids = found.flatMap(({ id }) => (id === null ? [] : [id]));
  const pages = await db.page.findMany({ where: { id: { in: ids } }, include: WITH_ATTEMPTS });
  const isFull = ids.length === limit;
  return {
    pages: pages.sort((one, other) => Buffer.compare(one.urlHash, other.urlHash)),
    next: (isFull ? found[limit - 1] : found.find(({ id }) => id === null))?.url_hash ?? null,
  };
}

export type ListedPage = Awaited<ReturnType<typeof listPages>>['pages'][number];

/** From the newest crawl that has it, unless one is given. null: no crawl has it. Throws BadInput if it is not a URL. */
export async function findListedPage(
  db: Database,
  rawUrl: string,
  crawlId: string | undefined,
): Promise<ListedPage | null> {
  const normalised = normaliseUrl(rawUrl);
  if (!normalised.ok) throw new BadInput(`Invalid URL: ${normalised.reason}.`);
  const found = await findPage(db, rawUrl, crawlId);
  return found && db.page.findUnique({ where: { id: found.id }, include: WITH_ATTEMPTS });
}
