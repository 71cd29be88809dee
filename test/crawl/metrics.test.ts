/** The metrics of a real worker after a real crawl, as Prometheus would read them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import getPort from 'get-port';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { WORKER_METRIC_NAMES } from '../../src/worker/metrics.ts';
import { openDashboard } from '../dashboard/support.ts';
import {
  alertExpressions,
  boardExpressions,
  groupingLabelsOf,
  labelValuesOf,
  metricsOf,
} from '../support/promql.ts';
import { parseExposition, type Scrape, scrape } from '../support/scrape.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';
import { type AmbleProcess, startAmbleProcess } from '../support/worker-process.ts';

let amble: AmbleProcess;
let web: TestWeb;
let scraped: Scrape;
/** Of the server. */
let served: Scrape;

const expressions = [...boardExpressions(), ...alertExpressions()];
/** Prometheus adds them to what it scrapes. */
const OWN_LABELS = ['job', 'instance'];

beforeAll(async () => {
  web = await startWeb({
    site: (path, { count }) => {
      if (path === '/')
        return { body: links('/ok', '/gone', '/flaky', '/moved', '/file.pdf', '/slow', '/broken') };
      if (path === '/ok') return { body: `<title>Fine</title>${'x'.repeat(10_000)}` };
      if (path === '/flaky') return count < 2 ? { status: 503 } : { body: 'better' };
      if (path === '/moved') return { status: 301, headers: { location: '/ok' } };
      if (path === '/file.pdf') return { headers: { 'content-type': 'application/pdf' }, body: '%PDF' };
      // Later than headersTimeout.
      if (path === '/slow') return { afterMs: 5_000 };
      if (path === '/broken') return { headers: { 'content-encoding': 'gzip' }, body: 'not compressed' };
      return undefined;
    },
  });
  const address = `127.0.0.1:${await getPort({ host: '127.0.0.1' })}`;
  amble = await startAmbleProcess({
    settings: { metrics: { listen: address } },
    tuning: { crawl: { sweepIntervalMs: 300 } },
    env: {},
  });
  const retry = { initialInterval: '100ms', maximumAttempts: 2 };
  await amble.crawl({
    seeds: [web.url('site')],
    ...web.network,
    delay: '20ms',
    retry,
    fetch: { headersTimeout: '500ms' },
  });
  // Sampled every few seconds.
  await vi.waitFor(async () => {
    scraped = await scrape(`http://${address}/metrics`);
    expect(scraped.value('amble_content_store_free_bytes')).toBeGreaterThan(0);
  }, 15_000);
  served = parseExposition(await (await openDashboard(amble).get('/metrics')).text());
}, 120_000);

afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

test('pages are counted by final status, and attempts by outcome and kind of error, as they are on record', async () => {
  const pages = await amble.db.page.groupBy({ by: ['status'], _count: true });
  for (const { status, _count } of pages)
    expect([status, scraped.value('amble_pages_total', { status })]).toEqual([status, _count]);
  expect(pages.map(({ status }) => status).sort()).toEqual(['Failed', 'Fetched', 'Redirected', 'Rejected']);
  const attempts = await amble.db.pageCrawl.groupBy({ by: ['outcome', 'errorKind'], _count: true });
  for (const { outcome, errorKind, _count } of attempts) {
    const labels = { outcome, error_kind: errorKind ?? 'none' };
    expect([labels, scraped.value('amble_attempts_total', labels)]).toEqual([labels, _count]);
  }
  expect(scraped.value('amble_slot_wait_seconds_count')).toBe(await amble.db.pageCrawl.count());
});

test('every request is in the histograms of fetch time, gate and lateness', async () => {
  const requests = await amble.db.request.count();
  expect(scraped.sum('amble_fetch_seconds_count')).toBe(requests);
  expect(scraped.value('amble_fetch_seconds_count', { response: '5xx' })).toBe(1);
  expect(scraped.value('amble_gate_wait_seconds_count')).toBe(requests);
  expect(scraped.value('amble_start_lateness_seconds_count')).toBe(requests);
  expect(scraped.value('amble_received_bytes_total')).toBeGreaterThan(10_000);
});

test('every metric that the documentation lists is there, beside those of the SDK', () => {
  const missing = WORKER_METRIC_NAMES.filter((name) => !scraped.names.has(name));
  expect(missing).toEqual([]);
  expect(scraped.names).toContain('temporal_workflow_task_execution_latency_seconds');
  const documentation = readFileSync(join(packageRoot, 'docs', 'metrics.md'), 'utf8');
  const own = [...scraped.names].filter((name) => name.startsWith('amble_'));
  expect(own.filter((name) => !documentation.includes(`\`${name}`))).toEqual([]);
});

test('every metric of the board and of the alert rules is in the scrapes of workers and server', async () => {
  // Prometheus adds it to every scrape.
  const known = new Set([...scraped.names, ...served.names, 'up']);
  const unknown = expressions.flatMap(({ of, promql }) =>
    metricsOf(promql).flatMap((metric) => (known.has(metric) ? [] : [`${of}: ${metric}`])),
  );
  expect(unknown).toEqual([]);
});

test('every label and label value of the board and of the alert rules is in the scrapes', () => {
  const samples = [...scraped.samples, ...served.samples];
  const selected = expressions.flatMap(({ of, promql }) =>
    labelValuesOf(promql).map(({ metric, label, value }) => ({ of, metric, label, value })),
  );
  expect(selected.length).toBeGreaterThan(5);
  const unknownValues = selected.filter(
    ({ metric, label, value }) =>
      !OWN_LABELS.includes(label) &&
      !samples.some(({ name, labels }) => name === metric && labels[label] === value),
  );
  expect(unknownValues).toEqual([]);
  const unknownLabels = expressions.flatMap(({ of, promql }) => {
    const metrics = metricsOf(promql);
    const known = samples.filter(({ name }) => metrics.includes(name.replace(/_(bucket|count|sum)$/, '')));
    return groupingLabelsOf(promql)
      .filter((label) => !OWN_LABELS.includes(label) && !known.some(({ labels }) => label in labels))
      .map((label) => `${of}: ${label}`);
  });
  expect(unknownLabels).toEqual([]);
});

test('no label names a host, a crawl or a page', () => {
  const own = scraped.samples.filter(({ name }) => name.startsWith('amble_'));
  const values = new Set(
    own.flatMap(({ labels }) =>
      Object.entries(labels)
        .filter(([key]) => key !== 'le')
        .map(([, value]) => value),
    ),
  );
  expect([...values].filter((value) => !/^[A-Za-z0-9-]+$|^Content store$/.test(value))).toEqual([]);
  expect(values.size).toBeLessThan(40);
});

test('a second worker on the same port ends with a sentence that names the setting', async () => {
  const address = `127.0.0.1:${new URL(web.url('site')).port}`;
  const second = startAmbleProcess({ settings: { metrics: { listen: address } }, env: {} });
  await expect(second).rejects.toThrow(
    `The metrics cannot be served at ${address} (metrics.listen): Address already in use.`,
  );
});
