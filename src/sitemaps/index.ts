export { announcedSitemaps } from './announced.ts';
export type { SitemapEntry, SitemapFormat } from './entry.ts';
export { looksLikeSitemap, mayBeSitemap } from './likeness.ts';
export { MAX_ENTRIES, readSitemap, type SitemapSource, type SitemapSummary } from './read.ts';
