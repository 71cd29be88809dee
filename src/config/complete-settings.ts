/** Crawls that an earlier version opened lack the settings that came later: those are what they are by default. */
import { z } from 'zod';
import type { CrawlSettings } from '../core/settings.ts';
import { CRAWL_DEFAULTS, crawlShape, toCrawlSettings } from './crawl-schema.ts';
import { parseLayers } from './layers.ts';

const defaults = toCrawlSettings(
  parseLayers(z.strictObject(crawlShape), [
    { values: CRAWL_DEFAULTS, call: (path) => `the default of "${path.join('.')}"` },
  ]),
);

/** As JSON kept them: any field may be missing, and any field of its groups. */
export type StoredSettings = Partial<{
  [K in keyof CrawlSettings]: K extends Group ? Partial<CrawlSettings[K]> : CrawlSettings[K];
}>;

type Group = 'warmup' | 'retry' | 'fetch' | 'urls' | 'traps';

export function completeSettings(stored: StoredSettings): CrawlSettings {
  return {
    ...defaults,
    ...stored,
    warmup: { ...defaults.warmup, ...stored.warmup },
    retry: { ...defaults.retry, ...stored.retry },
    fetch: { ...defaults.fetch, ...stored.fetch },
    urls: { ...defaults.urls, ...stored.urls },
    traps: { ...defaults.traps, ...stored.traps },
  };
}
