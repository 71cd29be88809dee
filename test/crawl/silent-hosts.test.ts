/** Hosts that accept a connection and never answer occupy a fetch slot until their timeout. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

const SILENT_HOSTS = 30;
const PAGES = 15;

/** Requests whose pace counts. */
const MEASURED = 20;
const PACED_PAGES = 30;

let amble: Amble;
let web: TestWeb;
let silent: Server;
const held = new Set<Socket>();

beforeEach(async () => {
  amble = await startAmble({ maxConcurrentFetches: 8 });
  web = await startWeb({
    beside: flatSite(PACED_PAGES),
    alone: flatSite(PACED_PAGES),
    newcomer: flatSite(PAGES),
  });
  silent = createServer((socket) => held.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  // So that no fetch is left to wait for.
  silent?.close();
  for (const socket of held) socket.destroy();
  held.clear();
  await amble?.stop();
  await web?.stop();
});

function silentHosts(): { seeds: string[]; resolve: string[]; allowNetwork: string[] } {
  const { port } = silent.address() as { port: number };
  // New names each time, with new throttles.
  const run = randomBytes(4).toString('hex');
  const names = Array.from({ length: SILENT_HOSTS }, (_, n) => `s${n}.evil${n % 10}-${run}.com`);
  return {
    seeds: names.map((name) => `http://${name}:${port}/`),
    resolve: names.map((name) => `${name}:127.0.0.1`),
    allowNetwork: ['127.0.0.0/8'],
  };
}

const honest = (host: string) => ({ seeds: [web.url(host)], ...web.network });

/** The mean of the gaps between the next arrivals. */
async function gapOfNext(requests: number, host: string): Promise<number> {
  const from = web.arrivalsAt(host).length;
  await expect.poll(() => web.arrivalsAt(host).length, { timeout: 40_000 }).toBeGreaterThan(from + requests);
  const [first, last] = [from, from + requests].map((n) => web.arrivalsAt(host)[n]?.atMs ?? Number.NaN);
  return ((last ?? Number.NaN) - (first ?? Number.NaN)) / requests;
}

describe('thirty hosts that never answer, on eight fetch slots', () => {
  it('let a new host in before more of their own', async () => {
    const hostile = await amble.start({ ...silentHosts(), fetch: { headersTimeout: '3s' } });
    await expect.poll(() => held.size, { timeout: 10_000 }).toBeGreaterThanOrEqual(4);
    expect((await amble.crawl(honest('newcomer'))).pages).toEqual({ Fetched: PAGES + 1 });
    const timedOut = await amble.db.request.count({ where: { crawlId: hostile.workflowId } });
    expect(timedOut).toBeLessThan(SILENT_HOSTS);
  });

  it('have half of the slots, and leave a host that answers its pace', async () => {
    // At the same time, so that both have the same share of a busy machine.
    const otherWorker = await startAmble({ maxConcurrentFetches: 8 });
    try {
      const crawls = Promise.all([
        amble.crawl({ ...honest('beside'), delay: '400ms' }),
        otherWorker.crawl({ ...honest('alone'), delay: '400ms' }),
      ]);
      // A host that has answered is known to be quick.
      await gapOfNext(2, 'beside');
      const hostile = await amble.start({ ...silentHosts(), fetch: { headersTimeout: '50s' } });
      await expect.poll(() => held.size, { timeout: 10_000 }).toBe(4);
      const gaps = Promise.all(['beside', 'alone'].map((host) => gapOfNext(MEASURED, host)));
      const [beside = Number.NaN, alone = Number.NaN] = await gaps;
      expect(alone / beside).toBeGreaterThan(0.9);
      // None of them has timed out by then, so no slot was passed on.
      expect(await amble.db.request.count({ where: { crawlId: hostile.workflowId } })).toBe(0);
      expect(held.size).toBe(4);
      for (const { pages } of await crawls) expect(pages).toEqual({ Fetched: PACED_PAGES + 1 });
    } finally {
      await otherWorker.stop();
    }
  });
});
