/** `amble crawl`: reads what is wished for. Nothing else is loaded before that is known to be sound. */
import { type AmbleConfig, BadInput, type CrawlRequest, parseCrawlInput } from '../../config/index.ts';
import { checkCrawlId, newCrawlId } from '../crawl-id.ts';
import type { ExitCode } from '../exit.ts';
import { commandLine } from '../render/command-line.ts';
import { contactAdvice } from '../render/contact-advice.ts';
import { say } from '../render/terminal.ts';
import { type CommonOptions, configFor } from '../settings.ts';

export interface CrawlOptions extends CommonOptions {
  id?: string;
  preset?: string;
  keyword?: string;
  maxPages?: string;
  maxPagesPerDomain?: string;
  maxDepth?: string;
  sitemaps?: boolean;
  scope?: string;
  include?: string[];
  exclude?: string[];
  delay?: string;
  keepTypes?: string;
  resolve?: string[];
  allowNetwork?: string[];
  detach?: boolean;
  json?: boolean;
}

export interface Wish {
  crawlId: string;
  request: CrawlRequest | null;
  options: CrawlOptions;
}

export async function crawlCommand(urls: string[], options: CrawlOptions): Promise<ExitCode> {
  const { preset, maxPages, maxPagesPerDomain, maxDepth, sitemaps, scope, include, exclude } = options;
  const { delay, keepTypes, resolve, allowNetwork } = options;
  const config = configFor(options, {
    preset,
    maxPages,
    maxPagesPerDomain,
    maxDepth,
    sitemaps,
    scope,
    include,
    exclude,
    delay,
    keepTypes,
    resolve,
    allowNetwork: allowNetwork,
  });
  const wish = { ...readWish(urls, options, config), options };
  const advice = wish.request && contactAdvice(config);
  if (advice !== null) say(advice);
  const { crawlHere, crawlInBackground } = await import('../run-crawl.ts');
  return options.detach ? crawlInBackground(config, wish) : crawlHere(config, wish);
}

/** Everything that can be wrong with what was typed shows here, before anything is started. */
function readWish(urls: string[], options: CrawlOptions, config: AmbleConfig): Omit<Wish, 'options'> {
  const id = options.id === undefined ? null : checkCrawlId(options.id);
  if (urls.length === 0) {
    if (id !== null) return { crawlId: id, request: null };
    throw new BadInput(
      `A crawl needs at least one URL, as in "${commandLine(['crawl', 'https://example.org/'], {})}"; or --id to join one.`,
    );
  }
  const { keyword } = options;
  const { seeds } = parseCrawlInput({ seeds: urls.map((url) => ({ url, keyword })) }, config);
  return {
    crawlId: id ?? newCrawlId(seeds[0]?.url ?? '', new Date()),
    request: { seeds, settings: config.crawl },
  };
}
