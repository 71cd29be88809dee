/** Workers that share nothing but Temporal, Postgres and S3. */
import getPort from 'get-port';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { messageOf } from '../../src/core/errors.ts';
import { shortGapsOnArrival } from '../support/gaps.ts';
import { scrape } from '../support/scrape.ts';
import { startWeb, type TestWeb } from '../support/web.ts';
import { DELAY_MS, type Fleet, type Machine, startFleet } from './fleet.ts';
import { createNamespaces, type Namespaces } from './namespaces.ts';

const LOOPBACK = '127.0.0.1';
const HOSTS = ['a', 'b', 'c', 'd', 'e', 'f'];
const PATHS = Array.from({ length: 8 }, (_, index) => `/${index}`);

let fleet: Fleet;
let web: TestWeb;

beforeAll(async () => {
  const body = PATHS.map((path) => `<a href="${path}">${path}</a>`).join('');
  const site = (path: string) => (PATHS.includes(path) ? { body } : undefined);
  web = await startWeb(Object.fromEntries(HOSTS.map((host) => [host, site])));
  fleet = await startFleet();
});
afterAll(async () => {
  await fleet?.stop();
  await web?.stop();
});

async function expectPoliteCrawl(
  crawlId: string,
  machines: readonly Machine[],
  address = LOOPBACK,
): Promise<void> {
  const ports = await Promise.all(machines.map(() => getPort()));
  const workers = await Promise.all(
    machines.map(({ inside = [], env = {} }, index) =>
      fleet.startWorker({ inside, env: { ...env, AMBLE_METRICS_LISTEN: `${LOOPBACK}:${ports[index]}` } }),
    ),
  );
  web.arrivals.length = 0;
  const seeds = HOSTS.map((host) => web.url(host, '/0'));
  await fleet.startCrawl(
    crawlId,
    seeds,
    HOSTS.map((host) => `${web.name(host)}:${address}`),
  );
  await fleet.waitForEnd(crawlId);
  const pages = web.arrivals.filter(({ path }) => path !== '/robots.txt');
  const expected = HOSTS.flatMap((host) => PATHS.map((path) => `${host}${path}`));
  expect(pages.map(({ host, path }) => `${host}${path}`).sort()).toEqual(expected.sort());
  expect(shortGapsOnArrival(web.arrivals, () => DELAY_MS)).toEqual([]);
  expect(await fleet.run('verify', crawlId)).toMatch(/polite/i);
  // The loopback of another network cannot be reached from here; its worker has connected from an address of its own.
  const reachable = address === LOOPBACK ? ports : [];
  for (const port of reachable) {
    const metrics = await scrape(`http://${LOOPBACK}:${port}/metrics`);
    expect(metrics.sum('amble_fetch_seconds_count'), 'requests of one worker').toBeGreaterThan(0);
  }
  for (const worker of workers) worker.kill('SIGTERM');
  for (const { ended } of workers) expect(await ended).toMatchObject({ code: 0 });
}

test.each([
  ['one', [{}]],
  ['two', [{}, {}]],
  ['four', [{}, {}, {}, {}]],
])('%s of them fetch every page once, keep every gap and share the work', expectPoliteCrawl);

test('so do two in networks of their own', async (context) => {
  let namespaces: Namespaces;
  try {
    namespaces = await createNamespaces(2);
  } catch (error) {
    return context.skip(`This machine allows no network namespaces (${messageOf(error)}).`);
  }
  const { gateway, prefixes } = namespaces;
  onTestFinished(() => namespaces.remove());
  const services = ['TEMPORAL_ADDRESS', 'DATABASE_URL', 'AWS_ENDPOINT_URL'];
  const env = Object.fromEntries(
    services.map((name) => [name, `${fleet.env[name]}`.replace(/127\.0\.0\.1|localhost/, gateway)]),
  );
  for (const address of Object.values(env))
    await namespaces.expose(Number.parseInt(address.split(`${gateway}:`)[1] ?? '', 10));
  const peers = await namespaces.expose(Number(new URL(web.url('a')).port));
  const settings = { ...env, TEMPORAL_TLS_SERVER_NAME: 'localhost', AMBLE_ALLOW_NETWORK: `${gateway}/32` };
  const machines = prefixes.map((inside) => ({ inside, env: settings }));
  await expectPoliteCrawl('apart', machines, gateway);
  expect(peers.size).toBe(prefixes.length);
});
