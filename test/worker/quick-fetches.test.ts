import { expect, test } from 'vitest';
import { QuickFetches } from '../../src/worker/quick-fetches.ts';

/** Returns how many of so many could begin. */
function beginAll(fetches: QuickFetches, count: number): number {
  return Array.from({ length: count }, () => fetches.begin()).filter(Boolean).length;
}

test('pages may stay until their slots while there is room, and fetch for longer than that', () => {
  const fetches = new QuickFetches();
  beginAll(fetches, 149);
  expect(fetches.hasRoom).toBe(true);
  fetches.begin();
  expect(fetches.hasRoom).toBe(false);
  expect(beginAll(fetches, 100)).toBe(50);
  fetches.end();
  expect(beginAll(fetches, 2)).toBe(1);
});

test('no page stays with a worker that stops', async () => {
  const fetches = new QuickFetches();
  const { signal } = new AbortController();
  expect(await fetches.wait(1, signal)).toBe(true);
  const staying = fetches.wait(60_000, signal);
  fetches.stop();
  expect(await staying).toBe(false);
  expect(fetches.hasRoom).toBe(false);
  expect(await fetches.wait(60_000, signal)).toBe(false);
});

test('a page that is cancelled does not stay', async () => {
  const cancelled = new AbortController();
  const staying = new QuickFetches().wait(60_000, cancelled.signal);
  cancelled.abort(new Error('cancelled'));
  await expect(staying).rejects.toThrow('cancelled');
});
