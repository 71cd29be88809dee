/** The input of the Crawl workflow, which this program sends and which people send with the Temporal CLI. */
import { z } from 'zod';
import { BadInput } from '../core/errors.ts';
import type { CrawlSettings, Seed, UrlRules } from '../core/settings.ts';
import { normaliseUrl, type PolitenessUnit } from '../urls/index.ts';
import { crawlShape, toCrawlSettings } from './crawl-schema.ts';
import { assertStorable, isPlainObject, type Layer, mergeLayers, parseLayers } from './layers.ts';
import { whyRulesUnusable } from './policies.ts';
import type { AmbleConfig } from './schema.ts';
import { count, label } from './values.ts';

const EXAMPLE = '{"seeds":["https://example.org/"],"delay":"10s"}';

const crawlSchema = z.strictObject(crawlShape);

const seedSchema = z.strictObject({
  url: z.string('a URL in quotes'),
  keyword: label('a keyword').nullish(),
  priority: count(1).nullish(),
});

export interface CrawlRequest {
  /** Each URL once. */
  seeds: Seed[];
  settings: CrawlSettings;
}

/** The part of a configuration that decides how an input is read. */
export type CrawlContext = Pick<AmbleConfig, 'crawlDefaults' | 'crawlTuning' | 'politenessKey'>;

/** An input that asks for exactly the settings of this configuration, whatever the worker's own defaults are. */
export function createCrawlInput(
  seeds: readonly unknown[],
  { crawlDefaults, politenessKey }: CrawlContext,
): Record<string, unknown> {
  return { ...crawlDefaults, politenessKey, seeds };
}

/** The configuration with other defaults for its crawls, written as in the config file. */
export function withCrawlDefaults(config: AmbleConfig, values: Record<string, unknown>): AmbleConfig {
  const nameOf: Layer['nameOf'] = (path) => path.join('.');
  const layers = [values, config.crawlDefaults].map((values) => ({ values, nameOf }));
  return { ...config, crawlDefaults: mergeLayers(layers) };
}

/** Throws BadInput with one sentence that says what is wrong. */
export function parseCrawlInput(
  input: unknown,
  { crawlDefaults, crawlTuning, politenessKey }: CrawlContext,
): CrawlRequest {
  if (!isPlainObject(input)) {
    throw new BadInput(`A crawl's input must be one JSON object such as ${EXAMPLE}.`);
  }
  const nameOf: Layer['nameOf'] = (path) => `"${path.join('.')}" in the crawl's input`;
  assertStorable({ values: input, nameOf });
  const { seeds, politenessKey: requestedKey = politenessKey, ...values } = input;
  refuseOtherKey(requestedKey, politenessKey);
  const layers: Layer[] = [
    { values, nameOf },
    { values: crawlDefaults, nameOf: (path) => `the default of "${path.join('.')}"` },
  ];
  const settings = toCrawlSettings(parseLayers(crawlSchema, layers), crawlTuning);
  const unusable = whyRulesUnusable(settings.domains, politenessKey);
  if (unusable !== null) throw new BadInput(unusable);
  return { seeds: parseSeeds(seeds, settings.urls), settings };
}

/** Not a setting of a crawl, but people try; and a worker must refuse a crawl from a program that is configured differently. */
function refuseOtherKey(requested: unknown, configured: PolitenessUnit): void {
  if (requested === configured) return;
  throw new BadInput(
    `The crawl asks for one gap per ${typeof requested === 'string' ? requested : JSON.stringify(requested)}, but this installation keeps one per ${configured}, and a server with two gaps would be asked too often: leave "politenessKey" out, or change it for the whole installation.`,
  );
}

function parseSeeds(raw: unknown, rules: UrlRules): Seed[] {
  const given: unknown[] = Array.isArray(raw) ? raw : raw === undefined ? [] : [raw];
  if (given.length === 0) {
    throw new BadInput(`A crawl needs at least one URL to start from in "seeds", as in ${EXAMPLE}.`);
  }
  const seeds = new Map<string, Seed>();
  for (const seed of given.map((one) => parseSeed(one, rules)))
    if (!seeds.has(seed.url)) seeds.set(seed.url, seed);
  return [...seeds.values()];
}

/** A URL, or an object with what its pages carry: `{"url": ..., "keyword": ..., "priority": ...}`. */
function parseSeed(raw: unknown, rules: UrlRules): Seed {
  if (typeof raw !== 'string' && !isPlainObject(raw))
    throw new BadInput(`The seed ${JSON.stringify(raw)} is not a URL in quotes.`);
  const layer: Layer = {
    values: typeof raw === 'string' ? { url: raw } : raw,
    nameOf: (path) => `"${path.join('.')}" of the seed ${JSON.stringify(raw)}`,
  };
  const { url, keyword, priority } = parseLayers(seedSchema, [layer]);
  const normalised = normaliseUrl(url.trim(), undefined, rules);
  if (normalised.ok) return { url: normalised.url, keyword: keyword ?? null, priority: priority ?? null };
  // A password in the URL must not appear on a screen or in a log.
  const shown = url.replace(/\/\/[^/?#]*@/, '//');
  throw new BadInput(
    `The seed "${shown}" is not a URL that can be crawled (${normalised.reason}); write it out as in https://example.org/.`,
  );
}
