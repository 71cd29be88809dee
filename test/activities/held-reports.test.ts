import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { gateEndOf, HeldReports, holdMsOf, isNews } from '../../activities/slot/held-reports.ts';
import type { Release, ResponseClass } from '../../src/core/slot-protocol.ts';
import { startedNow } from '../throttle/support.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function report(leaseId: string, responseClass: ResponseClass = 'ok'): Release {
  return { leaseId, use: { kind: 'started', agoMs: 100, durationMs: 50, responseClass } };
}

function held({ failures = 0 } = {}) {
  const sent: Array<[string, string[]]> = [];
  const reports = new HeldReports(async (domain, releases) => {
    sent.push([domain, releases.map(({ leaseId }) => leaseId)]);
    return sent.length > failures;
  });
  return { reports, sent };
}

test('reports go out once, with the next ask for their domain, and know how old they are', async () => {
  const { reports, sent } = held();
  reports.hold('a.test', [report('1')]);
  await vi.advanceTimersByTimeAsync(1_000);
  reports.hold('a.test', [report('2')]);
  reports.hold('b.test', [report('3')]);
  expect(reports.take('a.test')).toMatchObject([
    { leaseId: '1', use: { agoMs: 1_100 } },
    { leaseId: '2', use: { agoMs: 100 } },
  ]);
  expect(reports.take('a.test')).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent).toEqual([['b.test', ['3']]]);
});

test('reports are sent together if no page asks within five seconds of the first', async () => {
  const { reports, sent } = held();
  reports.hold('a.test', [report('1')]);
  await vi.advanceTimersByTimeAsync(4_000);
  reports.hold('a.test', [report('2')]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent).toEqual([['a.test', ['1', '2']]]);
});

test('a report that may wait for longer does not keep back one that may not', async () => {
  const { reports, sent } = held();
  reports.hold('a.test', [report('1')], 25_000);
  await vi.advanceTimersByTimeAsync(10_000);
  reports.hold('a.test', [{ leaseId: '2', use: { kind: 'unused' } }]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent).toEqual([['a.test', ['1', '2']]]);
});

test('a report of a success may wait for the pages that are admitted gaps later, at most a minute', () => {
  expect([0, 1_000, 10_000, 3_600_000].map((gapMs) => holdMsOf(report('1'), gapMs))).toEqual([
    5_000, 5_000, 25_000, 60_000,
  ]);
  expect(holdMsOf({ use: { kind: 'unused' } }, 10_000)).toBe(5_000);
});

test('reports that could not be delivered are sent again', async () => {
  const { reports, sent } = held({ failures: 1 });
  reports.hold('a.test', [report('1')]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(sent).toEqual([
    ['a.test', ['1']],
    ['a.test', ['1']],
  ]);
});

test('an ask that is repeated carries no reports: the server would repeat its first answer', () => {
  const { reports } = held();
  reports.hold('a.test', [report('1')]);
  const taken = reports.takeFor('ask', 'a.test');
  reports.returnFrom('ask', 'a.test', taken);
  reports.hold('a.test', [report('2')]);
  expect(reports.takeFor('ask', 'a.test')).toEqual([]);
  expect(reports.takeFor('another', 'a.test').map(({ leaseId }) => leaseId)).toEqual(['1', '2']);
});

test('a process that stops sends all of them', async () => {
  const { reports, sent } = held();
  reports.hold('a.test', [report('1')]);
  reports.hold('b.test', [report('2')]);
  await reports.flushAll();
  expect(sent).toEqual([
    ['a.test', ['1']],
    ['b.test', ['2']],
  ]);
});

test('anything but a success or an unused slot is news', () => {
  expect(isNews(report('1'))).toBe(false);
  expect(isNews({ use: { kind: 'unused' } })).toBe(false);
  expect(isNews(report('1', 'overloaded'))).toBe(true);
  expect(isNews({ use: { kind: 'lost' } })).toBe(true);
  const crawlDelay = (delayMs: number | null) => ({ origin: 'https://a.test', delayMs });
  expect(isNews({ ...report('1'), crawlDelay: crawlDelay(5_000) })).toBe(true);
  expect(isNews({ ...report('1'), crawlDelay: crawlDelay(null) })).toBe(false);
});

test('the gate stays closed for a Retry-After or a longer gap, in case the throttle is slow to write its rules', () => {
  const closeMs = (gapMs: number, retryAfterMs = 0) => {
    const use = { ...startedNow('overloaded'), retryAfterMs };
    const end = gateEndOf({ use }, gapMs);
    return end.kind === 'started' ? end.closeMs : null;
  };
  expect(closeMs(100)).toBe(1_000);
  expect(closeMs(10_000)).toBe(20_000);
  expect(closeMs(10_000, 30_000)).toBe(30_000);
  expect(closeMs(3_600_000, 7_200_000)).toBe(60_000);
});

test('the gate closes for a moment only after a response that makes the rules stricter', () => {
  const closeMs = (release: Release) => {
    const end = gateEndOf(release);
    return end.kind === 'started' ? end.closeMs : null;
  };
  const classes: ResponseClass[] = ['ok', 'not-found', 'overloaded', 'unreachable'];
  expect(classes.map((responseClass) => closeMs(report('1', responseClass)))).toEqual([0, 0, 1_000, 1_000]);
  const crawlDelay = (delayMs: number | null) => ({ origin: 'https://a.test', delayMs });
  expect(closeMs({ ...report('1'), crawlDelay: crawlDelay(null) })).toBe(0);
  expect(closeMs({ ...report('1'), crawlDelay: crawlDelay(5_000) })).toBe(1_000);
});
