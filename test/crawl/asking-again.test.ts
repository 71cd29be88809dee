/** A page that gets no slot asks again. */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { throttleId } from '../../workflows/ids.ts';
import { type History, readHistory, summarize } from '../replay/history.ts';
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

describe('a page of a paused domain', () => {
  beforeAll(async () => {
    amble = await startAmble({ tuning: { throttle: { pauseRetryMs: 2_000 } } });
  });
  afterAll(() => amble?.stop());

  it('asks again, also a throttle that replaced the one that knew it, and is fetched', async () => {
    const site = await pauseDomain(amble, web.name('site'));
    const waiting = (count: number) =>
      vi.waitFor(async () => expect((await site.state()).waiting).toBe(count), EVENTUALLY);
    const crawl = await amble.start({ seeds: seeds(4), ...web.network });
    await waiting(4);
    await site.restart();
    await waiting(4);
    expect(web.arrivals).toEqual([]);
    await site.resume();
    expect((await crawl.result()).pages).toEqual({ Fetched: 4 });
  });
});

describe('a page of a domain that resumes', () => {
  beforeAll(async () => {
    // Later than this test lasts: the pages return because they are signalled.
    amble = await startAmble({ tuning: { throttle: { pauseRetryMs: 600_000 } } });
  });
  afterAll(() => amble?.stop());

  it('is told to ask again', async () => {
    const site = await pauseDomain(amble, web.name('site'));
    const crawl = await amble.start({ seeds: seeds(4), ...web.network });
    await vi.waitFor(async () => expect((await site.state()).waiting).toBe(4), EVENTUALLY);
    await site.resume();
    expect((await crawl.result()).pages).toEqual({ Fetched: 4 });
  });
});

describe('if only one slot may be reserved', () => {
  beforeAll(async () => {
    amble = await startAmble({ tuning: { throttle: { maxReserved: 0 } } });
  });
  afterAll(() => amble?.stop());

  it('the other pages ask again later, and all are fetched', async () => {
    const crawl = await amble.start({ seeds: seeds(4), ...web.network, delay: '500ms' });
    expect((await crawl.result()).pages).toEqual({ Fetched: 4 });
    const summary = summarize(await historyOf(throttleId(web.name('site'))));
    expect(summary.filter((line) => line === 'answered acquire later').length).toBeGreaterThanOrEqual(3);
  });
});
