/** How long a crawl has known a page. What a site did before that is no reason to give the page up: nobody asked for it then. */
import type { Database } from '../database.ts';

/** 0 for a page that is not there. */
export async function knownForMs(db: Database, pageId: string): Promise<number> {
  const [row] = await db.$queryRaw<{ ms: number }[]>`
    SELECT (extract(epoch FROM now() - created_at) * 1000)::float8 AS ms FROM pages WHERE id = ${BigInt(pageId)}`;
  return row?.ms ?? 0;
}
