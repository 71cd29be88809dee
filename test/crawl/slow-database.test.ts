/** Recording a page takes longer than a local activity may. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { pageWorkflowId } from '../../workflows/ids.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

const EVENTUALLY = { timeout: 30_000 };
const TIME_TO_LOCK_MS = 2_000;

let amble: Amble;
let web: TestWeb;

beforeAll(async () => {
  amble = await startAmble();
  web = await startWeb({
    site: flatSite(0, (path) =>
      path === '/' ? { body: '<title>Slow</title>', afterMs: TIME_TO_LOCK_MS } : undefined,
    ),
  });
});
afterAll(async () => {
  await web?.stop();
  await amble?.stop();
});

it('continues as a regular activity, and the page is recorded once', async () => {
  const crawl = await amble.start({ seeds: [web.url('site')], ...web.network });
  const crawlId = crawl.workflowId;
  await vi.waitFor(() => expect(web.arrivalsAt('site', '/')).toHaveLength(1), EVENTUALLY);
  const page = await amble.db.page.findFirstOrThrow({ where: { crawlId } });
  const urlHash = Buffer.from(page.urlHash).toString('hex');
  const workflow = amble.client.workflow.getHandle(pageWorkflowId(crawlId, { url: page.url, urlHash }));
  const stepsApart = async (): Promise<unknown[]> => {
    const { events } = await workflow.fetchHistory();
    const scheduled = events?.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
    return scheduled?.filter((name) => name !== undefined) ?? [];
  };

  await amble.db.inTransaction(async (tx) => {
    await tx.$queryRaw`SELECT id FROM pages WHERE id = ${page.id} FOR UPDATE`;
    await vi.waitFor(async () => expect(await stepsApart()).toContain('processPage'), EVENTUALLY);
  });

  expect((await crawl.result()).pages).toEqual({ Fetched: 1 });
  const [attempt, ...more] = await amble.db.pageCrawl.findMany({ where: { page: { crawlId } } });
  expect(attempt).toMatchObject({ outcome: 'Success', attempt: 1 });
  expect(more).toEqual([]);
});
