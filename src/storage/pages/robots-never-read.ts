/** Pages that were given up because their site could not be connected to, before its robots.txt was ever read. */
import type { AttemptReport } from '../../core/attempt.ts';
import { originOf } from '../../urls/index.ts';
import type { Database } from '../database.ts';

/**
 * Without a robots.txt nothing is known to be allowed, so such a page ends as blocked, whether its site's connection or its
 * robots.txt was given up first.
 */
export async function blockedIfRobotsNeverRead(
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
