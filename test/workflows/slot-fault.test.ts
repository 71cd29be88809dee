import { ServiceError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { toSlotFault } from '../../activities/errors.ts';
import { finalFailureReason } from '../../workflows/page/persist-attempt.ts';

/** As the SDK throws it: the gRPC error, wrapped. */
function serviceError(code: number, details: string): Error {
  const cause = Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} });
  return new ServiceError('Workflow could not be started', { cause });
}

describe('an ask that is refused in a way that will never change', () => {
  const refusals = [
    serviceError(3, 'WorkflowId length exceeds limit.'),
    new WorkflowUpdateFailedError('refused', ApplicationFailure.nonRetryable('Invalid ask.', 'BadInput')),
  ];

  test.each(refusals)('is not retried: %s', (error) => {
    expect(toSlotFault(error, 'a.test')).toMatchObject({ nonRetryable: true, type: 'SlotFault' });
  });

  test.each(refusals)('ends its page with the reason: %s', (error) => {
    expect(finalFailureReason(toSlotFault(error, 'a.test'))).toMatch(
      /^Slots for a\.test are refused: (3: WorkflowId length exceeds limit|Invalid ask)\.$/,
    );
  });
});

test.each([
  ['an unavailable server', serviceError(14, 'connection refused')],
  ['a server that is busy', serviceError(8, 'namespace rate limit exceeded')],
  [
    'a throttle that ended meanwhile',
    new WorkflowUpdateFailedError(
      'gone',
      ApplicationFailure.nonRetryable('completed', 'AcceptedUpdateCompletedWorkflow'),
    ),
  ],
  ['a bug', new TypeError('undefined is not a function')],
])('the ask is retried after %s', (_, error) => {
  expect(toSlotFault(error, 'a.test')).toBe(error);
  expect(finalFailureReason(error)).toBeNull();
});
