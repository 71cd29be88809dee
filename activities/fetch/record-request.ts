/** recordRequest: records a request that its fetch could not record. */
import type { Activities } from '../../src/core/activities.ts';
import { recordRequest } from '../../src/storage/pages/record-attempt.ts';
import type { Deps } from '../deps.ts';
import { isTransient } from '../errors.ts';

/** The page must continue, even if a bug prevents this very request from being recorded. */
export function createRecordRequest(deps: Deps): Activities['recordRequest'] {
  return async (request) => {
    try {
      await recordRequest(deps.db, request);
    } catch (error) {
      if (isTransient(deps, error)) throw error;
      deps.log.error({ request, err: error }, 'could not record a request');
    }
  };
}
