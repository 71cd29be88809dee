/**
 * What a page costs in events, as docs/architecture.md has it. Counted in the recorded histories: as long as the workflows
 * agree with them they are what the workflows do, and who changes that has to record them anew.
 */
import { expect, test } from 'vitest';
import { load, namesIn, RECORDED, textOf } from './fixtures.ts';
import { storyOf } from './history.ts';
import { nameOf, type Situation } from './situations.ts';

const PAGE = 19;
/** robots.txt, a redirect of it, another attempt: one more slot, fetch and, where it counts, record. */
const FURTHER_REQUEST = 11;

const THROTTLE_LIFE = 25;
const GRANTED_AT_ONCE = 12;
/** A timer, and a signal to the page. */
const GRANTED_IN_LINE = 18;

const MOST_BYTES = 80_000;

function linesOf(name: string, beginning: string): number {
  return storyOf(load(RECORDED, name)).filter((line) => line.startsWith(beginning)).length;
}

test.each<Situation>(['granted', 'queued', 'redirected', 'retried', 'held'])(
  'a page that is %s costs no more events than is documented',
  (situation) => {
    const name = nameOf(situation, 'page');
    const requests = linesOf(name, 'scheduled fetchPage');
    expect(requests).toBeGreaterThan(0);
    const { events } = load(RECORDED, name);
    expect(events.length).toBeLessThanOrEqual(PAGE + FURTHER_REQUEST * (requests - 1));
  },
);

test.each<Situation>(['granted', 'queued', 'redirected', 'retried', 'held'])(
  'a throttle whose pages are %s costs no more events than is documented',
  (situation) => {
    const name = nameOf(situation, 'throttle');
    const atOnce = linesOf(name, 'answered acquire granted');
    const inLine = linesOf(name, 'signals granted');
    expect(atOnce + inLine).toBeGreaterThan(0);
    const { events } = load(RECORDED, name);
    expect(events.length).toBeLessThanOrEqual(
      THROTTLE_LIFE + GRANTED_AT_ONCE * atOnce + GRANTED_IN_LINE * inLine,
    );
  },
);

test.each(namesIn(RECORDED))('the history %s is small enough to be read', (name) => {
  expect(Buffer.byteLength(textOf(RECORDED, name))).toBeLessThan(MOST_BYTES);
});
