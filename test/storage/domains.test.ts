import { expect, test } from 'vitest';
import { emptyStats, type StoredDomain } from '../../src/core/slot-protocol.ts';
import { openDomain, saveDomain } from '../../src/storage/domains.ts';
import { atOnce, useDatabase } from './support.ts';

const db = useDatabase();

const open = (name: string) => openDomain(db(), name);

const learned: StoredDomain = {
  validFrom: 3,
  minGapMs: 40_000,
  delay: { minMs: 2_000, maxMs: 5_000 },
  paused: true,
  backoffMs: 40_000,
  blockedUntil: 1_790_000_060_000,
  crawlDelays: { 'https://a.test': 30_000 },
  outages: {
    'https://b.test': { since: 1, until: 1_790_000_060_000, failures: 2, error: 'Refused.', validFrom: 2 },
  },
  stats: { ...emptyStats(), granted: 7, averageDurationMs: 12.5, recentResponses: ['ok', 'broken'] },
};

/** A domain whose last throttle stored this. */
async function leave(name: string, stored: StoredDomain): Promise<void> {
  const { epoch } = await open(name);
  await saveDomain(db(), name, epoch, stored, []);
}

test('a new domain has nothing stored', async () => {
  expect(await open('new.test')).toEqual({ stored: null, epoch: 1 });
  expect(await open('new.test')).toMatchObject({ stored: { validFrom: 0, paused: false }, epoch: 2 });
});

test('the next execution of a throttle reads what the last one saved', async () => {
  await leave('a.test', learned);
  expect((await open('a.test')).stored).toEqual(learned);
  const plain = { ...learned, delay: null, blockedUntil: null, crawlDelays: {}, outages: {} };
  await leave('a.test', plain);
  expect((await open('a.test')).stored).toEqual(plain);
});

test('if several open the row at once, each has an epoch of its own', async () => {
  const opened = await atOnce(10, () => open('c.test'));
  expect(new Set(opened.map(({ epoch }) => epoch)).size).toBe(10);
});

test('an execution that was followed by another can no longer write', async () => {
  const old = await open('d.test');
  await leave('d.test', learned);
  expect(await saveDomain(db(), 'd.test', old.epoch, { ...learned, paused: false }, [])).toBe(false);
  expect((await open('d.test')).stored).toEqual(learned);
});

test('an execution that is newer than its row writes it, and adds a missing row', async () => {
  await open('e.test');
  for (const name of ['e.test', 'f.test']) {
    expect(await saveDomain(db(), name, 3, learned, [])).toBe(true);
    expect(await open(name)).toEqual({ stored: learned, epoch: 4 });
  }
});
