/** A worker that crawls many hosts at once. */
import getPort from 'get-port';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { throttleQueue } from '../../workflows/ids.ts';
import { scrape } from '../support/scrape.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { type AmbleProcess, startAmbleProcess } from '../support/worker-process.ts';

const HOSTS = Array.from({ length: 110 }, (_, n) => `host${n}`);

let amble: AmbleProcess;
let web: TestWeb;
let address: string;

beforeAll(async () => {
  web = await startWeb(Object.fromEntries(HOSTS.map((host) => [host, flatSite(0)])));
  address = `127.0.0.1:${await getPort({ host: '127.0.0.1' })}`;
  amble = await startAmbleProcess({
    settings: { metrics: { listen: address } },
    tuning: { crawl: { sweepIntervalMs: 300 } },
    env: {},
  });
}, 120_000);

afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

test('their throttles stay in the cache, so none is replayed for each request', {
  timeout: 120_000,
}, async () => {
  await amble.crawl({ seeds: HOSTS.map((host) => web.url(host)), ...web.network, delay: '10ms' });
  const { samples } = await scrape(`http://${address}/metrics`);
  const cached = samples.find(
    ({ name, labels }) =>
      name === 'temporal_sticky_cache_size' && labels.task_queue === throttleQueue(amble.config.taskQueue),
  );
  expect(cached?.value).toBe(HOSTS.length);
});
