/** The health of a real worker process, and how it ends while a fetch is in progress. */
import getPort from 'get-port';
import { afterAll, expect, test, vi } from 'vitest';
import { links, startWeb } from '../support/web.ts';
import { startAmbleProcess } from '../support/worker-process.ts';

const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

test('a worker is ready while it works; told to stop, it is not, and finishes the fetch in progress', async () => {
  const web = await startWeb({
    site: (path) => {
      if (path === '/') return { body: links('/slow') };
      return path === '/slow' ? { body: '<title>At last</title>', afterMs: 3_000 } : undefined;
    },
  });
  closers.push(web.stop);
  const address = `127.0.0.1:${await getPort({ host: '127.0.0.1' })}`;
  const amble = await startAmbleProcess({
    settings: { health: { listen: address }, shutdownTimeout: '20s' },
    tuning: { crawl: { sweepIntervalMs: 300 } },
    env: {},
  });
  closers.push(amble.stop);
  const health = async (path: string) => {
    const response = await fetch(`http://${address}${path}`);
    return [response.status, (await response.text()).trim()];
  };
  expect(await health('/healthz')).toEqual([200, 'ok']);
  expect(await health('/readyz')).toEqual([200, 'ready']);
  expect((await health('/other'))[0]).toBe(404);

  // It cannot end: its worker is stopped.
  void amble.crawl({ seeds: [web.url('site')], ...web.network, delay: '20ms' }).catch(() => {});
  await vi.waitFor(() => expect(web.arrivalsAt('site', '/slow')).toHaveLength(1), 30_000);
  amble.worker.kill('SIGTERM');
  await vi.waitFor(async () => expect(await health('/readyz')).toEqual([503, 'stopping']), 2_000);
  expect(await health('/healthz')).toEqual([200, 'ok']);

  expect((await amble.worker.ended).code).toBe(0);
  await expect(health('/healthz')).rejects.toThrow();
  // The response was waited for, and is on record as soon as another worker takes the page up.
  expect(await amble.db.request.count({ where: { url: web.url('site', '/slow') } })).toBe(0);
  await amble.startAnother();
  await vi.waitFor(async () => {
    expect(await amble.db.page.findFirst({ where: { url: web.url('site', '/slow') } })).toMatchObject({
      status: 'Fetched',
      title: 'At last',
      attempts: 1,
    });
  }, 30_000);
  expect(web.arrivalsAt('site', '/slow')).toHaveLength(1);
}, 120_000);

test('a worker whose content store cannot be written is not ready, even before the first page', async () => {
  const address = `127.0.0.1:${await getPort({ host: '127.0.0.1' })}`;
  const amble = await startAmbleProcess({
    // Nothing can be stored below a file.
    settings: { health: { listen: address }, contentStore: 'amble.config.json/content' },
    env: {},
  });
  closers.push(amble.stop);
  await vi.waitFor(async () => {
    const response = await fetch(`http://${address}/readyz`);
    expect([response.status, await response.text()]).toEqual([503, 'Content store unavailable\n']);
  }, 10_000);
}, 60_000);
