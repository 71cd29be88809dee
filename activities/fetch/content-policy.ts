/** What a request asks for, and what is taken for an answer to it. */

import type { CrawlSettings, FetchLimits } from '../../src/core/settings.ts';
import { isHtmlType, matchesType } from '../../src/http/index.ts';
import { MAX_SITEMAP_BYTES, mayBeSitemap } from '../../src/sitemaps/index.ts';

export interface Wanted {
  accept: string;
  limits: FetchLimits;
  /** A document is read further, a file only kept; null: not wanted. */
  kindOf(type: string): 'document' | 'file' | null;
  /** Says so of what came instead. */
  refusal(what: string): string;
}

export function wantedOf(settings: CrawlSettings, { sitemap }: { sitemap: boolean }): Wanted {
  return sitemap ? wantedOfSitemap(settings) : wantedOfPage(settings);
}

function wantedOfPage({ fetch, keepTypes }: CrawlSettings): Wanted {
  return {
    accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1',
    limits: fetch,
    kindOf(type) {
      if (isHtmlType(type)) return 'document';
      return matchesType(type, keepTypes) ? 'file' : null;
    },
    refusal: (what) => `Not a page but ${what}; --keep-types keeps such files.`,
  };
}

function wantedOfSitemap({ fetch }: CrawlSettings): Wanted {
  return {
    accept: 'application/xml,text/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5',
    limits: { ...fetch, maxBodyBytes: MAX_SITEMAP_BYTES },
    kindOf: (type) => (mayBeSitemap(type) ? 'document' : null),
    refusal: (what) => `Not a sitemap but ${what}.`,
  };
}
