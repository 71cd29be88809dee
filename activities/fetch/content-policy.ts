/** What a request asks for and which content of the response is kept. */
import type { CrawlSettings, FetchLimits } from '../../src/core/settings.ts';
import { isHtmlType, matchesType } from '../../src/http/index.ts';
import { MAX_SITEMAP_BYTES, mayBeSitemap } from '../../src/sitemaps/index.ts';

export interface ContentPolicy {
  accept: string;
  limits: FetchLimits;
  /** A document is parsed, a file is only stored; null: neither. */
  kindOf(type: string): 'document' | 'file' | null;
  /** The reason for rejecting another type. */
  rejection(type: string): string;
}

export function contentPolicyFor(settings: CrawlSettings, { sitemap }: { sitemap: boolean }): ContentPolicy {
  return sitemap ? sitemapPolicy(settings) : pagePolicy(settings);
}

function pagePolicy({ fetch, keepTypes }: CrawlSettings): ContentPolicy {
  return {
    accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1',
    limits: fetch,
    kindOf(type) {
      if (isHtmlType(type)) return 'document';
      return matchesType(type, keepTypes) ? 'file' : null;
    },
    rejection: (type) => `Not a page but ${type}; --keep-types keeps such files.`,
  };
}

function sitemapPolicy({ fetch }: CrawlSettings): ContentPolicy {
  return {
    accept: 'application/xml,text/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5',
    limits: { ...fetch, maxBodyBytes: MAX_SITEMAP_BYTES },
    kindOf: (type) => (mayBeSitemap(type) ? 'document' : null),
    rejection: (type) => `Not a sitemap but ${type}.`,
  };
}
