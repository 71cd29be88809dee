import { describe, expect, test } from 'vitest';
import { addSample, paceOf, renderLive, renderPlain, type Sample } from '../../src/cli/render/progress.ts';
import { createDisplay } from '../../src/cli/render/progress-display.ts';
import type { Progress } from '../../src/storage/reports/progress.ts';
import { RUNNING } from './support.ts';

const pace = { pagesPerSecond: 2, secondsLeft: 500 };

describe('the live display', () => {
  test('shows pages done and found, outcomes, pace, time left and domains to wait for', () => {
    expect(renderLive({ progress: RUNNING, pace }, 100)).toEqual([
      '  example  Running  20 s',
      `  █${'░'.repeat(29)}  40 of 1,040 pages · 2.0 pages/s · about 8 min 20 s left`,
      '  pages     Pending 900 · Queued 99 · Waiting 1 · Fetched 36 · Redirected 1 · Blocked 1 · Failed 2',
      '  attempts  Success 37 · Blocked4xx 2 · Blocked5xx 1 · BlockedRobots 1',
      '  waiting   example.org (3.2 s)',
    ]);
  });

  test('never writes a line wider than the terminal', () => {
    for (const width of [1, 10, 40, 80]) {
      for (const line of renderLive({ progress: RUNNING, pace }, width))
        expect(line.length).toBeLessThanOrEqual(width);
    }
  });

  test('redraws over its own lines and removes them at the end', () => {
    const written = draw({ isTTY: true, columns: 100 }, {});
    expect(written[0]).not.toContain('\x1b[5A');
    expect(written[1]?.startsWith('\x1b[5A\r\x1b[0J')).toBe(true);
    expect(written.at(-1)).toBe('\x1b[5A\r\x1b[0J');
  });

  test('has no colours if NO_COLOR is set', () => {
    expect(draw({ isTTY: true, columns: 100 }, {}).join('')).toContain('\x1b[1m');
    const plain = draw({ isTTY: true, columns: 100 }, { NO_COLOR: '1' }).join('');
    expect(plain.replaceAll('\x1b[5A\r\x1b[0J', '')).not.toContain('\x1b');
  });

  function draw(terminal: { isTTY?: boolean; columns?: number }, env: Record<string, string>): string[] {
    const written: string[] = [];
    const display = createDisplay({ ...terminal, write: (text) => written.push(text) }, env);
    display.show(RUNNING);
    display.show({ ...RUNNING, seconds: 21 });
    display.close();
    return written;
  }
});

describe('without a terminal', () => {
  test('progress is one plain line', () => {
    expect(renderPlain({ progress: RUNNING, pace })).toBe(
      'example: 40 of 1,040 pages · 2.0 pages/s · about 8 min 20 s left; Success 37 · Blocked4xx 2 · Blocked5xx 1 · BlockedRobots 1; waiting for example.org (3.2 s)',
    );
  });

  test('a line is written every few seconds, without escape sequences', () => {
    const written: string[] = [];
    const display = createDisplay({ write: (text) => written.push(text) }, {});
    for (const seconds of [0, 1, 4, 5, 9, 10]) display.show({ ...RUNNING, seconds });
    display.close();
    expect(written).toHaveLength(3);
    expect(written.join('')).not.toContain('\x1b');
  });
});

describe('the pace', () => {
  function sampled(...reads: [seconds: number, fetched: number][]): { samples: Sample[]; last: Progress } {
    let samples: Sample[] = [];
    let last = RUNNING;
    for (const [seconds, fetched] of reads) {
      last = { ...RUNNING, seconds, pages: { ...RUNNING.pages, Fetched: fetched } };
      samples = addSample(samples, last);
    }
    return { samples, last };
  }

  test('is unknown after one sample', () => {
    const { samples, last } = sampled([10, 30]);
    expect(paceOf(samples, last)).toEqual({ pagesPerSecond: null, secondsLeft: null });
  });

  test('is measured over the last 30 seconds, not the whole crawl', () => {
    const { samples, last } = sampled([0, 0], [100, 1_000], [110, 1_020], [130, 1_060]);
    expect(paceOf(samples, last)).toEqual({ pagesPerSecond: 2, secondsLeft: 500 });
  });

  test('predicts no end while nothing moves', () => {
    const { samples, last } = sampled([0, 10], [10, 10]);
    expect(paceOf(samples, last)).toEqual({ pagesPerSecond: 0, secondsLeft: null });
  });

  test('keeps no more samples than it needs', () => {
    const reads = Array.from({ length: 1_000 }, (_, second): [number, number] => [second, second]);
    expect(sampled(...reads).samples.length).toBeLessThanOrEqual(31);
  });
});
