/** Pages that were given up for want of a connection, and whether anybody ever had leave to fetch them. */
import type { AttemptReport } from '../../core/attempt.ts';
import { originOf } from '../../urls/index.ts';
import type { Database } from '../database.ts';

/**
 * Where robots.txt was never read nothing was ever allowed: such a page ends as blocked, whichever of its site's connection
 * and its robots.txt was given up first.
 */
export async function unlessNeverAllowed(
  db: Database,
  pageId: string,
  report: AttemptReport,
): Promise<AttemptReport> {
  if (report.errorKind !== 'down') return report;
  const { url } = await db.page.findUniqueOrThrow({ where: { id: BigInt(pageId) }, select: { url: true } });
  const known = await db.robots.count({ where: { origin: originOf(url), fetchedAt: { not: null } } });
  if (known > 0) return report;
  const error = `robots.txt was never read: ${report.error}`;
  return { ...report, outcome: 'BlockedRobots', errorKind: 'robots', error };
}
