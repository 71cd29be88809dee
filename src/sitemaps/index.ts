export { announcedSitemaps, looksLikeSitemap, mayBeSitemap } from './detect.ts';
export type { SitemapEntry, SitemapFormat } from './entry.ts';
export {
  MAX_ENTRIES,
  MAX_SITEMAP_BYTES,
  readSitemap,
  type SitemapSource,
  type SitemapSummary,
} from './read.ts';
