import { expect, test } from 'vitest';
import { emptyStats, type PersistedBounds, type StoredDomain } from '../../src/core/slot-protocol.ts';
import { openDomain, saveDomain } from '../../src/storage/domains.ts';
import { atOnce, useDatabase } from './support.ts';

const db = useDatabase();

const ASSURE: PersistedBounds = { maxGapMs: 1_000, maxStartWindowMs: 15_000 };
const open = (name: string, assure = ASSURE) => openDomain(db(), name, assure);

const learned: StoredDomain = {
  clean: true,
  lastStart: 1_790_000_000_123,
  maxGapMs: 10_000,
  maxStartWindowMs: 60_000,
  delay: { minMs: 2_000, maxMs: 5_000 },
  paused: true,
  backoffMs: 40_000,
  blockedUntil: 1_790_000_060_000,
  crawlDelays: { 'https://a.test': 30_000 },
  outages: { 'https://b.test': { since: 1, until: 1_790_000_060_000, failures: 2, error: 'Refused.' } },
  stats: { ...emptyStats(), granted: 7, averageDurationMs: 12.5, recentResponses: ['ok', 'broken'] },
};

/** A domain whose last throttle stored this. */
async function leave(name: string, stored: StoredDomain): Promise<void> {
  const { epoch } = await open(name);
  await saveDomain(db(), name, epoch, stored);
}

test('a new domain has nothing stored, and is not clean once it is opened', async () => {
  expect(await open('new.test')).toMatchObject({ stored: null, persistedBounds: ASSURE });
  expect(await open('new.test')).toMatchObject({ stored: { clean: false, lastStart: null, delay: null } });
});

test('the next execution of a throttle reads what the last one saved', async () => {
  await leave('a.test', learned);
  expect((await open('a.test')).stored).toEqual(learned);
  const plain = {
    ...learned,
    lastStart: null,
    delay: null,
    blockedUntil: null,
    crawlDelays: {},
    outages: {},
  };
  await leave('a.test', plain);
  expect((await open('a.test')).stored).toEqual(plain);
});

test('opening marks the row as not clean, so that a crash does not look like an orderly end', async () => {
  await leave('b.test', learned);
  expect((await open('b.test')).stored).toMatchObject({ clean: true });
  expect((await open('b.test')).stored).toMatchObject({ clean: false, lastStart: learned.lastStart });
});

test('if several open the row at once, at most one of them reads it as clean', async () => {
  await leave('c.test', learned);
  const opened = await atOnce(10, () => open('c.test'));
  expect(opened.filter(({ stored }) => stored?.clean)).toHaveLength(1);
  expect(new Set(opened.map(({ epoch }) => epoch)).size).toBe(10);
});

test('an execution that was followed by another can no longer write', async () => {
  const old = await open('d.test');
  await leave('d.test', learned);
  await saveDomain(db(), 'd.test', old.epoch, { ...learned, lastStart: 1, paused: false });
  expect((await open('d.test')).stored).toEqual(learned);
});

test('the longest gap of the last execution is kept, and after a crash its start window too', async () => {
  await leave('e.test', learned);
  const orderly = await open('e.test');
  expect(orderly.persistedBounds).toEqual({ maxGapMs: 10_000, maxStartWindowMs: 15_000 });
  await saveDomain(db(), 'e.test', orderly.epoch, { ...learned, clean: false });
  expect((await open('e.test')).persistedBounds).toEqual({ maxGapMs: 10_000, maxStartWindowMs: 60_000 });
  expect((await open('e.test', { maxGapMs: 20_000, maxStartWindowMs: 90_000 })).persistedBounds).toEqual({
    maxGapMs: 20_000,
    maxStartWindowMs: 90_000,
  });
});
