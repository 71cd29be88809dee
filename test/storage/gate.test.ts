import { expect, test } from 'vitest';
import type { Entry } from '../../src/core/gate.ts';
import { emptyStats, type StoredDomain } from '../../src/core/slot-protocol.ts';
import { openDomain, readDomain, saveDomain } from '../../src/storage/domains.ts';
import { leaveGate, passGate, recordStarted } from '../../src/storage/gate.ts';
import { atOnce, readingOf, useDatabase } from './support.ts';

const sent: string[] = [];
const db = useDatabase(({ text }) => sent.push(text.trim().split(' ')[0] ?? ''));

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

function runOf(leaseId: string) {
  return { leaseId, passId: `run of ${leaseId}` };
}

function entry(leaseId: string, overrides: Partial<Entry> = {}): Entry {
  return {
    ...runOf(leaseId),
    origin: 'https://a.test',
    version: 0,
    minGapMs: 60_000,
    delayAfterMs: 60_000,
    concurrency: 1,
    startWithinMs: 15_000,
    maxFetchMs: 60_000,
    repeatable: false,
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
  await recordStarted(db(), 'gap.test', runOf('first'), 0);
  const waits = await passGate(db(), 'gap.test', entry('next', { concurrency: 2 }));
  expect(waits.kind).toBe('wait');
  await leaveGate(db(), 'gap.test', runOf('first'), { kind: 'started', agoMs: 0 });
  const again = await passGate(db(), 'gap.test', entry('next'));
  if (again.kind !== 'wait') throw new Error(again.kind);
  expect(again.ms).toBeGreaterThan(55_000);
  expect(again.ms).toBeLessThanOrEqual(60_005);
  expect((await readDomain(db(), 'gap.test'))?.lastStart).toBeGreaterThanOrEqual(first.openedAt);
});

test('a request that was never sent does not close the gate', async () => {
  await openDomain(db(), 'unused.test');
  await passGate(db(), 'unused.test', entry('first'));
  expect(await leaveGate(db(), 'unused.test', runOf('first'), { kind: 'unused' })).toBe(true);
  expect(await leaveGate(db(), 'unused.test', runOf('never seen'), { kind: 'lost' })).toBe(false);
  expect((await passGate(db(), 'unused.test', entry('next'))).kind).toBe('go');
});

test('what the throttle saves applies at once, and saving does not change the gate', async () => {
  const { epoch } = await openDomain(db(), 'rules.test');
  const passed = entry('first', { minGapMs: 0, delayAfterMs: 0 });
  expect((await passGate(db(), 'rules.test', passed)).kind).toBe('go');
  await leaveGate(db(), 'rules.test', runOf('first'), { kind: 'started', agoMs: 0 });
  const next = entry('next', { minGapMs: 0, delayAfterMs: 0 });
  await saveDomain(db(), 'rules.test', epoch, { ...STORED, minGapMs: 30_000 }, []);
  expect((await passGate(db(), 'rules.test', next)).kind).toBe('wait');
  await saveDomain(db(), 'rules.test', epoch, { ...STORED, paused: true }, []);
  expect(await passGate(db(), 'rules.test', next)).toMatchObject({ reason: 'the domain is paused' });
  const outage = { since: 1, until: 2, failures: 1, error: 'Refused.', validFrom: 5 };
  await saveDomain(db(), 'rules.test', epoch, { ...STORED, outages: { 'https://a.test': outage } }, []);
  expect((await passGate(db(), 'rules.test', next)).kind).toBe('void');
  // Within a few milliseconds of the first request it has to wait.
  expect((await passGate(db(), 'rules.test', { ...next, version: 5 })).kind).not.toBe('void');
});

test('a domain that a restored database does not know is put on record by its next request', async () => {
  await leaveGate(db(), 'unknown.test', runOf('before'), { kind: 'lost' });
  expect((await passGate(db(), 'unknown.test', entry('first'))).kind).toBe('go');
  expect((await readDomain(db(), 'unknown.test'))?.lastStart).not.toBeNull();
});

test('who knows the row passes and leaves with one statement each', async () => {
  await openDomain(db(), 'known.test');
  const known = await readingOf(db(), 'known.test');
  sent.length = 0;
  const passed = await passGate(db(), 'known.test', entry('first'), known);
  if (passed.kind !== 'go') throw new Error(passed.kind);
  expect(await leaveGate(db(), 'known.test', runOf('first'), { kind: 'unused' }, passed.reading)).toBe(true);
  expect(sent).toEqual(['UPDATE', 'UPDATE']);
  expect((await readingOf(db(), 'known.test')).row.gate.open).toEqual([]);
});

test('a row that has changed since is read again', async () => {
  const { epoch } = await openDomain(db(), 'changed.test');
  const known = await readingOf(db(), 'changed.test');
  await saveDomain(db(), 'changed.test', epoch, { ...STORED, paused: true }, []);
  const paused = { kind: 'void', reason: 'the domain is paused' };
  expect(await passGate(db(), 'changed.test', entry('first'), known)).toMatchObject(paused);
  const knownAsPaused = await readingOf(db(), 'changed.test');
  await saveDomain(db(), 'changed.test', epoch, STORED, []);
  const passed = await passGate(db(), 'changed.test', entry('first'), knownAsPaused);
  if (passed.kind !== 'go') throw new Error(passed.kind);
  await saveDomain(db(), 'changed.test', epoch, { ...STORED, minGapMs: 30_000 }, []);
  await leaveGate(db(), 'changed.test', runOf('first'), { kind: 'started', agoMs: 0 }, passed.reading);
  const { row } = await readingOf(db(), 'changed.test');
  expect(row.rules.minGapMs).toBe(30_000);
  expect(row.gate.open).toEqual([]);
});

test('who knows when the gap is over need not read the row again', async () => {
  await openDomain(db(), 'soon.test');
  await passGate(db(), 'soon.test', entry('first'));
  await leaveGate(db(), 'soon.test', runOf('first'), { kind: 'started', agoMs: 0 });
  const { row } = await readingOf(db(), 'soon.test');
  let now = row.now;
  const clock = { atLeast: () => now, atMost: () => now };
  sent.length = 0;
  const early = await passGate(db(), 'soon.test', entry('next'), { row, clock });
  if (early.kind !== 'wait') throw new Error(early.kind);
  now += early.ms;
  expect((await passGate(db(), 'soon.test', entry('next'), early.reading)).kind).toBe('go');
  expect(sent).toEqual(['UPDATE']);
});

test('a worker whose clock was set asks the database for the time', async () => {
  await openDomain(db(), 'set.test');
  const passed = await passGate(db(), 'set.test', entry('first'));
  if (passed.kind !== 'go') throw new Error(passed.kind);
  const hourLater = passed.openedAt + 3_600_000;
  const known = { ...passed.reading, clock: { atLeast: () => passed.openedAt, atMost: () => hourLater } };
  await leaveGate(db(), 'set.test', runOf('first'), { kind: 'started', agoMs: 0, closeMs: 1_000 }, known);
  const { row } = await readingOf(db(), 'set.test');
  expect(row.gate.delayUntil).toBeLessThan(hourLater - 1_800_000);
});
