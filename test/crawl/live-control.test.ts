/** Operators change a domain while crawls run, by the updates that the stock Temporal CLI sends by name. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { throttleId } from '../../workflows/ids.ts';
import { stateQuery } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

let amble: Amble;
let web: TestWeb;
beforeAll(async () => {
  amble = await startAmble();
});
afterAll(() => amble?.stop());
beforeEach(async () => {
  web = await startWeb({ site: flatSite(6) });
});
afterEach(() => web?.stop());

const throttle = () => amble.client.workflow.getHandle(throttleId(web.name('site')));
const state = () => throttle().query(stateQuery);
const EVENTUALLY = { interval: 5, timeout: 20_000 };
const crawl = () => ({ seeds: [web.url('site')], ...web.network });

describe('the throttle of a domain', () => {
  it('grants nothing while paused, and keeps the new delay when resumed', async () => {
    const running = await amble.start(crawl());
    await vi.waitFor(() => expect(web.arrivals.length).toBeGreaterThan(2), EVENTUALLY);
    await throttle().executeUpdate('pause');
    // A page that was granted a slot before may be in flight, and the next ones may not be queued yet.
    const isHeld = async () => {
      const { phase, leases, waiting } = await state();
      expect({ phase, leases }).toEqual({ phase: 'paused', leases: [] });
      expect(waiting).toBeGreaterThan(0);
    };
    await vi.waitFor(isHeld, EVENTUALLY);
    const before = web.arrivals.length;

    await throttle().executeUpdate('setDelay', { args: ['200ms-300ms'] });
    expect(web.arrivals).toHaveLength(before);
    await throttle().executeUpdate('resume');
    expect((await running.result()).pages).toEqual({ Fetched: 7 });
    const requests = await amble.db.request.findMany({
      where: { domain: web.name('site') },
      orderBy: { startedAt: 'asc' },
    });
    const later = requests.slice(before);
    expect(later.length).toBeGreaterThan(0);
    for (const { minGapMs } of later) expect(minGapMs).toBeGreaterThanOrEqual(200);
  });

  it('rejects an invalid delay with the reason', async () => {
    await amble.crawl(crawl());
    await throttle().executeUpdate('setDelay', { args: ['30s'] });
    for (const bad of ['soon', 30, { minMs: 9, maxMs: 1 }, '2d']) {
      await expect(throttle().executeUpdate('setDelay', { args: [bad] })).rejects.toMatchObject({
        cause: { message: expect.stringContaining(`The delay ${JSON.stringify(bad)} is invalid: `) },
      });
    }
    await expect(throttle().executeUpdate('setDelay')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('The delay is missing: ') },
    });
    expect((await state()).operatorDelay).toEqual({ minMs: 30_000, maxMs: 30_000 });
    await throttle().executeUpdate('setDelay', { args: [null] });
    expect((await state()).operatorDelay).toBeNull();
  });

  it('keeps pause and delay across its runs until it is reset', async () => {
    await amble.crawl(crawl());
    await throttle().executeUpdate('pause');
    await throttle().executeUpdate('setDelay', { args: ['1h'] });
    const stored = () => amble.db.domain.findUniqueOrThrow({ where: { name: web.name('site') } });
    await vi.waitFor(
      async () => expect(await stored()).toMatchObject({ paused: true, delayMinMs: 3_600_000 }),
      EVENTUALLY,
    );
    await throttle().terminate();

    const second = await amble.start(crawl());
    await vi.waitFor(
      async () => expect(await state()).toMatchObject({ phase: 'paused', waiting: 1 }),
      EVENTUALLY,
    );
    expect((await state()).operatorDelay?.minMs).toBe(3_600_000);
    await throttle().executeUpdate('reset');
    expect(await state()).toMatchObject({ operatorDelay: null, stats: { averageDurationMs: null } });
    expect((await second.result()).pages).toEqual({ Fetched: 7 });
  });
});
