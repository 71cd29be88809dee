import { expect, test } from 'vitest';
import { openDomain, saveDomain } from '../../src/storage/domains.ts';
import { emptyStats } from '../../workflows/throttle/state.ts';
import type { StoredDomain } from '../../workflows/throttle/types.ts';
import { atOnce, useDatabase } from './support.ts';

const db = useDatabase();

const stored: StoredDomain = {
  clean: true,
  lastStart: 1_790_000_000_123,
  lastGapMs: 10_000,
  delay: { minMs: 2_000, maxMs: 5_000 },
  paused: true,
  backoffMs: 40_000,
  crawlDelays: { 'https://a.test': 30_000 },
  stats: { ...emptyStats(), granted: 7, averageTookMs: 12.5 },
};

test('a domain nobody has met yet has nothing stored, and is unclean from its first opening on', async () => {
  expect(await openDomain(db(), 'new.test')).toBeNull();
  expect(await openDomain(db(), 'new.test')).toMatchObject({ clean: false, lastStart: null, delay: null });
});

test('what a throttle saved is what its next life reads', async () => {
  await saveDomain(db(), 'a.test', stored);
  expect(await openDomain(db(), 'a.test')).toEqual(stored);
  const plain = { ...stored, lastStart: null, delay: null, paused: false, crawlDelays: {} };
  await saveDomain(db(), 'a.test', plain);
  expect(await openDomain(db(), 'a.test')).toEqual(plain);
});

test('opening marks the row unclean, so that a crash does not look like an orderly end', async () => {
  await saveDomain(db(), 'b.test', stored);
  expect(await openDomain(db(), 'b.test')).toMatchObject({ clean: true });
  expect(await openDomain(db(), 'b.test')).toEqual({ ...stored, clean: false });
});

test('opened by several at once, one of them at most takes the last end for an orderly one', async () => {
  await saveDomain(db(), 'c.test', stored);
  const opened = await atOnce(10, () => openDomain(db(), 'c.test'));
  expect(opened.filter((domain) => domain?.clean)).toHaveLength(1);
});
