/** What the rules of open crawls say of a URL that none of them has found. */
import { normaliseUrl, type SkipReason, skipReasonFor } from '../../urls/index.ts';
import { toSettings } from '../crawls.ts';
import type { Database } from '../database.ts';

export interface SkipRule {
  crawl: string;
  /** null: a link to it would be followed, as far as the URL alone decides that. */
  reason: SkipReason | null;
}

const MAX_CRAWLS = 5;

/** Of the newest crawls that have not ended. */
export async function readSkipRules(db: Database, rawUrl: string): Promise<SkipRule[]> {
  const crawls = await db.crawl.findMany({
    where: { finishedAt: null },
    orderBy: { createdAt: 'desc' },
    take: MAX_CRAWLS,
    select: { id: true, settings: true, scopeHosts: true, excluded: true },
  });
  return crawls.flatMap(({ id, settings: stored, scopeHosts, excluded }) => {
    const settings = toSettings(stored);
    const url = normaliseUrl(rawUrl, undefined, settings.urls);
    if (!url.ok) return [];
    const exclude = [...settings.exclude, ...excluded];
    return [{ crawl: id, reason: skipReasonFor(url.url, { ...settings, exclude, seedHosts: scopeHosts }) }];
  });
}
