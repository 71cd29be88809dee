import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Digestion } from '../src/digestion.ts';

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
  const come = (name: string, line: number): Promise<void> =>
    digestion.roomFor(line, signal).then(() => {
      gone.push(name);
    });
  return { come, gone, settled: () => vi.advanceTimersByTimeAsync(0) };
}

test('nobody waits while the machine has room', async () => {
  const digestion = new Digestion(2);
  digestion.begin('one');
  const { come, gone } = visitors(digestion);
  await come('a', 0);
  await come('b', 7);
  expect(gone).toEqual(['a', 'b']);
});

test('a busy machine lets the longest line go on, and of the others the longest first', async () => {
  const digestion = new Digestion(2);
  const { come, gone, settled } = visitors(digestion);
  await come('longest', 60);
  for (const page of ['one', 'two', 'three']) digestion.begin(page);
  void come('short', 3);
  void come('middle', 14);
  await come('longest again', 60);
  await settled();
  expect(gone).toEqual(['longest', 'longest again']);
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

test('even the longest line waits for a machine that has twice as much as it can work on', async () => {
  const digestion = new Digestion(1);
  const { come, gone, settled } = visitors(digestion);
  for (const page of ['one', 'two']) digestion.begin(page);
  void come('longest', 60);
  await settled();
  expect(gone).toEqual([]);
  digestion.end('one');
  await settled();
  expect(gone).toEqual(['longest']);
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
  for (const page of ['one', 'two']) digestion.begin(page);
  void come('page', 1);
  stop.abort();
  await settled();
  await come('another', 1);
  expect(gone).toEqual(['page', 'another']);
});

test('a line that has ended is not waited for: another is the longest after a minute', async () => {
  const digestion = new Digestion(1);
  const { come, gone } = visitors(digestion);
  await come('longest', 60);
  await vi.advanceTimersByTimeAsync(60_001);
  digestion.begin('one');
  await come('next longest', 5);
  expect(gone).toEqual(['longest', 'next longest']);
});
