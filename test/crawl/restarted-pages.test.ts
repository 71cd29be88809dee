import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAllPagesSoon } from '../../src/storage/crawls.ts';
import { throttleId } from '../../workflows/ids.ts';
import { stateQuery } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { expectPolite } from '../support/expect-polite.ts';
import { shortGapsOnArrival } from '../support/gaps.ts';
import { flatSite, startWeb } from '../support/web.ts';

let amble: Amble;
beforeAll(async () => {
  amble = await startAmble();
});
afterAll(() => amble?.stop());

describe('a page whose workflow is gone', () => {
  it('is restarted, and the slot that its former run slept for does not stop its domain', async () => {
    const web = await startWeb({ site: flatSite(2) });
    try {
      const seeds = [web.url('site', '/1'), web.url('site', '/2')];
      // A slot that is not returned is kept for as long as a fetch may take, which is longer than this test.
      const input = { seeds, ...web.network, delay: '5s', fetch: { totalTimeout: '10m' } };
      const crawl = await amble.start(input);
      const state = () => throttle.query(stateQuery);
      const throttle = amble.client.workflow.getHandle(throttleId(web.name('site')));
      await expect.poll(async () => (await state().catch(() => null))?.reserved, { timeout: 20_000 }).toBe(2);
      const asleep = (await state()).leases.at(-1);
      await amble.client.workflow.getHandle(asleep?.workflowId ?? '').terminate();
      await checkAllPagesSoon(amble.db, crawl.workflowId);
      expect(await crawl.result()).toMatchObject({ pages: { Fetched: 2 } });
      await expectPolite(amble.db);
    } finally {
      await web.stop();
    }
  }, 60_000);
});

describe('a crawl whose workflows are all gone', () => {
  it('resumes from the database under the same id, and the domain’s gap outlives its throttle', async () => {
    const web = await startWeb({ site: flatSite(20) });
    try {
      const input = { seeds: [web.url('site')], ...web.network, delay: '200ms' };
      const lost = await amble.start(input, `lost-${web.name('id')}`);
      await expect.poll(() => web.arrivals.length, { timeout: 20_000 }).toBeGreaterThan(6);
      await terminateAll(lost.workflowId, throttleId(web.name('site')));
      const sent = web.arrivals.length;

      // The second time the input is ignored.
      const again = await amble.start({ seeds: ['http://elsewhere.test/'] }, lost.workflowId);
      expect(await again.result()).toMatchObject({ pages: { Fetched: 21 }, found: 21 });
      expect(web.arrivals.length).toBeGreaterThan(sent);
      expect(shortGapsOnArrival(web.arrivals, () => 200)).toEqual([]);
    } finally {
      await web.stop();
    }
  });

  it('is not restarted under its id after it has ended', async () => {
    const web = await startWeb({ site: flatSite(1) });
    try {
      const input = { seeds: [web.url('site')], ...web.network };
      const { crawlId } = await amble.crawl(input);
      await expect(amble.crawl(input, crawlId)).rejects.toMatchObject({
        cause: { message: expect.stringContaining('is Completed: choose another id') },
      });
    } finally {
      await web.stop();
    }
  });

  it('fails at once with the reason if its input is invalid', async () => {
    await expect(amble.crawl({ seeds: ['ftp://x/'] })).rejects.toMatchObject({
      cause: { type: 'BadInput', message: expect.stringContaining('ftp://x/') },
    });
  });

  /** As if the Temporal server had lost its data. Repeated until nothing is listed, because visibility lags. */
  async function terminateAll(crawlId: string, throttle: string): Promise<void> {
    const { workflow } = amble.client;
    await workflow.getHandle(crawlId).terminate();
    await workflow.getHandle(throttle).terminate();
    const query = `RootWorkflowId='${crawlId}' AND ExecutionStatus='Running'`;
    const open = async (): Promise<number> => {
      let count = 0;
      for await (const { workflowId } of workflow.list({ query })) {
        count += 1;
        await workflow
          .getHandle(workflowId)
          .terminate()
          .catch(() => {});
      }
      return count;
    };
    await expect.poll(open, { timeout: 20_000 }).toBe(0);
  }
});
