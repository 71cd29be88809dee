import { expect, test } from 'vitest';
import {
  FINAL_STATUSES,
  finalStatusOf,
  isRetryable,
  OPEN_STATUSES,
  OUTCOMES,
} from '../../src/core/outcome.ts';
import { Outcome, PageStatus } from '../../src/storage/generated/enums.ts';

test.each([
  ['Success', 'Fetched', false],
  ['Rejected', 'Rejected', false],
  ['Blocked4xx', 'Failed', false],
  ['Blocked5xx', 'Failed', true],
  ['BlockedRobots', 'Blocked', false],
  ['Failed', 'Failed', true],
  ['Timeout', 'Failed', true],
] as const)('%s ends a page as %s; tried again before: %s', (outcome, status, retried) => {
  expect(finalStatusOf(outcome)).toBe(status);
  expect(isRetryable(outcome)).toBe(retried);
});

test('outcomes and statuses are the ones the database knows, each open or final', () => {
  expect([...OUTCOMES].sort()).toEqual(Object.values(Outcome).sort());
  expect([...OPEN_STATUSES, ...FINAL_STATUSES].sort()).toEqual(Object.values(PageStatus).sort());
});
