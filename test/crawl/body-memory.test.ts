import { expect, onTestFinished, test, vi } from 'vitest';
import type { BodyMemory } from '../../src/http/index.ts';
import { startAmble } from '../support/amble.ts';
import { expectPolite } from '../support/expect-polite.ts';
import { startWeb } from '../support/web.ts';

const MEMORY_BYTES = 1_000_000;

test('a page without memory for its body is fetched again, and three such fetches cost one attempt', async () => {
  let memory: BodyMemory | undefined;
  const amble = await startAmble(
    { tuning: { maxBodyMemoryBytes: MEMORY_BYTES } },
    undefined,
    undefined,
    (deps) => {
      memory = deps.bodyMemory;
      return deps;
    },
  );
  onTestFinished(() => amble.stop());
  const web = await startWeb({ site: (path) => (path === '/' ? { body: 'x'.repeat(50_000) } : undefined) });
  onTestFinished(() => web.stop());
  // Bodies that arrived, but cannot be stored for a while.
  const stored = memory?.open('other.test');
  await stored?.take(MEMORY_BYTES);
  stored?.complete();

  const crawl = await amble.start({
    seeds: [web.url('site')],
    ...web.network,
    fetch: { headersTimeout: '400ms', totalTimeout: '500ms', maxBodySize: '100KiB' },
    retry: { initialInterval: '1s' },
  });
  await vi.waitFor(async () => expect(await amble.db.pageCrawl.count()).toBe(1), 30_000);
  stored?.release();
  expect(await crawl.result()).toMatchObject({ pages: { Fetched: 1 } });

  const attempts = await amble.db.pageCrawl.findMany({ orderBy: { attempt: 'asc' } });
  expect(attempts).toMatchObject([
    { outcome: 'Failed', errorKind: 'lost', error: expect.stringContaining('need too much memory') },
    { outcome: 'Success' },
  ]);
  expect(web.arrivalsAt('site', '/')).toHaveLength(4);
  expect(memory?.heldBytes).toBe(0);
  await expectPolite(amble.db);
}, 60_000);
