/** What the Crawl workflow may be started with, by this program or by anybody with the Temporal CLI. */
import { z } from 'zod';
import { BadInput } from '../core/bad-input.ts';
import type { CrawlSettings, Seed, UrlRules } from '../core/settings.ts';
import { normaliseUrl, type PolitenessUnit } from '../urls/index.ts';
import { crawlShape, toCrawlSettings, writeCrawlSettings } from './crawl-schema.ts';
import { isPlainObject } from './keys.ts';
import { type Layer, parseLayers } from './layers.ts';
import { whyRulesUnusable, word } from './policies.ts';
import { count } from './values.ts';

const EXAMPLE = '{"seeds":["https://example.org/"],"delay":"10s"}';

const crawlSchema = z.strictObject(crawlShape);

const seedSchema = z.strictObject({
  url: z.string('a URL in quotes'),
  keyword: word('a keyword').nullish(),
  priority: count(1).nullish(),
});

export interface CrawlRequest {
  /** Each URL once. */
  seeds: Seed[];
  settings: CrawlSettings;
}

/** What a crawl finds where it is to run. */
export interface CrawlGround {
  /** Settings of crawls that do not say otherwise. */
  crawl: CrawlSettings;
  politenessKey: PolitenessUnit;
}

/** Throws BadInput with one sentence that says what is wrong. */
export function parseCrawlInput(
  input: unknown,
  { crawl: defaults, politenessKey }: CrawlGround,
): CrawlRequest {
  if (!isPlainObject(input)) {
    throw new BadInput(`A crawl's input must be one JSON object such as ${EXAMPLE}.`);
  }
  const { seeds, politenessKey: wantedKey = politenessKey, ...given } = input;
  refuseOtherKey(wantedKey, politenessKey);
  const layers: Layer[] = [
    { values: given, call: (path) => `"${path.join('.')}" in the crawl's input` },
    { values: writeCrawlSettings(defaults), call: (path) => `the default of "${path.join('.')}"` },
  ];
  const settings = toCrawlSettings(parseLayers(crawlSchema, layers));
  const unusable = whyRulesUnusable(settings.domains, politenessKey);
  if (unusable !== null) throw new BadInput(unusable);
  return { seeds: parseSeeds(seeds, settings.urls), settings };
}

/** An input that asks for exactly these settings, whatever the worker's own defaults are. */
export function writeCrawlInput({ seeds, settings }: CrawlRequest, politenessKey: PolitenessUnit) {
  return { seeds: seeds.map(writeSeed), politenessKey, ...writeCrawlSettings(settings) };
}

/** Not a setting of a crawl, but people try; and a worker set up otherwise than who starts the crawl must not take it. */
function refuseOtherKey(wanted: unknown, held: PolitenessUnit): void {
  if (wanted === held) return;
  throw new BadInput(
    `The crawl wants one gap per ${typeof wanted === 'string' ? wanted : JSON.stringify(wanted)}, but this installation keeps one per ${held}, and a server with two would be asked too often: leave "politenessKey" out, or change it for the whole installation.`,
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

/** A URL alone, or with what its pages shall carry: `{"url": ..., "keyword": ..., "priority": ...}`. */
function parseSeed(raw: unknown, rules: UrlRules): Seed {
  if (typeof raw !== 'string' && !isPlainObject(raw))
    throw new BadInput(`The seed ${JSON.stringify(raw)} is not a URL in quotes.`);
  const layer: Layer = {
    values: typeof raw === 'string' ? { url: raw } : raw,
    call: (path) => `"${path.join('.')}" of the seed ${JSON.stringify(raw)}`,
  };
  const { url, keyword, priority } = parseLayers(seedSchema, [layer]);
  const normalised = normaliseUrl(url.trim(), undefined, rules);
  if (normalised.ok) return { url: normalised.url, keyword: keyword ?? null, priority: priority ?? null };
  // A login that was typed along does not belong on a screen or in a log.
  const shown = url.replace(/\/\/[^/?#]*@/, '//');
  throw new BadInput(
    `The seed "${shown}" is not a URL that can be crawled (${normalised.reason}); write it out as in https://example.org/.`,
  );
}

function writeSeed({ url, keyword, priority }: Seed) {
  if (keyword === null && priority === null) return url;
  return { url, ...(keyword !== null && { keyword }), ...(priority !== null && { priority }) };
}
