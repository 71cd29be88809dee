import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { parseExposition } from '../support/scrape.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { openDashboard } from './support.ts';

let amble: Amble;
let web: TestWeb;

beforeAll(async () => {
  amble = await startAmble();
  web = await startWeb({ site: flatSite(5) });
});

afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

test('the metrics of the server say what state the installation is in, and all are documented', async () => {
  const crawl = await amble.start({ seeds: [web.url('site')], ...web.network, delay: '1h' });
  await expect.poll(() => web.arrivals.length, { timeout: 20_000 }).toBeGreaterThan(0);
  const response = await openDashboard(amble).get('/metrics');
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const scraped = parseExposition(await response.text());
  expect(scraped.value('amble_crawls', { status: 'Running' })).toBe(1);
  expect(scraped.value('amble_frontier_pages', { status: 'Queued' })).toBe(1);
  expect(scraped.value('amble_domains', { state: 'active' })).toBe(1);
  expect(scraped.value('amble_oldest_due_page_seconds')).toBe(0);
  expect(scraped.value('amble_workers')).toBe(1);
  const documentation = readFileSync(join(packageRoot, 'docs', 'metrics.md'), 'utf8');
  expect([...scraped.names].filter((name) => !documentation.includes(`| \`${name}\` |`))).toEqual([]);
  await crawl.terminate();
});

test('the server is ready while Postgres and Temporal answer, and alive in any case', async () => {
  const healthy = openDashboard(amble);
  expect((await healthy.get('/readyz')).status).toBe(200);
  const nowhere = new URL(amble.databaseUrl);
  nowhere.port = '1';
  const db = openDatabase(nowhere.href);
  const broken = openDashboard(amble, { db });
  const response = await broken.get('/readyz');
  expect([response.status, await response.text()]).toEqual([503, 'Postgres unavailable\n']);
  expect((await broken.get('/healthz')).status).toBe(200);
  await db.$disconnect();
});
