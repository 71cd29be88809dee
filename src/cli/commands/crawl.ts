/** `amble crawl`: checks what was typed before anything is loaded or started. */

import { isCrawlId } from '../../../workflows/ids.ts';
import { type AmbleConfig, BadInput, parseCrawlInput } from '../../config/index.ts';
import { newCrawlId } from '../../operator/new-crawl-id.ts';
import { assertSafe } from '../../server/safe-listen.ts';
import { configFor, formatCommand } from '../common-options.ts';
import type { CrawlInvocation, CrawlOptions } from '../run-crawl.ts';
import { type ExitCode, writeErr } from '../terminal.ts';

export async function crawlCommand(urls: string[], options: CrawlOptions): Promise<ExitCode> {
  // Every other option has the name of a setting.
  const { id, keyword, detach, json, ...settings } = options;
  const config = configFor(options, settings);
  const invocation = readInvocation(urls, options, config);
  assertSafe(config);
  const advice = invocation.request && contactAdvice(config);
  if (advice !== null) writeErr(advice);
  const { runCrawl, runCrawlInBackground } = await import('../run-crawl.ts');
  return detach ? runCrawlInBackground(config, invocation) : runCrawl(config, invocation);
}

function readInvocation(urls: string[], options: CrawlOptions, config: AmbleConfig): CrawlInvocation {
  const id = options.id === undefined ? null : checkCrawlId(options.id);
  if (urls.length === 0) {
    if (id !== null) return { crawlId: id, request: null, options };
    throw new BadInput(
      `Give at least one URL, as in "${formatCommand(['crawl', 'https://example.org/'], {})}", or --id to join a crawl.`,
    );
  }
  const { keyword } = options;
  const { seeds } = parseCrawlInput({ seeds: urls.map((url) => ({ url, keyword })) }, config);
  return {
    crawlId: id ?? newCrawlId(seeds[0]?.url ?? '', new Date()),
    request: { seeds, settings: config.crawl },
    options,
  };
}

function checkCrawlId(id: string): string {
  if (isCrawlId(id)) return id;
  throw new BadInput(
    `Invalid --id ${JSON.stringify(id)}: use at most 100 letters, digits, dots, dashes and underscores, starting with a letter or digit and not ending in .json.`,
  );
}

/** Whether it has something that a site owner can write to: a page or a mail address. */
export function hasAddress(userAgent: string): boolean {
  return /https?:\/\/|@/.test(userAgent);
}

/** Advice for users who crawl the sites of others anonymously. null: sites can see who crawls them, or it is a private network. */
export function contactAdvice({ userAgent, from, crawl }: AmbleConfig): string | null {
  if (from !== null || hasAddress(userAgent) || crawl.allowNetwork.length > 0) return null;
  return 'Site owners cannot see who is crawling: set "contact" (AMBLE_CONTACT) to a page about your crawler, or "from" (AMBLE_FROM) to a mail address.';
}
