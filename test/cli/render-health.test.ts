import { expect, test } from 'vitest';
import { renderHealth } from '../../src/cli/render/health.ts';
import type { HealthReport } from '../../src/operator/health.ts';

const NOW = new Date('2026-01-01T12:00:00Z');

const WELL: HealthReport = {
  ...{ postgresError: null, temporalError: null, clockOffsetMs: -3, databaseBytes: 1 },
  contentStore: { name: '/content', isBucket: false, error: null, freeBytes: 1, sizeBytes: 1 },
  ...{ workers: [], backlog: [{ queue: 'amble', tasks: 2, oldestMs: 0 }], crawls: [], findings: [] },
  stop: null,
};

test('the facts come first, then that nothing is wrong', () => {
  const lines = renderHealth(WELL, NOW);
  expect(lines[0]).toBe('  Postgres       available');
  expect(lines).toContain('  Clock          3 ms behind Postgres');
  expect(lines.at(-1)).toBe('Nothing is wrong.');
});

test('each finding is followed by its cure', () => {
  const findings = [{ level: 'bad' as const, what: 'No worker is running.', cure: 'Start one.' }];
  const lines = renderHealth({ ...WELL, temporalError: 'refused', findings }, NOW);
  expect(lines).toContain('  Temporal       unavailable: refused');
  expect(lines.slice(-3)).toEqual(['Problem: No worker is running.', '  Start one.', '1 finding.']);
});
