/** Pages that are admitted together have slots before they start. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Deps } from '../../activities/index.ts';
import type { Ask } from '../../src/core/slot-protocol.ts';
import { acquireUpdate } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { expectPolite } from '../support/expect-polite.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

const PAGES = 6;
/** Of the front page too. */
const ASKS = PAGES + 1;
/** With shorter delays slots are not reserved: they would be now, when the pages have not started. */
const DELAY = '1s';
/** Longer than a page that ends waits for the slots of those that it admits. */
const TOO_SLOW_MS = 1_500;

/** What was sent to throttles, and how long each message for several pages took to get there. */
const network = { sent: [] as Ask[][], slowMs: 0, answersAreLost: false };

let amble: Amble;
let web: TestWeb;
beforeAll(async () => {
  amble = await startAmble({}, undefined, undefined, withNetwork);
  const site = flatSite(PAGES);
  web = await startWeb({ quick: site, slow: site, lossy: site });
});
afterEach(async () => {
  Object.assign(network, { sent: [], slowMs: 0, answersAreLost: false });
  await expectPolite(amble.db);
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

function withNetwork(own: Deps): Deps {
  const { connection, options } = own.client;
  const interceptor: WorkflowClientInterceptor = {
    async startUpdateWithStart(input, next) {
      const [asks] = input.updateArgs as [Ask[], unknown];
      if (input.updateName !== acquireUpdate.name) return next(input);
      network.sent.push(asks);
      if (asks.length > 1) await sleep(network.slowMs);
      const answer = await next(input);
      if (asks.length > 1 && network.answersAreLost) throw new Error('The connection was lost.');
      return answer;
    },
  };
  const { namespace } = options;
  return { ...own, client: new Client({ connection, namespace, interceptors: { workflow: [interceptor] } }) };
}

async function crawl(name: string): Promise<void> {
  const { crawlId } = await amble.crawl({ ...web.network, seeds: [web.url(name)], delay: DELAY });
  expect(await amble.db.page.count({ where: { crawlId, status: 'Fetched' } })).toBe(PAGES + 1);
}

it('pages that are admitted together get their slots by one message', async () => {
  await crawl('quick');
  const pages = network.sent.map((asks) => new Set(asks.map(({ workflowId }) => workflowId)).size);
  expect(pages.filter((count) => count > 1).reduce((sum, count) => sum + count)).toBeGreaterThan(PAGES / 2);
  // None asks again for what it has been given. The front page asks twice, because it reads robots.txt first.
  expect(network.sent.flat()).toHaveLength(ASKS + 1);
});

it('pages ask for slots themselves if the throttle does not answer in time', async () => {
  network.slowMs = TOO_SLOW_MS;
  await crawl('slow');
});

it('pages ask for slots themselves if the answer is lost', async () => {
  network.answersAreLost = true;
  await crawl('lossy');
});
