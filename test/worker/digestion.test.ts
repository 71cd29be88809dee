import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Digestion } from '../../src/worker/digestion.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const nobody = new AbortController().signal;

/** Pages that ask for room, by name, with the order in which they got it. */
function visitors(digestion: Digestion, signal = nobody) {
  const gone: string[] = [];
  const come = (domain: string, length: number): Promise<void> =>
    digestion.roomFor({ domain, length }, signal).then(() => {
      gone.push(domain);
    });
  return { come, gone, settled: () => vi.advanceTimersByTimeAsync(0) };
}

test('nobody waits while the machine has room', async () => {
  const digestion = new Digestion(2);
  digestion.begin('one');
  const { come, gone } = visitors(digestion);
  await come('long', 60);
  await come('short', 0);
  expect(gone).toEqual(['long', 'short']);
});

test('of a busy machine the long lines do not notice, and of the short ones the longest goes first', async () => {
  const digestion = new Digestion(2);
  const { come, gone, settled } = visitors(digestion);
  await come('longest', 60);
  for (const page of ['one', 'two', 'three']) digestion.begin(page);
  void come('short', 3);
  void come('middle', 14);
  await come('long', 30);
  await settled();
  expect(gone).toEqual(['longest', 'long']);
  digestion.end('one');
  await settled();
  expect(gone).toHaveLength(2);
  digestion.end('two');
  await settled();
  expect(gone.slice(2)).toEqual(['middle']);
  digestion.begin('middle');
  digestion.end('middle');
  await settled();
  expect(gone.slice(3)).toEqual(['short']);
});

test('nobody waits for long: pages may be recorded elsewhere, and a slow machine goes on slowly', async () => {
  const digestion = new Digestion(1);
  const { come, gone } = visitors(digestion);
  await come('longest', 60);
  digestion.begin('never heard of again');
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
  const { come, gone, settled } = visitors(digestion, stop.signal);
  await come('longest', 60);
  digestion.begin('one');
  void come('short', 1);
  stop.abort();
  await settled();
  await come('shorter', 0);
  expect(gone).toEqual(['longest', 'short', 'shorter']);
});

test('a line is as long as it was last seen, and one that is not seen for a minute has ended', async () => {
  const digestion = new Digestion(1);
  const { come, gone } = visitors(digestion);
  await come('longest', 60);
  await come('longest', 8);
  digestion.begin('one');
  await come('another', 5);
  await vi.advanceTimersByTimeAsync(60_000);
  digestion.begin('two');
  await come('a short one', 1);
  expect(gone).toEqual(['longest', 'longest', 'another', 'a short one']);
});
