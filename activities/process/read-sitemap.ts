/** readSitemap: the entries of a stored sitemap enter the frontier in batches; only their number goes to a history. */
import { Context } from '@temporalio/activity';
import type { Activities, SitemapInput, SitemapResult } from '../../src/core/activities.ts';
import { MAX_SITEMAP_BYTES, readSitemap as read } from '../../src/sitemaps/index.ts';
import { registerSitemapEntries } from '../../src/storage/frontier/register-sitemap-entries.ts';
import { type SkipCounts, sumSkips } from '../../src/urls/index.ts';
import type { Deps } from '../deps.ts';
import { toPageFault } from '../errors.ts';

export function createReadSitemap(deps: Deps): Activities['readSitemap'] {
  return async function readSitemap(input) {
    try {
      return await readIntoFrontier(deps, input);
    } catch (error) {
      throw toPageFault(deps, error, {
        stage: 'ParseFault',
        sentence: 'The sitemap could not be read',
        log: { message: 'could not read a sitemap', url: input.url },
      });
    }
  };
}

async function readIntoFrontier(
  { config, db, store, crawlOf }: Deps,
  { crawlId, pageId, url, contentHash, contentType }: SitemapInput,
): Promise<SitemapResult> {
  const { settings } = await crawlOf(crawlId);
  const context = Context.current();
  const source = { url, contentType, maxBytes: MAX_SITEMAP_BYTES };
  let skipped: SkipCounts = {};
  const { format, entries, tooLong, cut } = await read(store.stream(contentHash), source, async (batch) => {
    context.cancellationSignal.throwIfAborted();
    const registered = await registerSitemapEntries(db, {
      settings,
      unit: config.politenessKey,
      pageId,
      entries: batch,
    });
    skipped = sumSkips(skipped, registered);
    context.heartbeat();
  });
  if (format === null) return { ok: false, reason: 'Not a sitemap in a known format.' };
  if (tooLong > 0) skipped = sumSkips(skipped, { 'too long': tooLong });
  const remark = cut ? 'Broken or too large: its end was not read.' : null;
  return { ok: true, counts: { entries, skipped }, remark };
}
