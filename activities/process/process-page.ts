/** processPage: parses the stored document and records the page with what was found, in one step. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Activities, ProcessInput } from '../../src/core/activities.ts';
import type { StoredBody } from '../../src/core/attempt.ts';
import { messageOf } from '../../src/core/errors.ts';
import {
  type DocumentSource,
  type Parse,
  type ParsedDocument,
  ParseError,
  TooManyWaitingError,
} from '../../src/html/index.ts';
import { productToken } from '../../src/http/index.ts';
import type { Deps } from '../deps.ts';
import { comeAgain, toPageFault } from '../errors.ts';
import { persistOrFault, type StoredDocument } from './persist-page.ts';

const FAULT_SENTENCE = 'The page could not be parsed';

export function createProcessPage(deps: Deps): Activities['processPage'] {
  return async function processPage({ crawlId, pageId, url, event }) {
    const { found } = event.report;
    const parsed = found.kind === 'document' ? await parseOrFault(deps, { crawlId, url }, found) : null;
    return persistOrFault(deps, { crawlId, pageId, event }, parsed);
  };
}

type Page = Pick<ProcessInput, 'crawlId' | 'url'>;

async function parseOrFault(deps: Deps, page: Page, body: StoredBody): Promise<StoredDocument> {
  try {
    return await parseStored(deps, page, body);
  } catch (error) {
    throw toPageFault(deps, error, {
      stage: 'ParseFault',
      sentence: FAULT_SENTENCE,
      log: { message: 'could not parse a page', url: page.url },
    });
  }
}

/** The parsed document is kept in the content store too, for exports: `parsed_hash` is its key. */
async function parseStored(
  { store, parse, crawlOf, config }: Deps,
  { crawlId, url }: Page,
  { contentHash, bytes, contentType, contentLanguage }: StoredBody,
): Promise<StoredDocument> {
  const { settings } = await crawlOf(crawlId);
  const source = {
    bytes,
    readBody: () => store.get(contentHash),
    url,
    contentType,
    contentLanguage: contentLanguage ?? undefined,
    token: productToken(config.userAgent),
    maxLinks: settings.maxLinksPerPage,
    rules: settings.urls,
  };
  const document = await parseOrGiveUp(parse, source, Context.current().cancellationSignal);
  const hash = await store.put(Buffer.from(JSON.stringify(document)), { derived: true });
  return { hash, document };
}

/** An error of the parser itself would be the same at the next try. */
async function parseOrGiveUp(
  parse: Parse,
  source: DocumentSource,
  signal: AbortSignal,
): Promise<ParsedDocument> {
  try {
    return await parse(source, signal);
  } catch (error) {
    const reason = messageOf(error);
    // The time of a local activity is up, or the worker stops. Not the signal's own reason, which would look like a
    // cancellation of the page.
    if (signal.aborted) throw ApplicationFailure.retryable(`Parsing was aborted: ${reason}`, 'Aborted');
    // Nothing is wrong with the page, however often this happens, and meanwhile it must not hold a place of the step queue.
    if (error instanceof TooManyWaitingError) throw comeAgain(reason);
    if (!(error instanceof ParseError)) throw error;
    throw ApplicationFailure.nonRetryable(`${FAULT_SENTENCE}: ${reason}`, 'ParseFault');
  }
}
