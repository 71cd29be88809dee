/** What people see of crawls in Temporal itself: search attributes, results, links to the dashboard, short histories. */
import { randomBytes } from 'node:crypto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseCrawlInput } from '../../src/config/index.ts';
import { findTemporalBinary } from '../../src/embedded/temporal-binary.ts';
import { changeDomain } from '../../src/operator/domain-orders.ts';
import { findOrStartCrawl } from '../../src/operator/start-crawl.ts';
import { pageWorkflowId } from '../../workflows/ids.ts';
import { pauseCrawlUpdate, resumeCrawlUpdate } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';

let web: TestWeb;
let amble: Amble;
const crawlId = `labels-${randomBytes(4).toString('hex')}`;

beforeAll(async () => {
  web = await startWeb({
    site: (path, { count }) => {
      if (path === '/') return { body: `<title>Start</title>${links('/good', '/gone', '/flaky')}` };
      if (path === '/good') return { body: '<title>Good</title>' };
      if (path === '/flaky') return count === 1 ? { status: 503 } : { body: '<title>Flaky</title>' };
      return undefined;
    },
  });
  amble = await startAmble({ dashboardUrl: 'https://crawls.example/' });
  await amble.crawl({ seeds: [web.url('site', '/')], ...web.network }, crawlId);
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

function page(path: string) {
  return amble.db.page.findFirstOrThrow({ where: { crawlId, url: web.url('site', path) } });
}

async function workflowOf(path: string) {
  const { url, urlHash } = await page(path);
  const id = pageWorkflowId(crawlId, { url, urlHash: Buffer.from(urlHash).toString('hex') });
  return amble.client.workflow.getHandle(id);
}

async function found(query: string): Promise<string[]> {
  const urls: string[] = [];
  for await (const { workflowId } of amble.client.workflow.list({ query })) urls.push(workflowId);
  return urls;
}

test('workflows are found by crawl, domain and outcome', async () => {
  const ofCrawl = `AmbleCrawl = '${crawlId}'`;
  await expect.poll(() => found(ofCrawl)).toHaveLength(5);
  expect(await found(`AmbleDomain = '${web.name('site')}' AND WorkflowType = 'DomainThrottle'`)).toHaveLength(
    1,
  );
  await expect
    .poll(() => found(`${ofCrawl} AND AmbleOutcome = 'Blocked4xx'`))
    .toEqual([(await workflowOf('/gone')).workflowId]);
  expect(await found(`${ofCrawl} AND AmbleOutcome = 'Success'`)).toEqual([
    (await workflowOf('/flaky')).workflowId,
  ]);
});

test('a throttle that an operator’s order starts is found by its domain too', async () => {
  const { db, client, config } = amble;
  const domain = web.name('ordered');
  await changeDomain(
    { db, client, config },
    domain,
    { kind: 'pause' },
    { channel: 'cli', by: 'test', reason: null },
  );
  await expect.poll(() => found(`AmbleDomain = '${domain}'`)).toHaveLength(1);
});

test.each([
  ['/', { status: 'Fetched', outcome: 'Success', attempts: 1, title: 'Start', links: 3 }],
  ['/gone', { status: 'Failed', outcome: 'Blocked4xx', attempts: 1, title: null, links: 0 }],
  ['/flaky', { status: 'Fetched', outcome: 'Success', attempts: 2, title: 'Flaky', links: 0 }],
])('the workflow of %s returns what became of the page', async (path, result) => {
  expect(await (await workflowOf(path)).result()).toEqual(result);
});

test('workflows link to their page in the dashboard', async () => {
  const url = encodeURIComponent(web.url('site', '/good'));
  const description = await (await workflowOf('/good')).describe();
  expect(await description.staticDetails()).toBe(
    `[In the dashboard](https://crawls.example/page?url=${url}&crawl=${crawlId})`,
  );
  const { config, db, client } = amble;
  const request = parseCrawlInput({ seeds: [web.url('site', '/good')], ...web.network }, config);
  const started = await findOrStartCrawl({ client, db, config, crawlId: `${crawlId}-2`, request });
  if (started.kind !== 'open') throw new Error('the crawl has ended');
  expect(await (await started.handle.describe()).staticDetails()).toBe(
    `[In the dashboard](https://crawls.example/crawls/${crawlId}-2)`,
  );
  await started.handle.terminate();
});

test('a crawl links to its page in the dashboard also if Temporal’s CLI started it', async () => {
  const metadata: unknown = await amble.client.workflow
    .getHandle(crawlId)
    .query('__temporal_workflow_metadata');
  expect(metadata).toMatchObject({
    currentDetails: expect.stringContaining(`[In the dashboard](https://crawls.example/crawls/${crawlId})`),
  });
});

test('a page that succeeds has no event for its outcome, one that fails has one per outcome', async () => {
  const events = async (path: string) =>
    (await (await workflowOf(path)).fetchHistory()).events?.map(({ eventType }) => Number(eventType)) ?? [];
  const UPSERT = 40;
  const upserts = async (path: string) => (await events(path)).filter((type) => type === UPSERT).length;
  expect([await upserts('/good'), await upserts('/gone'), await upserts('/flaky')]).toEqual([0, 1, 2]);
});

test('pages that a sweep starts carry the search attributes that the namespace got meanwhile', async () => {
  let searchAttributes = false;
  const late = await startAmble({}, undefined, undefined, (deps) => ({
    ...deps,
    labels: {
      get searchAttributes() {
        return searchAttributes;
      },
      dashboardUrl: null,
    },
  }));
  const id = `${crawlId}-late`;
  try {
    const crawl = await late.start({ seeds: [web.url('site', '/')], ...web.network, delay: '2s' }, id);
    const fetched = () => late.db.page.count({ where: { fetchedAt: { not: null } } });
    await expect.poll(fetched, { timeout: 20_000 }).toBeGreaterThan(0);
    await crawl.executeUpdate(pauseCrawlUpdate, { args: [null] });
    const queued = () => late.db.page.count({ where: { status: 'Queued' } });
    await expect.poll(queued, { timeout: 20_000 }).toBe(0);
    expect(await found(`AmbleCrawl = '${id}'`)).toEqual([]);
    searchAttributes = true;
    await crawl.executeUpdate(resumeCrawlUpdate, { args: [null] });
    await crawl.result();
    await expect.poll(() => found(`AmbleCrawl = '${id}'`)).not.toEqual([]);
  } finally {
    await late.stop();
  }
});

test('without the search attributes a worker says so once, and crawls', async () => {
  const path = await findTemporalBinary(process.env.AMBLE_TEMPORAL_BINARY, () => {});
  const bare = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'existing-path', path } },
  });
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const plain = await startAmble({}, { temporalAddress: bare.address, namespace: 'default' }, log);
  try {
    const { pages } = await plain.crawl({ seeds: [web.url('site', '/gone')], ...web.network });
    expect(pages).toEqual({ Failed: 1 });
    expect(lines.filter((line) => line.includes('lacks the search attributes AmbleCrawl'))).toHaveLength(1);
  } finally {
    await plain.stop();
    await bare.teardown();
  }
});
