/** What a page costs in events. The recorded histories are what the workflows do, as long as replay agrees with them. */
import { expect, test } from 'vitest';
import type { HistoryName } from './evidence.ts';
import { load, recordedNames, textOf } from './histories.ts';
import { summarize } from './history.ts';

const EVENTS_PER_PAGE = 19;
/** robots.txt, a redirect of it, another attempt: one more slot, fetch and, if it counts, record. */
const EVENTS_PER_FURTHER_REQUEST = 11;

const EVENTS_PER_THROTTLE = 25;
const EVENTS_PER_DIRECT_GRANT = 12;
/** A timer, and a signal to the page. */
const EVENTS_PER_QUEUED_GRANT = 18;

const MAX_BYTES = 80_000;

function countLines(name: HistoryName, beginning: string): number {
  return summarize(load(name)).filter((line) => line.startsWith(beginning)).length;
}

test.each<HistoryName>(['granted.page', 'queued.page', 'redirected.page', 'retried.page', 'deferred.page'])(
  '%s has no more events than documented',
  (name) => {
    const requests = countLines(name, 'scheduled fetchPage');
    expect(requests).toBeGreaterThan(0);
    expect(load(name).events.length).toBeLessThanOrEqual(
      EVENTS_PER_PAGE + EVENTS_PER_FURTHER_REQUEST * (requests - 1),
    );
  },
);

test.each<HistoryName>(['granted.throttle', 'queued.throttle'])(
  '%s has no more events than documented',
  (name) => {
    const direct = countLines(name, 'answered acquire granted');
    const queued = countLines(name, 'signals granted');
    expect(direct + queued).toBeGreaterThan(0);
    expect(load(name).events.length).toBeLessThanOrEqual(
      EVENTS_PER_THROTTLE + EVENTS_PER_DIRECT_GRANT * direct + EVENTS_PER_QUEUED_GRANT * queued,
    );
  },
);

test.each(recordedNames())('the history %s is small enough to be read', (name) => {
  expect(Buffer.byteLength(textOf(name))).toBeLessThan(MAX_BYTES);
});
