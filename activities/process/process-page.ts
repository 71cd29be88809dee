/** digestPage: parsePage and persistPage in one go. */
import type { Deps } from '../deps.ts';
import { makeParsePage, type ParseInput } from './parse-page.ts';
import { type AttemptEvent, makePersistPage, type PersistResult } from './persist-page.ts';

export interface DigestInput {
  crawlId: string;
  pageId: string;
  document: ParseInput;
  /** Of an attempt that brought the document; what was parsed is yet to be added. */
  event: AttemptEvent;
}

export function makeDigestPage(deps: Deps) {
  const [parsePage, persistPage] = [makeParsePage(deps), makePersistPage(deps)];
  return async function digestPage({
    crawlId,
    pageId,
    document,
    event,
  }: DigestInput): Promise<PersistResult> {
    const parsed = await parsePage(document);
    return persistPage({ crawlId, pageId, event: { ...event, parsed } });
  };
}
