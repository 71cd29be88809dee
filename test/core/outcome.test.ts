import { expect, test } from 'vitest';
import { FINAL_STATUSES, finalStatusOf, OPEN_STATUSES, OUTCOMES } from '../../src/core/outcome.ts';
import { isRetryable } from '../../src/core/retry-policy.ts';
import { Outcome, PageStatus } from '../../src/storage/generated/enums.ts';

test.each([
  ['Success', 'Fetched', false],
  ['Rejected', 'Rejected', false],
  ['Blocked4xx', 'Failed', false],
  ['Blocked5xx', 'Failed', true],
  ['BlockedRobots', 'Blocked', false],
  ['Failed', 'Failed', true],
  ['Timeout', 'Failed', true],
] as const)('%s ends a page as %s; retried before: %s', (outcome, status, retried) => {
  expect(finalStatusOf(outcome)).toBe(status);
  expect(isRetryable(outcome)).toBe(retried);
});

test('outcomes and statuses are those of the database, and each status is open or final', () => {
  expect([...OUTCOMES].sort()).toEqual(Object.values(Outcome).sort());
  expect([...OPEN_STATUSES, ...FINAL_STATUSES].sort()).toEqual(Object.values(PageStatus).sort());
});
