/** parsePage: reads the stored body and leaves what it found in the content store, under a key small enough for a history. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ParsedRef } from '../../src/core/attempt.ts';
import { messageOf } from '../../src/core/error-chain.ts';
import type { PageSource, Parse, ParsedDocument } from '../../src/html/index.ts';
import { productToken } from '../../src/http/index.ts';
import type { ContentStore } from '../../src/worker/content-store.ts';
import type { Deps } from '../deps.ts';
import { orPoison } from '../errors.ts';

const SENTENCE = 'The page could not be parsed';

export interface ParseInput {
  crawlId: string;
  url: string;
  contentHash: string;
  contentType: string;
  contentLanguage: string | null;
}

export function makeParsePage(deps: Deps) {
  return async function parsePage(input: ParseInput): Promise<ParsedRef> {
    try {
      return await parseStored(deps, input);
    } catch (error) {
      throw orPoison(deps, error, {
        verdict: 'Unparsable',
        sentence: SENTENCE,
        log: { message: 'a page could not be parsed', url: input.url },
      });
    }
  };
}

async function parseStored(
  { store, parse, crawlOf, config }: Deps,
  { crawlId, url, contentHash, contentType, contentLanguage }: ParseInput,
): Promise<ParsedRef> {
  const { settings } = await crawlOf(crawlId);
  const body = await store.get(contentHash);
  const source = {
    body,
    url,
    contentType,
    contentLanguage: contentLanguage ?? undefined,
    token: productToken(config.userAgent),
    maxLinks: settings.maxLinksPerPage,
    rules: settings.urls,
  };
  const parsed = await parseOrGiveUp(parse, source, Context.current().cancellationSignal);
  const hash = await store.put(Buffer.from(JSON.stringify(parsed)), { derived: true });
  return { hash, title: parsed.title };
}

/** The parser's own verdict would be the same at the next try. */
async function parseOrGiveUp(parse: Parse, source: PageSource, signal: AbortSignal): Promise<ParsedDocument> {
  try {
    return await parse(source, signal);
  } catch (error) {
    const why = messageOf(error);
    // Nobody waits for it any more: its time as a local activity is over, or its worker stops. Not the signal's own reason,
    // which would pass for the cancellation of the page.
    if (signal.aborted) throw ApplicationFailure.retryable(`Parsing was broken off: ${why}`, 'BrokenOff');
    throw ApplicationFailure.nonRetryable(`${SENTENCE}: ${why}`, 'Unparsable');
  }
}

/** What parsePage left under this key. */
export async function readParsed(store: ContentStore, hash: string): Promise<ParsedDocument> {
  return JSON.parse((await store.get(hash)).toString('utf8'));
}
