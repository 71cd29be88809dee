import { expect, test } from 'vitest';
import type { Entry } from '../../src/core/gate.ts';
import { emptyStats, type StoredDomain } from '../../src/core/slot-protocol.ts';
import { openDomain, readDomain, saveDomain } from '../../src/storage/domains.ts';
import { leaveGate, passGate, recordStarted } from '../../src/storage/gate.ts';
import { atOnce, useDatabase } from './support.ts';

const db = useDatabase();

const STORED: StoredDomain = {
  validFrom: 0,
  minGapMs: 0,
  delay: null,
  paused: false,
  backoffMs: 0,
  blockedUntil: null,
  crawlDelays: {},
  outages: {},
  stats: emptyStats(),
};

function entry(leaseId: string, overrides: Partial<Entry> = {}): Entry {
  return {
    leaseId,
    origin: 'https://a.test',
    version: 0,
    minGapMs: 60_000,
    delayAfterMs: 60_000,
    concurrency: 1,
    startWithinMs: 15_000,
    maxFetchMs: 60_000,
    ...overrides,
  };
}

test('of many that try at once, one passes', async () => {
  await openDomain(db(), 'one.test');
  let n = 0;
  const verdicts = await atOnce(10, () => passGate(db(), 'one.test', entry(`lease ${n++}`)));
  expect(verdicts.filter(({ kind }) => kind === 'go')).toHaveLength(1);
  expect(verdicts.filter(({ kind }) => kind === 'busy')).toHaveLength(9);
});

test('as many pass at once as may be open', async () => {
  await openDomain(db(), 'some.test');
  let n = 0;
  const free = { minGapMs: 0, delayAfterMs: 0, concurrency: 3 };
  const verdicts = await atOnce(8, () => passGate(db(), 'some.test', entry(`lease ${n++}`, free)));
  expect(verdicts.filter(({ kind }) => kind === 'go')).toHaveLength(3);
});

test('the gap counts from the reported start, on the clock of the database', async () => {
  await openDomain(db(), 'gap.test');
  const first = await passGate(db(), 'gap.test', entry('first', { concurrency: 2 }));
  if (first.kind !== 'go') throw new Error(first.kind);
  await recordStarted(db(), 'gap.test', 'first', 0);
  const waits = await passGate(db(), 'gap.test', entry('next', { concurrency: 2 }));
  expect(waits.kind).toBe('wait');
  await leaveGate(db(), 'gap.test', 'first', { kind: 'started', agoMs: 0 });
  const again = await passGate(db(), 'gap.test', entry('next'));
  if (again.kind !== 'wait') throw new Error(again.kind);
  expect(again.ms).toBeGreaterThan(55_000);
  expect(again.ms).toBeLessThanOrEqual(60_005);
  expect((await readDomain(db(), 'gap.test'))?.lastStart).toBeGreaterThanOrEqual(first.now);
});

test('a request that was never sent does not close the gate', async () => {
  await openDomain(db(), 'unused.test');
  await passGate(db(), 'unused.test', entry('first'));
  await leaveGate(db(), 'unused.test', 'first', { kind: 'unused' });
  expect((await passGate(db(), 'unused.test', entry('next'))).kind).toBe('go');
});

test('what the throttle saves applies at once, and saving does not change the gate', async () => {
  const { epoch } = await openDomain(db(), 'rules.test');
  const passed = entry('first', { minGapMs: 0, delayAfterMs: 0 });
  expect((await passGate(db(), 'rules.test', passed)).kind).toBe('go');
  await leaveGate(db(), 'rules.test', 'first', { kind: 'started', agoMs: 0 });
  const next = entry('next', { minGapMs: 0, delayAfterMs: 0 });
  await saveDomain(db(), 'rules.test', epoch, { ...STORED, minGapMs: 30_000 });
  expect((await passGate(db(), 'rules.test', next)).kind).toBe('wait');
  await saveDomain(db(), 'rules.test', epoch, { ...STORED, paused: true });
  expect(await passGate(db(), 'rules.test', next)).toMatchObject({ reason: 'the domain is paused' });
  const outage = { since: 1, until: 2, failures: 1, error: 'Refused.', validFrom: 5 };
  await saveDomain(db(), 'rules.test', epoch, { ...STORED, outages: { 'https://a.test': outage } });
  expect((await passGate(db(), 'rules.test', next)).kind).toBe('void');
  expect((await passGate(db(), 'rules.test', { ...next, version: 5 })).kind).toBe('go');
});

test('a domain that is not on record lets nothing pass', async () => {
  expect(await passGate(db(), 'unknown.test', entry('first'))).toMatchObject({ kind: 'void' });
  await leaveGate(db(), 'unknown.test', 'first', { kind: 'lost' });
});
