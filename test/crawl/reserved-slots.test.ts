/** Pages that are admitted together have slots before they start. */
import { AsyncLocalStorage } from 'node:async_hooks';
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
/** With shorter delays slots are not reserved: they would be now, when the pages have not started. */
const DELAY = '1s';
/** Longer than a page that ends waits for the slots of those that it admits. */
const TOO_SLOW_MS = 3_000;

/** What was sent to throttles, and the tickets whose asks were answered. */
const sent: Ask[][] = [];
const answered = new Set<string>();

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
  const signals = new AsyncLocalStorage<AbortSignal>();
  const observed: typeof connection = Object.assign(Object.create(connection), {
    withAbortSignal: <T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> =>
      signals.run(signal, () => connection.withAbortSignal(signal, call)),
  });
  const interceptor: WorkflowClientInterceptor = {
    async startUpdateWithStart(input, next) {
      const [asks] = input.updateArgs as [Ask[], unknown];
      if (input.updateName !== acquireUpdate.name) return next(input);
      sent.push(asks);
      const isFaulty = (host: string) => asks.length > 1 && areOf(host, asks);
      // A call that is aborted ends at once, however slow the network is.
      if (isFaulty('slow')) await sleep(TOO_SLOW_MS, undefined, { signal: signals.getStore() });
      const answer = await next(input);
      if (isFaulty('lossy')) throw new Error('The connection was lost.');
      for (const { ticket } of asks) answered.add(ticket);
      return answer;
    },
  };
  const { namespace } = options;
  return {
    ...own,
    client: new Client({ connection: observed, namespace, interceptors: { workflow: [interceptor] } }),
  };
}

function areOf(host: string, asks: readonly Ask[]): boolean {
  return asks.some(({ origin }) => new URL(origin).hostname === web.name(host));
}

/** Returns the tickets for which its throttle was asked, for several pages together or for one alone. */
async function crawl(host: string): Promise<{ together: string[]; alone: string[] }> {
  const { crawlId } = await amble.crawl({ ...web.network, seeds: [web.url(host)], delay: DELAY });
  expect(await amble.db.page.count({ where: { crawlId, status: 'Fetched' } })).toBe(PAGES + 1);
  const asked = sent.filter((asks) => areOf(host, asks));
  const ticketsOf = (messages: Ask[][]) => messages.flat().map(({ ticket }) => ticket);
  return {
    together: ticketsOf(asked.filter(({ length }) => length > 1)),
    alone: ticketsOf(asked.filter(({ length }) => length === 1)),
  };
}

it.concurrent('pages that are admitted together get their slots by one message', async ({ expect }) => {
  const { together, alone } = await crawl('quick');
  expect(together.length).toBeGreaterThan(PAGES / 2);
  const inTime = together.filter((ticket) => answered.has(ticket));
  expect(inTime).not.toEqual([]);
  expect(alone.filter((ticket) => inTime.includes(ticket))).toEqual([]);
});

it.concurrent('pages ask for slots themselves if the throttle does not answer in time', async ({
  expect,
}) => {
  const { together, alone } = await crawl('slow');
  expect(alone).toEqual(expect.arrayContaining(together));
});

it.concurrent('a page whose answer is lost asks for the slot that was reserved for it', async ({
  expect,
}) => {
  const { together, alone } = await crawl('lossy');
  expect(alone).toEqual(expect.arrayContaining(together));
});
