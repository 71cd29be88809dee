/** Hosts that accept a connection and never answer occupy a fetch slot until their timeout. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

const SILENT_HOSTS = 30;
const PAGES = 15;

/** So long that the processor is idle most of the time: what is measured is whether the host gets its slots. */
const GAP_MS = 400;
/** Requests, with and without the silent hosts. */
const MEASURED = 15;
const PACED_PAGES = 50;

let amble: Amble;
let web: TestWeb;
let silent: Server;
const held = new Set<Socket>();

beforeEach(async () => {
  amble = await startAmble({ maxConcurrentFetches: 8 });
  web = await startWeb({ honest: flatSite(PACED_PAGES), newcomer: flatSite(PAGES) });
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

const arrived = (host: string) => web.arrivalsAt(host).length;

/** The mean of the gaps between the next arrivals at the honest host. */
async function gapOfNext(requests: number): Promise<number> {
  const from = arrived('honest');
  await expect.poll(() => arrived('honest'), { timeout: 30_000 }).toBeGreaterThan(from + requests);
  const [first, last] = [from, from + requests].map((n) => web.arrivalsAt('honest')[n]?.atMs ?? Number.NaN);
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
    const running = amble.crawl({ ...honest('honest'), delay: `${GAP_MS}ms` });
    await expect.poll(() => arrived('honest'), { timeout: 20_000 }).toBeGreaterThan(2);
    const alone = await gapOfNext(MEASURED);
    const hostile = await amble.start({ ...silentHosts(), fetch: { headersTimeout: '50s' } });
    await expect.poll(() => held.size, { timeout: 10_000 }).toBe(4);
    const beside = await gapOfNext(MEASURED);
    expect(alone / beside).toBeGreaterThan(0.9);
    // None of them has timed out by then, so no slot was passed on.
    expect(await amble.db.request.count({ where: { crawlId: hostile.workflowId } })).toBe(0);
    expect(held.size).toBe(4);
    expect((await running).pages).toEqual({ Fetched: PACED_PAGES + 1 });
  });
});
