/** Whether the namespace has Amble's search attributes. Without them a workflow that uses one could not be started. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { messageOf } from '../core/errors.ts';
import { SEARCH_ATTRIBUTES } from '../core/search-attributes.ts';

/** A query that finds nothing, and that the server refuses if it does not know a name in it. Works on Temporal Cloud too. */
const PROBE = Object.values(SEARCH_ATTRIBUTES)
  .map((name) => `${name} = 'probe'`)
  .join(' AND ');

export async function hasSearchAttributes(client: Client, log: Logger): Promise<boolean> {
  try {
    await client.workflow.count(PROBE);
    return true;
  } catch (error) {
    const names = Object.values(SEARCH_ATTRIBUTES).join(', ');
    log.info(
      { reason: messageOf(error) },
      `the Temporal namespace lacks the search attributes ${names}; workflows run without them`,
    );
    return false;
  }
}
