/** What the Crawl workflow may be started with, by this program or by anybody with the Temporal CLI. */
import { z } from 'zod';
import type { CrawlSettings } from '../settings.ts';
import { normaliseUrl } from '../urls/index.ts';
import { BadInput } from './bad-input.ts';
import { crawlShape, toCrawlSettings, writeCrawlSettings } from './crawl-schema.ts';
import { isPlainObject } from './keys.ts';
import { type Layer, parseLayers } from './layers.ts';

const EXAMPLE = '{"seeds":["https://example.org/"],"delay":"10s"}';

const crawlSchema = z.strictObject(crawlShape);

export interface CrawlRequest {
  /** Normalised, each once. */
  seeds: string[];
  settings: CrawlSettings;
}

/** Throws BadInput with one sentence that says what is wrong. */
export function parseCrawlInput(input: unknown, defaults: CrawlSettings): CrawlRequest {
  if (!isPlainObject(input)) {
    throw new BadInput(`A crawl's input must be one JSON object such as ${EXAMPLE}.`);
  }
  const { seeds, ...given } = input;
  const layers: Layer[] = [
    { values: withPlural(given), call: (path) => `"${path.join('.')}" in the crawl's input` },
    { values: writeCrawlSettings(defaults), call: (path) => `the default of "${path.join('.')}"` },
  ];
  return { seeds: parseSeeds(seeds), settings: toCrawlSettings(parseLayers(crawlSchema, layers)) };
}

/** An input that asks for exactly these settings, whatever the worker's own defaults are. */
export function writeCrawlInput({ seeds, settings }: CrawlRequest) {
  return { seeds, ...writeCrawlSettings(settings) };
}

/** The command line's flag is the singular, and people carry it over. */
function withPlural({ allowNetwork, ...given }: Record<string, unknown>): Record<string, unknown> {
  if (allowNetwork === undefined) return given;
  if (given.allowNetworks !== undefined) {
    throw new BadInput(
      '"allowNetwork" and "allowNetworks" in the crawl\'s input mean the same; give only one.',
    );
  }
  return { ...given, allowNetworks: allowNetwork };
}

function parseSeeds(raw: unknown): string[] {
  const seeds: unknown[] = typeof raw === 'string' ? [raw] : Array.isArray(raw) ? raw : [];
  if (seeds.length === 0) {
    throw new BadInput(`A crawl needs at least one URL to start from in "seeds", as in ${EXAMPLE}.`);
  }
  return [...new Set(seeds.map(parseSeed))];
}

function parseSeed(raw: unknown): string {
  if (typeof raw !== 'string') throw new BadInput(`The seed ${JSON.stringify(raw)} is not a URL in quotes.`);
  const normalised = normaliseUrl(raw.trim());
  if (normalised.ok) return normalised.url;
  throw new BadInput(
    `The seed "${raw}" is not a URL that can be crawled (${normalised.reason}); write it out as in https://example.org/.`,
  );
}
