import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

let amble: Amble;
let web: TestWeb;
beforeAll(async () => {
  amble = await startAmble();
  web = await startWeb({ site: flatSite(10) });
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

it('a fetch is handed out with the workflow task that schedules it, without a poll', async () => {
  const { crawlId } = await amble.crawl({ seeds: [web.url('site')], ...web.network });
  const delays = await startDelays(amble.client, crawlId);
  // The server writes both events in one step. Through a queue it takes a millisecond at least.
  expect(delays.filter((ms) => ms < 1).length).toBeGreaterThan(delays.length / 2);
});

/** From scheduling a fetch to its start, by the server's clock, for all pages of a crawl. */
async function startDelays(client: Client, crawlId: string): Promise<number[]> {
  const delays: number[] = [];
  const query = `RootWorkflowId = "${crawlId}" AND WorkflowType = "CrawlPage"`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    const at = new Map(events?.map(({ eventId, eventTime }) => [String(eventId), microseconds(eventTime)]));
    for (const { eventId, activityTaskStartedEventAttributes: started } of events ?? [])
      if (started)
        delays.push(
          ((at.get(String(eventId)) ?? 0) - (at.get(String(started.scheduledEventId)) ?? 0)) / 1_000,
        );
  }
  return delays;
}

function microseconds(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1e6 + (time?.nanos ?? 0) / 1e3;
}
