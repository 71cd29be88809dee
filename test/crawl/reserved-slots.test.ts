/** Pages that are admitted together have slots before they start. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

/** What was sent to throttles. */
const sent: Ask[][] = [];

let amble: Amble;
let web: TestWeb;
beforeAll(async () => {
  amble = await startAmble({}, undefined, undefined, withNetwork);
  const site = flatSite(PAGES);
  web = await startWeb({ quick: site, slow: site, lossy: site });
});
afterAll(async () => {
  await expectPolite(amble.db);
  await amble?.stop();
  await web?.stop();
});

function withNetwork(own: Deps): Deps {
  const { connection, options } = own.client;
  const interceptor: WorkflowClientInterceptor = {
    async startUpdateWithStart(input, next) {
      const [asks] = input.updateArgs as [Ask[], unknown];
      if (input.updateName !== acquireUpdate.name) return next(input);
      sent.push(asks);
      const isFaulty = (host: string) => asks.length > 1 && areOf(host, asks);
      if (isFaulty('slow')) await sleep(TOO_SLOW_MS);
      const answer = await next(input);
      if (isFaulty('lossy')) throw new Error('The connection was lost.');
      return answer;
    },
  };
  const { namespace } = options;
  return { ...own, client: new Client({ connection, namespace, interceptors: { workflow: [interceptor] } }) };
}

function areOf(host: string, asks: readonly Ask[]): boolean {
  return asks.some(({ origin }) => new URL(origin).hostname === web.name(host));
}

/** Returns what was asked of its throttle. */
async function crawl(host: string): Promise<Ask[][]> {
  const { crawlId } = await amble.crawl({ ...web.network, seeds: [web.url(host)], delay: DELAY });
  expect(await amble.db.page.count({ where: { crawlId, status: 'Fetched' } })).toBe(PAGES + 1);
  return sent.filter((asks) => areOf(host, asks));
}

it.concurrent('pages that are admitted together get their slots by one message', async ({ expect }) => {
  const asked = await crawl('quick');
  const pages = asked.map((asks) => new Set(asks.map(({ workflowId }) => workflowId)).size);
  expect(pages.filter((count) => count > 1).reduce((sum, count) => sum + count)).toBeGreaterThan(PAGES / 2);
  // None asks again for what it has been given. The front page asks twice, because it reads robots.txt first.
  expect(asked.flat()).toHaveLength(ASKS + 1);
});

it.concurrent('pages ask for slots themselves if the throttle does not answer in time', async () => {
  await crawl('slow');
});

it.concurrent('a page whose answer is lost asks for the slot that was reserved for it', async ({
  expect,
}) => {
  const asked = await crawl('lossy');
  const tickets = asked.flat().map(({ ticket }) => ticket);
  expect(tickets.length).toBeGreaterThan(ASKS + 1);
  expect(new Set(tickets).size).toBe(ASKS + 1);
});
