/** noteRequest: writes down a request that went out, where its fetch could not. */
import type { RequestRecord } from '../../src/core/attempt.ts';
import { recordRequest } from '../../src/storage/pages/record-attempt.ts';
import type { Deps } from '../deps.ts';
import { mayPass } from '../errors.ts';

export type RequestToNote = RequestRecord & { crawlId: string; pageId: string };

/** Its page must go on, also where its request is the very thing that a bug keeps from being recorded. */
export function makeNoteRequest(deps: Deps) {
  return async function noteRequest(request: RequestToNote): Promise<void> {
    try {
      await recordRequest(deps.db, request);
    } catch (error) {
      if (mayPass(deps, error)) throw error;
      deps.log.error({ request, err: error }, 'a request could not be recorded');
    }
  };
}
