/** readSitemap: the entries of a stored sitemap enter the frontier, a batch at a time; only their number goes to a history. */
import { Context } from '@temporalio/activity';
import type { ParsedRef } from '../../src/core/attempt.ts';
import type { ParsedDocument } from '../../src/html/index.ts';
import { MAX_SITEMAP_BYTES, readSitemap as read, type SitemapFormat } from '../../src/sitemaps/index.ts';
import { registerEntries } from '../../src/storage/frontier/register-sitemap-entries.ts';
import { type SkipCounts, sumSkips } from '../../src/urls/index.ts';
import type { Deps } from '../deps.ts';
import { orPoison } from '../errors.ts';
import type { ParseInput } from './parse-page.ts';

/** `remark`: what the page's row should say of it. */
export type SitemapRead =
  | { ok: true; parsed: ParsedRef; remark: string | null }
  | { ok: false; reason: string };

/** A sitemap as it stands in the content store. */
export interface StoredSitemap extends ParsedDocument {
  sitemap: { format: SitemapFormat; cut: boolean; skipped: SkipCounts };
}

/** A sitemap says nothing of itself. Its entries are no links of it: `pages.found_on` says where each came from. */
const NO_PAGE: ParsedDocument = {
  title: null,
  language: null,
  detectedLanguage: null,
  description: null,
  canonical: null,
  headings: [],
  text: '',
  refreshTo: null,
  noindex: false,
  nofollow: false,
  links: [],
  linksFound: 0,
  linksTooLong: 0,
};

type SitemapInput = Omit<ParseInput, 'contentLanguage'> & { pageId: string };

export function makeReadSitemap(deps: Deps) {
  return async function readSitemap(input: SitemapInput): Promise<SitemapRead> {
    try {
      return await readIntoFrontier(deps, input);
    } catch (error) {
      throw orPoison(deps, error, {
        verdict: 'Unparsable',
        sentence: 'The sitemap could not be read',
        log: { message: 'a sitemap could not be read', url: input.url },
      });
    }
  };
}

async function readIntoFrontier(
  { config, db, store, crawlOf }: Deps,
  { crawlId, pageId, url, contentHash, contentType }: SitemapInput,
): Promise<SitemapRead> {
  const { settings } = await crawlOf(crawlId);
  const context = Context.current();
  const source = { url, contentType, maxBytes: MAX_SITEMAP_BYTES };
  let skipped: SkipCounts = {};
  const { format, entries, tooLong, cut } = await read(store.stream(contentHash), source, async (batch) => {
    context.cancellationSignal.throwIfAborted();
    const listed = { settings, unit: config.politenessKey, pageId, entries: batch };
    skipped = sumSkips(skipped, await registerEntries(db, listed));
    context.heartbeat();
  });
  if (format === null) return { ok: false, reason: 'Not a sitemap in any format that is read.' };
  if (tooLong > 0) skipped = sumSkips(skipped, { 'too long': tooLong });
  const parsed: StoredSitemap = { ...NO_PAGE, linksFound: entries, sitemap: { format, cut, skipped } };
  const hash = await store.put(Buffer.from(JSON.stringify(parsed)), { derived: true });
  const remark = cut ? 'Broken, or longer than a sitemap may be: its end was not read.' : null;
  return { ok: true, parsed: { hash, title: null }, remark };
}
