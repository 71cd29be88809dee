/** A page that does not get its slot at the expected time asks again. */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { attributesOf, type History, readHistory, summarize } from '../replay/history.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { expectPolite } from '../support/expect-polite.ts';
import { pauseDomain } from '../support/paused-domain.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

const EVENTUALLY = { timeout: 20_000 };

let amble: Amble;
let web: TestWeb;
beforeEach(async () => {
  web = await startWeb({ site: flatSite(4) });
});
afterEach(async () => {
  await web?.stop();
  await expectPolite(amble.db);
});

const seeds = (count: number) => Array.from({ length: count }, (_, i) => web.url('site', `/${i + 1}`));

async function historyOf(workflowId: string): Promise<History> {
  return readHistory(historyToJSON(await amble.client.workflow.getHandle(workflowId).fetchHistory()));
}

describe('a queued page', () => {
  beforeAll(async () => {
    amble = await startAmble({
      tuning: {
        asking: { slackMs: 200, maxSlackMs: 1_000 },
        throttle: { startWindowMs: 1_000, maxStartWindowMs: 1_000, parallelStartWindowMs: 1_000 },
      },
    });
  });
  afterAll(() => amble?.stop());

  const waiting = (count: number, { state }: Awaited<ReturnType<typeof pauseDomain>>) =>
    vi.waitFor(async () => expect((await state()).waiting).toBe(count), EVENTUALLY);

  it('whose throttle was terminated is queued by the next one, like all others, and fetched', async () => {
    const site = await pauseDomain(amble, web.name('site'));
    const crawl = await amble.start({ seeds: seeds(4), ...web.network });
    await waiting(4, site);
    await site.restart();
    await waiting(4, site);
    expect(web.arrivals).toEqual([]);
    await site.resume();
    expect((await crawl.result()).pages).toEqual({ Fetched: 4 });
  });

  it('asks again after twice the time, up to the maximum', async () => {
    const site = await pauseDomain(amble, web.name('site'));
    const crawl = await amble.start({ seeds: seeds(1), ...web.network });
    await waiting(1, site);
    const [page] = (await site.state()).next;
    const timers = async () => {
      const { events } = await historyOf(page?.workflowId ?? '');
      return events
        .map((event) => attributesOf(event).startToFireTimeout)
        .filter((span) => span !== undefined);
    };
    await vi.waitFor(async () => expect((await timers()).length).toBeGreaterThan(4), EVENTUALLY);
    // The wait starts when the throttle answered, a moment after the page's task began.
    const spans = (await timers()).map((span) => Number.parseFloat(span));
    [0.2, 0.4, 0.8, 1, 1].forEach((slack, n) => {
      expect(spans[n]).toBeGreaterThanOrEqual(slack);
      expect(spans[n]).toBeLessThan(2 * slack);
    });
    // The recorded answer to an earlier ask must not be the answer to this one.
    const asks = summarize(await historyOf(site.throttle.workflowId)).filter(
      (line) => line === 'update acquire',
    );
    expect(asks.length).toBeGreaterThan(4);
    await site.resume();
    expect((await crawl.result()).pages).toEqual({ Fetched: 1 });
  });
});

describe('with room for one page in the queue', () => {
  beforeAll(async () => {
    amble = await startAmble({ tuning: { throttle: { queueLimit: 1 } } });
  });
  afterAll(() => amble?.stop());

  it('the others ask again later, and all are fetched', async () => {
    const site = await pauseDomain(amble, web.name('site'));
    const crawl = await amble.start({ seeds: seeds(4), ...web.network });
    const turnedAway = async () => {
      const summary = summarize(await historyOf(site.throttle.workflowId));
      return summary.filter((line) => line === 'answered acquire full').length;
    };
    await vi.waitFor(async () => expect(await turnedAway()).toBeGreaterThanOrEqual(3), EVENTUALLY);
    await site.resume();
    expect((await crawl.result()).pages).toEqual({ Fetched: 4 });
  });
});
