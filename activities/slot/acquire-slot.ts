/** acquireSlot: says that the page lives, then asks the domain's throttle, starting it where it does not run. */
import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { politenessFor } from '../../src/core/domain-politeness.ts';
import { createKeyedLimiter } from '../../src/core/keyed-limiter.ts';
import type { Ask, SlotAnswer } from '../../src/core/slot-protocol.ts';
import { knownForMs } from '../../src/storage/pages/page-age.ts';
import { signOfLife } from '../../src/storage/pages/touch-page.ts';
import { readClocks } from '../../src/worker/server-clock.ts';
import { acquireUpdate } from '../../workflows/messages.ts';
import type { DomainThrottle } from '../../workflows/throttle/domain-throttle.ts';
import type { Deps } from '../deps.ts';
import { throttleStart } from './throttle-start.ts';

export interface AcquireInput {
  pageId: string;
  domain: string;
  ask: Ask;
  /** How often this ticket has asked, this ask included: part of the update's id. */
  asks: number;
}

export type AcquireResult = SlotAnswer | { kind: 'over'; crawlOver: boolean };

/** The server refuses an eleventh update in flight for one workflow, and the client then waits seconds to try again. */
const ASKS_IN_FLIGHT = 4;

export function makeAcquireSlot(deps: Deps) {
  const turnstile = createKeyedLimiter(ASKS_IN_FLIGHT);
  return async function acquireSlot(input: AcquireInput): Promise<AcquireResult> {
    const standing = await signOfLife(deps.db, input.pageId, deps.config.asking.quietMs);
    if (!standing.goesOn) return { kind: 'over', crawlOver: standing.crawlOver };
    const ask = await underRules(deps, input.domain, input.ask);
    const answer = await turnstile(input.domain, () =>
      askThrottle(deps, input.domain, ask, `${input.ask.ticket}:${input.asks}`),
    );
    return patiently(deps, input.pageId, answer);
  };
}

/** An origin that was down before its page was known is given up only once the page, too, has waited for so long. */
async function patiently({ db, config }: Deps, pageId: string, answer: SlotAnswer): Promise<SlotAnswer> {
  if (answer.kind !== 'down' || !answer.givenUp) return answer;
  return { ...answer, givenUp: (await knownForMs(db, pageId)) >= config.throttle.outageGiveUpMs };
}

/** What the crawl's rules per domain make of an ask. They may be many, so they are no part of what its pages carry. */
export async function underRules({ crawlOf }: Deps, domain: string, ask: Ask): Promise<Ask> {
  const { settings } = await crawlOf(ask.crawlId);
  return { ...ask, ...politenessFor(settings, domain) };
}

/** Asks, and learns the throttle's clock from the answer. */
export async function askThrottle(
  { client, config, clock }: Deps,
  domain: string,
  ask: Ask,
  updateId: string,
): Promise<SlotAnswer> {
  const nonce = randomUUID();
  const before = readClocks();
  const throttle = new WithStartWorkflowOperation<typeof DomainThrottle>(
    'DomainThrottle',
    throttleStart(config, domain),
  );
  // A worker that stops must not wait for a throttle that nobody may be there to serve.
  const answer = await client.connection.withAbortSignal(Context.current().cancellationSignal, () =>
    client.workflow.executeUpdateWithStart(acquireUpdate, {
      args: [ask, nonce],
      updateId,
      startWorkflowOperation: throttle,
    }),
  );
  // Another nonce: the answer to an earlier sending of this ask, and its `now` is of that time.
  if (answer.nonce === nonce) clock.sample(answer.now, before, readClocks());
  return answer;
}
