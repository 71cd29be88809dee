/**
 * Presets: ways to crawl that people asked for, by name, as they would be written in the config file. Each preset sets every
 * key that a preset may set, so that it replaces another one completely.
 */
import type { CrawlSettings } from '../core/settings.ts';

/** What a preset decides. The other settings depend on the goal of a crawl or on where it runs. */
type Policy = Record<
  keyof Pick<
    CrawlSettings,
    'scope' | 'delay' | 'order' | 'concurrency' | 'targetConcurrency' | 'urlTypes' | 'retry'
  >,
  unknown
>;

/** Personal sites on small servers: patience above all. */
const smallweb = {
  scope: 'site',
  delay: '10s',
  order: 'first-come',
  concurrency: 1,
  targetConcurrency: 'none',
  urlTypes: 'none',
  retry: {
    initialInterval: '1h',
    backoffCoefficient: 1,
    maximumAttempts: 3,
    maximumInterval: '1d',
    jitter: '0s',
  },
} satisfies Policy;

/** Types by the start of a path segment or of a parameter. Patterns begin with `/`, so that the host is never compared. */
const inPath = (name: string, priority: number, ...pieces: string[]) =>
  pieces.flatMap((piece) => [`/${piece}`, `/*/${piece}`]).map((pattern) => ({ name, pattern, priority }));
const inQuery = (name: string, priority: number, piece: string) =>
  [`/*?${piece}`, `/*&${piece}`].map((pattern) => ({ name, pattern, priority }));

/** Shops that block clients which come in bursts: irregular gaps, mixed sources, discovery before products. */
const shop = {
  ...smallweb,
  delay: '5s-15s',
  order: 'shuffled',
  urlTypes: [
    ...inPath('search', 1, 'search*'),
    ...inQuery('search', 1, 'q=*'),
    { name: 'pagination', pattern: '/*page=*', priority: 1 },
    ...inPath('pagination', 1, 'page/*'),
    ...inPath('product', 2, 'product*', 'item*', 'p/*', 'dp/*'),
  ],
  // Three retries after the first attempt.
  retry: {
    initialInterval: '15m',
    backoffCoefficient: 2,
    maximumAttempts: 4,
    maximumInterval: '1d',
    jitter: '5m',
  },
} satisfies Policy;

/** A news archive: a few large domains, some of them slow; a story that fails may be back within half a day. */
const news = {
  ...smallweb,
  delay: '5s',
  concurrency: 4,
  targetConcurrency: 2,
  // Twelve retries after the first attempt.
  retry: { ...smallweb.retry, maximumAttempts: 13 },
} satisfies Policy;

/** Many domains, a little of each. */
const broad = {
  ...smallweb,
  scope: 'any',
  delay: '1s',
} satisfies Policy;

export const PRESETS = { smallweb, shop, news, broad } as const;

export type PresetName = keyof typeof PRESETS;

export const PRESET_NAMES = ['smallweb', 'shop', 'news', 'broad'] as const satisfies readonly PresetName[];

export function isPresetName(name: unknown): name is PresetName {
  return PRESET_NAMES.some((known) => known === name);
}
