import { afterAll, beforeAll, expect, it } from 'vitest';
import { WorkerLateness } from '../../src/worker/lateness.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb } from '../support/web.ts';

const HOSTS = Array.from({ length: 45 }, (_, i) => `host${i}`);

/** As on a machine whose fetches are late all the time, if it is `busy`. */
class Lateness extends WorkerLateness {
  static busy = false;
  override get isBehind(): boolean {
    return Lateness.busy;
  }
}

let amble: Amble;
beforeAll(async () => {
  const late = <T extends { lateness: WorkerLateness }>(deps: T): T => ({
    ...deps,
    lateness: new Lateness(),
  });
  amble = await startAmble({ tuning: { crawl: { sweepIntervalMs: 600_000 } } }, undefined, undefined, late);
});
afterAll(() => amble?.stop());

const admissionsOf = async (crawlId: string): Promise<number[]> => {
  const where = { crawlId, NOT: { admissionId: null } };
  const admissions = await amble.db.page.groupBy({ by: ['admissionId'], where, _count: true });
  return admissions.map(({ _count }) => _count);
};

it('a crawl with more hosts than one sweep admits sweeps again soon', async () => {
  const web = await startWeb(Object.fromEntries(HOSTS.map((host) => [host, flatSite(0)])));
  try {
    const seeds = HOSTS.map((host) => web.url(host));
    const crawl = await amble.start({ seeds, ...web.network, delay: '10ms' });
    const fetched = () => amble.db.page.count({ where: { crawlId: crawl.workflowId, status: 'Fetched' } });
    await expect.poll(fetched, { timeout: 60_000, interval: 200 }).toBe(HOSTS.length);
    expect(Math.max(...(await admissionsOf(crawl.workflowId)))).toBeLessThanOrEqual(20);
    await crawl.cancel();
  } finally {
    await web.stop();
  }
});

it('on a busy machine a crawl begins with ten hosts, and with two beside another crawl', async () => {
  Lateness.busy = true;
  const web = await startWeb(Object.fromEntries(HOSTS.map((host) => [host, flatSite(0)])));
  try {
    const seeds = HOSTS.map((host) => web.url(host));
    // Long enough for the first crawl to be in progress when the second one begins.
    const input = { seeds, ...web.network, delay: '10m' };
    const first = await amble.start(input);
    await expect.poll(() => admissionsOf(first.workflowId), { timeout: 20_000 }).toContain(10);
    const second = await amble.start(input);
    await expect.poll(() => admissionsOf(second.workflowId), { timeout: 20_000 }).toEqual([2]);
    await Promise.all([first.cancel(), second.cancel()]);
  } finally {
    Lateness.busy = false;
    await web.stop();
  }
});
