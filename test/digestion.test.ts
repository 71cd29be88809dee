import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Digestion } from '../src/digestion.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const nobody = new AbortController().signal;

/** Pages that ask for room, by the names of their domains, with the order in which they got it. */
function visitors(digestion: Digestion, signal = nobody) {
  const gone: string[] = [];
  const come = (domain: string, length: number): Promise<void> => {
    digestion.hasCome({ domain, length });
    return digestion.roomFor({ domain, length }, signal).then(() => {
      gone.push(domain);
    });
  };
  /** One that is fetched at once: the next of its line is on its way. */
  const fetched = async (domain: string, length: number): Promise<void> => {
    await come(domain, length);
    digestion.begin(`page of ${domain}`, domain);
  };
  /** Work that came from nowhere in particular. */
  const burden = (...pages: string[]): void => {
    for (const page of pages) digestion.begin(page, 'elsewhere');
  };
  return { come, fetched, burden, gone, settled: () => vi.advanceTimersByTimeAsync(0) };
}

test('nobody waits while the machine has room', async () => {
  const digestion = new Digestion(2);
  const { come, fetched, gone } = visitors(digestion);
  await fetched('long', 60);
  await come('short', 1);
  expect(gone).toEqual(['long', 'short']);
});

test('of a busy machine the long lines do not notice, and of the short ones the longest goes first', async () => {
  const digestion = new Digestion(2);
  const { come, fetched, burden, gone, settled } = visitors(digestion);
  await fetched('longest', 60);
  burden('two', 'three');
  void come('short', 3);
  void come('middle', 14);
  await come('long', 30);
  await settled();
  expect(gone).toEqual(['longest', 'long']);
  digestion.end('page of longest');
  await settled();
  expect(gone).toHaveLength(2);
  digestion.end('two');
  await settled();
  expect(gone.slice(2)).toEqual(['middle']);
  burden('middle');
  digestion.end('middle');
  await settled();
  expect(gone.slice(3)).toEqual(['short']);
});

test('with the next page of the long line at hand short lines wait only for a machine that is twice as busy', async () => {
  const digestion = new Digestion(2);
  const { come, fetched, burden, gone, settled } = visitors(digestion);
  await fetched('longest', 60);
  burden('two');
  for (const short of ['one', 'another', 'a third']) void come(short, 3);
  await settled();
  expect(gone).toEqual(['longest']);
  digestion.hasCome({ domain: 'longest', length: 59 });
  await settled();
  expect(gone).toEqual(['longest', 'one', 'another']);
  digestion.end('two');
  await settled();
  expect(gone).toEqual(['longest', 'one', 'another', 'a third']);
});

test('a page with nothing behind it never waits: it may be the beginning of the longest line', async () => {
  const digestion = new Digestion(1);
  const { come, fetched, gone } = visitors(digestion);
  await fetched('longest', 60);
  await come('front page', 0);
  expect(gone).toEqual(['longest', 'front page']);
});

test('nobody waits for long: pages may be recorded elsewhere, and a slow machine goes on slowly', async () => {
  const digestion = new Digestion(1);
  const { come, fetched, gone } = visitors(digestion);
  await fetched('longest', 60);
  void come('short', 1);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(gone).toEqual(['longest']);
  await vi.advanceTimersByTimeAsync(1);
  expect(gone).toEqual(['longest', 'short']);
  await come('next', 1);
});

test('who is told to stop does not wait', async () => {
  const digestion = new Digestion(1);
  const stop = new AbortController();
  const { come, fetched, gone, settled } = visitors(digestion, stop.signal);
  await fetched('longest', 60);
  void come('short', 1);
  stop.abort();
  await settled();
  await come('shorter', 1);
  expect(gone).toEqual(['longest', 'short', 'shorter']);
});

test('a line is as long as it was last seen, and one that is not seen for a minute has ended', async () => {
  const digestion = new Digestion(1);
  const { come, fetched, burden, gone } = visitors(digestion);
  await come('longest', 60);
  await fetched('longest', 8);
  await come('another', 5);
  await vi.advanceTimersByTimeAsync(60_000);
  burden('two', 'three');
  await come('a short one', 1);
  expect(gone).toEqual(['longest', 'longest', 'another', 'a short one']);
});
