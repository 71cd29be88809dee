import { expect, test } from 'vitest';
import type { Injected } from './evidence.ts';
import { renderReport } from './report.ts';
import type { Run } from './run.ts';

function injected(fault: string, exposed: string[] = []): Injected {
  return { fault, fromMs: 0, untilMs: 1, exposed, isSiteFailure: false };
}

function run(more: Partial<Run>): Run {
  const nothing = { broken: false, violations: [], lost: 0, repeats: [], injected: [] };
  return { crawlId: 'one', pages: 40, seconds: 10, ...nothing, ...more };
}

test('the table has a row for each fault, with what it exposed, what was fetched again and what was lost in its runs', () => {
  const sound = run({
    injected: [injected('kill', ['a', 'b']), injected('drop')],
    repeats: [{ url: 'a', fault: 'kill' }],
  });
  const lossy = run({ injected: [injected('kill', ['c'])], lost: 1, violations: ['c is lost'] });
  expect(renderReport([sound, lossy]).slice(2)).toEqual([
    '| kill | 2 | 3 | 1 | 1 | 1 |',
    '| drop | 1 | 0 | 0 | 0 | 0 |',
    '2 runs, 80 pages, 3 faults: 1 violations.',
  ]);
});

test('a run that ended early is in the table, with its fault and a violation', () => {
  const broken = run({
    broken: true,
    injected: [injected('kill'), injected('drop')],
    violations: ['the run broke off: drop: no such wire'],
  });
  expect(renderReport([broken]).slice(2)).toEqual([
    '| kill | 1 | 0 | 0 | 0 | 1 |',
    '| drop | 1 | 0 | 0 | 0 | 1 |',
    '1 runs, 40 pages, 2 faults: 1 violations.',
  ]);
});
