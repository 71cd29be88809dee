import { expect, test } from 'vitest';
import type { Dependency, Injected, LogLine } from './evidence.ts';
import { judgeNoise, readLog } from './noise.ts';

const UNAVAILABLE = 'Postgres unavailable; retrying (no data lost)';
const AVAILABLE = 'Postgres available again';

function line(msg: string, more: Partial<LogLine> = {}): LogLine {
  return { worker: 'worker-1', pid: 1, atMs: 0, level: 40, msg, ...more };
}

function fault(takesAway?: Dependency): Injected {
  const times = { fromMs: 0, untilMs: 1, exposed: [], isSiteFailure: false };
  return { fault: 'a fault', ...times, ...(takesAway && { unavailable: takesAway }) };
}

test('an outage logged once at its start and once at its end is accepted', () => {
  const logged = [line(UNAVAILABLE), line(AVAILABLE, { level: 30 })];
  expect(judgeNoise([...logged, ...logged], [fault('Postgres'), fault('Postgres')])).toEqual([]);
  const each = ['worker-1', 'worker-2'].map((worker, pid) => line(UNAVAILABLE, { worker, pid }));
  expect(judgeNoise(each, [fault('Postgres')])).toEqual([]);
});

test('an outage logged twice by one process is caught', () => {
  expect(judgeNoise([line(UNAVAILABLE), line(UNAVAILABLE)], [fault('Postgres'), fault('Postgres')])).toEqual([
    'worker-1 logged one outage of Postgres twice',
  ]);
  const next = [line(UNAVAILABLE), line(UNAVAILABLE, { pid: 2 })];
  expect(judgeNoise(next, [fault('Postgres'), fault('Postgres')])).toEqual([]);
});

test('more outages in the log than were injected are caught', () => {
  const twice = [line(UNAVAILABLE), line(AVAILABLE), line(UNAVAILABLE), line(AVAILABLE)];
  expect(judgeNoise(twice, [fault('Postgres'), fault('Temporal'), fault()])).toEqual([
    `worker-1 logged 2 times in 1 outages: ${UNAVAILABLE}`,
  ]);
});

test('any other warning may be logged once per fault', () => {
  const often = (count: number, level = 40) => Array.from({ length: count }, () => line('odd', { level }));
  expect(judgeNoise(often(2), [fault(), fault()])).toEqual([]);
  expect(judgeNoise(often(2), [fault()])).toEqual(['worker-1 logged 2 times in 1 faults: odd']);
  expect(judgeNoise(often(2, 30), [fault()])).toEqual([]);
});

test('any error is caught', () => {
  expect(judgeNoise([line('a bug', { level: 50 })], [fault()])).toEqual(['worker-1 logged an error: a bug']);
});

test('only JSON lines of a log are read', () => {
  const log = 'Worker ready\n{"level":40,"time":5,"pid":7,"msg":"a bug"}\n\n';
  expect(readLog('worker-1', log)).toEqual([line('a bug', { pid: 7, atMs: 5 })]);
});
