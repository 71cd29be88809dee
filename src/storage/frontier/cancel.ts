/** Ending the pages of a crawl that is being cancelled, so that nothing more is admitted. */

import { OPEN_STATUSES } from '../../core/outcome.ts';
import type { AdmittedPage } from '../../core/page-input.ts';
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import { ADMITTED_COLUMNS, type AdmittedRow, refund, toAdmittedPage } from './admit.ts';

const MAX_CHECKED = 500;

const CANCELLED = Prisma.sql`
  status = 'Cancelled', reason = 'the crawl was cancelled', next_attempt_at = NULL, updated_at = now()`;

/**
 * Ends pages that have no workflow to end them, and returns how many are still open. They are counted last, because a page
 * that ends by itself may add links to the frontier until then.
 */
export async function cancelIdlePages(
  db: Database,
  crawlId: string,
  isRunning: (page: AdmittedPage) => Promise<boolean>,
): Promise<number> {
  await db.$executeRaw`
    UPDATE pages SET ${CANCELLED} WHERE crawl_id = ${crawlId} AND status = 'Pending'`;
  const open = await db.$queryRaw<AdmittedRow[]>`
    SELECT ${ADMITTED_COLUMNS} FROM pages WHERE crawl_id = ${crawlId} AND status IN ('Queued', 'Waiting')
    LIMIT ${MAX_CHECKED}`;
  const checked = await Promise.all(
    open.map(async (row) => ({ id: row.id, running: await isRunning(toAdmittedPage(row)) })),
  );
  await cancelAdmitted(
    db,
    crawlId,
    checked.filter((page) => !page.running).map((page) => page.id),
  );
  return db.page.count({ where: { crawlId, status: { in: [...OPEN_STATUSES] } } });
}

async function cancelAdmitted(db: Database, crawlId: string, ids: bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await db.inTransaction(async (tx) => {
    const cancelled = await tx.$queryRaw<{ kind: string }[]>`
      UPDATE pages SET ${CANCELLED} WHERE id = ANY(${ids}::bigint[]) AND status IN ('Queued', 'Waiting')
      RETURNING kind::text`;
    await refund(tx, crawlId, cancelled.filter(({ kind }) => kind === 'page').length);
  });
}
