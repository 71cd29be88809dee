/** Cancelling a crawl, as far as the tables go: first nothing is admitted any more, then what has no workflow ends. */
import type { AdmittedPage } from '../../workflows/pages.ts';
import { ADMITTED_COLUMNS, type AdmittedRow, toAdmittedPage } from './admit.ts';
import type { Database } from './database.ts';

const MOST_AT_ONCE = 500;

export async function startCancelling(db: Database, crawlId: string): Promise<void> {
  await db.crawl.updateMany({
    where: { id: crawlId, status: { in: ['Running', 'Paused'] } },
    data: { status: 'Cancelling' },
  });
}

/** Ends every page that has no workflow to end it, and returns how many pages are still open. */
export async function cancelIdlePages(
  db: Database,
  crawlId: string,
  isRunning: (page: AdmittedPage) => Promise<boolean>,
): Promise<number> {
  await db.$executeRaw`
    UPDATE pages SET status = 'Cancelled', reason = 'the crawl was cancelled', next_at = NULL, updated_at = now()
    WHERE crawl_id = ${crawlId} AND status = 'Pending'`;
  const open = await db.$queryRaw<AdmittedRow[]>`
    SELECT ${ADMITTED_COLUMNS} FROM pages WHERE crawl_id = ${crawlId} AND status IN ('Queued', 'Waiting')
    LIMIT ${MOST_AT_ONCE}`;
  const checked = await Promise.all(
    open.map(async (row) => ({ id: row.id, running: await isRunning(toAdmittedPage(row)) })),
  );
  const gone = checked.filter((page) => !page.running).map((page) => page.id);
  if (gone.length > 0) {
    await db.$executeRaw`
      UPDATE pages SET status = 'Cancelled', reason = 'the crawl was cancelled', next_at = NULL, updated_at = now()
      WHERE id = ANY(${gone}::bigint[]) AND status IN ('Queued', 'Waiting')`;
  }
  return open.length - gone.length;
}
