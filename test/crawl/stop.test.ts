/** Everything is stopped at once, and later runs as before. A database of its own, because all crawls in it stop. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pauseCrawl } from '../../src/operator/crawl-orders.ts';
import { resumeAll, stopAll } from '../../src/operator/stop-orders.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { expectPolite } from '../support/expect-polite.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

const ANNA = { channel: 'api', by: 'Anna', reason: 'a complaint' } as const;
const PAGES = 40;
const HOSTS = ['a', 'b', 'c', 'd'];

let amble: Amble;
let web: TestWeb;
beforeAll(async () => {
  amble = await startAmble();
  web = await startWeb(
    Object.fromEntries([...HOSTS, 'paused', 'new'].map((host) => [host, flatSite(PAGES)])),
  );
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

const start = (delay: string, ...hosts: string[]) =>
  amble.start({ seeds: hosts.map((host) => web.url(host)), ...web.network, delay });

it('no request starts once it has returned, nothing works meanwhile, and then all of it is crawled', async () => {
  const running = await start('20ms', ...HOSTS);
  const paused = await start('20ms', 'paused');
  await expect.poll(() => web.arrivalsAt('paused').length, { timeout: 20_000 }).toBeGreaterThan(0);
  await pauseCrawl(amble, paused.workflowId, ANNA);
  await expect.poll(() => web.arrivalsAt('d').length, { timeout: 20_000 }).toBeGreaterThan(1);

  await stopAll(amble, ANNA);
  const before = await amble.db.request.count();
  const [{ stoppedAt } = { stoppedAt: new Date(0) }] = await amble.db.$queryRaw<{ stoppedAt: Date }[]>`
    SELECT clock_timestamp() AS "stoppedAt"`;
  const late = await start('0s', 'new');
  const inProgress = () => amble.db.page.count({ where: { status: { in: ['Queued', 'Waiting'] } } });
  await expect.poll(inProgress, { timeout: 20_000 }).toBe(0);
  const arrived = web.arrivals.length;
  const isOpen = () => amble.db.crawl.count({ where: { id: late.workflowId } });
  await expect.poll(isOpen, { timeout: 20_000 }).toBe(1);
  const tasks = await workflowEvents();
  await sleep(1_000);
  expect(web.arrivals).toHaveLength(arrived);
  expect(web.arrivalsAt('new')).toEqual([]);
  expect(await amble.db.request.count({ where: { startedAt: { gt: stoppedAt } } })).toBe(0);
  expect(before).toBeGreaterThan(0);
  // Only the crawls' own sweeps, a few each.
  expect((await workflowEvents()) - tasks).toBeLessThan(30);

  await resumeAll(amble, ANNA);
  for (const [crawl, hosts] of [
    [running, HOSTS.length],
    [late, 1],
  ] as const)
    expect(await crawl.result()).toMatchObject({ pages: { Fetched: hosts * (PAGES + 1) } });
  const { status } = await amble.db.crawl.findUniqueOrThrow({ where: { id: paused.workflowId } });
  expect(status).toBe('Paused');
  expect(web.arrivalsAt('paused').length).toBeLessThan(PAGES);
  await expectPolite(amble.db);
  await expect(resumeAll(amble, ANNA)).rejects.toThrow('Nothing is stopped.');
  await paused.cancel();
});

/** Of all workflows that run. */
async function workflowEvents(): Promise<number> {
  let events = 0;
  for await (const { historyLength } of amble.client.workflow.list({ query: "ExecutionStatus = 'Running'" }))
    events += historyLength ?? 0;
  return events;
}
