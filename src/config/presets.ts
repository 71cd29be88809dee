/**
 * Presets: ways to crawl that people asked for, by name, as they would be written in the config file. Each says
 * everything a preset may say, so that none of it is left over from another one below it.
 */
import type { CrawlSettings } from '../core/settings.ts';

/** What a preset decides; the rest of a crawl's settings are about the place it runs in, or its goal. */
type Policy = Record<
  keyof Pick<
    CrawlSettings,
    | 'scope'
    | 'delay'
    | 'order'
    | 'warmup'
    | 'concurrency'
    | 'targetConcurrency'
    | 'urlTypes'
    | 'retry'
    | 'window'
    | 'maxWaiting'
  >,
  unknown
>;

/** Personal sites on small servers: patience above all. */
const smallweb = {
  scope: 'site',
  delay: '10s',
  order: 'first-come',
  warmup: { pending: 0, atMost: '10m' },
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
  window: 4,
  maxWaiting: 1_000,
} satisfies Policy;

/** Types by what follows a slash or begins a parameter, anywhere. Never by the host: what begins with `*` would see it too. */
const inPath = (name: string, priority: number, ...pieces: string[]) =>
  pieces.flatMap((piece) => [`/${piece}`, `/*/${piece}`]).map((pattern) => ({ name, pattern, priority }));
const inQuery = (name: string, priority: number, piece: string) =>
  [`/*?${piece}`, `/*&${piece}`].map((pattern) => ({ name, pattern, priority }));

/** Shops that block whoever comes in bursts: irregular gaps, sources mixed, discovery before harvest. */
const shop = {
  ...smallweb,
  delay: '5s-15s',
  order: 'shuffled',
  warmup: { pending: 15, atMost: '10m' },
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

/** A news archive: a few large domains, some of them slow, and stories that may come back within half a day. */
const news = {
  ...smallweb,
  delay: '5s',
  concurrency: 4,
  targetConcurrency: 2,
  // Twice as many as may be open: so that the next ones are in line when they are done.
  window: 10,
  // Twelve retries after the first attempt.
  retry: { ...smallweb.retry, maximumAttempts: 13 },
} satisfies Policy;

/** A little of everything: many domains at a time, none of them holding more than a handful of places. */
const broad = {
  ...smallweb,
  scope: 'any',
  delay: '1s',
  window: 3,
  maxWaiting: 100,
} satisfies Policy;

export const PRESETS = { smallweb, shop, news, broad } as const;

export type PresetName = keyof typeof PRESETS;

export const PRESET_NAMES = ['smallweb', 'shop', 'news', 'broad'] as const satisfies readonly PresetName[];

export function isPresetName(name: unknown): name is PresetName {
  return PRESET_NAMES.some((known) => known === name);
}
