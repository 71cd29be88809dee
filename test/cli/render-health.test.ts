import { expect, test } from 'vitest';
import { renderHealth } from '../../src/cli/render/health.ts';
import type { HealthReport } from '../../src/operator/health.ts';

const NOW = new Date('2026-01-01T12:00:00Z');

const GIB = 1024 ** 3;

const WELL: HealthReport = {
  ...{ postgresError: null, temporalError: null, clockOffsetMs: -3, databaseBytes: 3 * 1024 ** 2 },
  contentStore: { name: '/content', isBucket: false, error: null, freeBytes: 5 * GIB, sizeBytes: 90 * GIB },
  workers: [
    {
      ...{
        identity: '1@a',
        startedAt: NOW,
        seenAt: NOW,
        openFetches: 3,
        waitingFetches: 4,
        eventLoopLagMs: 20,
      },
      ...{ unavailable: ['Postgres', 'DNS'], clockOffsetMs: -15_000 },
    },
  ],
  backlog: [{ queue: 'amble', tasks: 2, oldestMs: 40_000 }],
  crawls: [
    {
      ...{ id: 'news', status: 'Running', open: 40, due: 31, lastDoneAt: NOW },
      ...{ waitsFor: '2 domains paused', asOrdered: true },
    },
  ],
  findings: [],
  stop: null,
};

test('the facts come first, then that nothing is wrong', () => {
  const lines = renderHealth(WELL, NOW);
  expect(lines[0]).toBe('  Postgres       available (3 MiB)');
  expect(lines).toContain('  Content store  available (/content, 5,120 MiB of 90 GiB free)');
  expect(lines).toContain('  Clock          3 ms behind Postgres');
  expect(lines.at(-1)).toBe('Nothing is wrong.');
});

test('workers, queues and crawls have the columns of the Health view', () => {
  const text = renderHealth(WELL, NOW).join('\n');
  expect(text).toMatch(/Event loop lag +Clock +Cannot reach\n.*\n +1@a .* 20 ms +−15 s +Postgres, DNS$/m);
  expect(text).toMatch(/Backlog +Oldest task\n.*\n +amble +2 +40 s$/m);
  expect(text).toMatch(/Last page +Waits for\n.*\n +news .* 2 domains paused$/m);
});

test('each finding is followed by its cure', () => {
  const findings = [{ level: 'bad' as const, what: 'No worker is running.', cure: 'Start one.' }];
  const lines = renderHealth({ ...WELL, temporalError: 'refused', findings }, NOW);
  expect(lines).toContain('  Temporal       unavailable: refused');
  expect(lines.slice(-3)).toEqual(['Problem: No worker is running.', '  Start one.', '1 finding.']);
});
