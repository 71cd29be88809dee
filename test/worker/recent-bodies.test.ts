import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openDirectoryStore } from '../../src/worker/content-store.ts';
import { withRecentBodies } from '../../src/worker/recent-bodies.ts';

async function newStore(maxBytes?: number) {
  const directory = await mkdtemp(join(tmpdir(), 'amble-recent-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return { directory, store: withRecentBodies(openDirectoryStore(directory), maxBytes) };
}

it('a body that was just stored is not read back from disk', async () => {
  const { directory, store } = await newStore();
  const key = await store.put(Buffer.from('a body'));
  await rm(directory, { recursive: true });
  expect((await store.get(key)).toString()).toBe('a body');
});

it('a body is kept for one reader only', async () => {
  const { directory, store } = await newStore();
  const key = await store.put(Buffer.from('a body'));
  await store.get(key);
  expect((await store.get(key)).toString()).toBe('a body');
  await rm(directory, { recursive: true });
  await expect(store.get(key)).rejects.toThrow('could not be read');
});

it('beyond the bound the oldest bodies are read from the store', async () => {
  const { directory, store } = await newStore(1_000);
  const keys = [];
  for (const text of ['a', 'b', 'c']) keys.push(await store.put(Buffer.alloc(400, text)));
  expect(await store.get(keys[0] ?? '')).toEqual(Buffer.alloc(400, 'a'));
  await rm(directory, { recursive: true });
  await expect(store.get(keys[0] ?? '')).rejects.toThrow('could not be read');
  expect(await store.get(keys[2] ?? '')).toEqual(Buffer.alloc(400, 'c'));
});
