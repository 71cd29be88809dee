/** What a page costs in events. The recorded histories are what the workflows do, as long as replay agrees with them. */
import { expect, test } from 'vitest';
import type { HistoryName } from './evidence.ts';
import { load, recordedNames, textOf } from './histories.ts';
import { summarize } from './history.ts';

const EVENTS_PER_PAGE = 19;
/** That sleeps until its slot and fetches within its workflow task. */
const EVENTS_PER_QUICK_PAGE = 14;
/** That waits for it there too, and admits no pages. */
const EVENTS_PER_STAYING_PAGE = 8;
/** robots.txt, a redirect of it, another attempt: one more slot, fetch and, if it counts, record. */
const EVENTS_PER_FURTHER_REQUEST = 11;

/** Opening, saving, ending, and the signals with reports that no ask brought along. */
const EVENTS_PER_THROTTLE = 35;
const EVENTS_PER_ASK = 5;

const MAX_BYTES = 80_000;

function countLines(name: HistoryName, beginning: string): number {
  return summarize(load(name)).filter((line) => line.startsWith(beginning)).length;
}

test.each<HistoryName>(['granted.page', 'redirected.page', 'retried.page', 'deferred.page'])(
  '%s has no more events than documented',
  (name) => {
    const requests = countLines(name, 'scheduled fetchPage');
    expect(requests).toBeGreaterThan(0);
    expect(load(name).events.length).toBeLessThanOrEqual(
      EVENTS_PER_PAGE + EVENTS_PER_FURTHER_REQUEST * (requests - 1),
    );
  },
);

test('a page of a quick site has no more events than documented', () => {
  expect(load('reserved.page').events.length).toBeLessThanOrEqual(EVENTS_PER_QUICK_PAGE);
  expect(load('staying.page').events.length).toBeLessThanOrEqual(EVENTS_PER_STAYING_PAGE);
});

test('a throttle has no more events than documented', () => {
  const asks = countLines('granted.throttle', 'answered acquire granted');
  expect(asks).toBeGreaterThan(0);
  expect(load('granted.throttle').events.length).toBeLessThanOrEqual(
    EVENTS_PER_THROTTLE + EVENTS_PER_ASK * asks,
  );
});

test.each(recordedNames())('the history %s is small enough to be read', (name) => {
  expect(Buffer.byteLength(textOf(name))).toBeLessThan(MAX_BYTES);
});
