/** A site that becomes unreachable during its crawl and comes back later. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { throttleId } from '../../workflows/ids.ts';
import { stateQuery } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { expectPolite } from '../support/expect-polite.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

const LINKED = 20;
const EVENTUALLY = { timeout: 30_000 };

let amble: Amble;
let web: TestWeb;

beforeAll(async () => {
  // So long that pages ask meanwhile, even on a busy machine.
  amble = await startAmble({
    maxOutage: '1h',
    tuning: {
      throttle: { outageRetryMs: 4_000, maxOutageRetryMs: 4_000 },
      crawl: { longWaitMs: 50, window: 3 },
    },
  });
  web = await startWeb({ site: flatSite(LINKED) });
});
afterAll(async () => {
  await web?.stop();
  await amble?.stop();
});

it('costs an attempt only for the pages that found out; the others wait', async () => {
  const crawl = await amble.start({
    seeds: [web.url('site')],
    ...web.network,
    retry: { initialInterval: '100ms', maximumAttempts: 30 },
  });
  const pages = () => amble.db.page.findMany({ where: { crawlId: crawl.workflowId } });
  const throttle = () => amble.client.workflow.getHandle(throttleId(web.name('site'))).query(stateQuery);
  const seen = (page: Record<string, unknown>) =>
    vi.waitFor(async () => expect(await pages()).toContainEqual(expect.objectContaining(page)), EVENTUALLY);

  await seen({ status: 'Fetched' });
  await web.refuseConnections();
  await seen({
    status: 'Waiting',
    attempts: 0,
    nextAttemptAt: expect.any(Date),
    reason: expect.stringMatching(/cannot be reached: The connection to .* was refused/),
  });
  expect(await throttle()).toMatchObject({ outages: [{ origin: web.url('site', '') }] });
  await web.acceptConnections();
  expect((await crawl.result()).pages).toEqual({ Fetched: 1 + LINKED });

  const attempts = await amble.db.pageCrawl.findMany({ where: { page: { crawlId: crawl.workflowId } } });
  const inVain = attempts.filter(({ outcome }) => outcome !== 'Success');
  const { stats, outages } = await throttle();
  expect(inVain.map(({ errorKind }) => errorKind)).toEqual(Array(inVain.length).fill('refused'));
  expect(inVain).toHaveLength(stats.unreachable);
  expect(new Set(inVain.map(({ pageId }) => pageId)).size).toBeLessThan(LINKED);
  expect(outages).toEqual([]);
  await expectPolite(amble.db);
});
