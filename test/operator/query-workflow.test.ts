import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { isUnanswered } from '../../src/operator/query-workflow.ts';

/** As the SDK throws it: the gRPC error, wrapped. */
function serviceError(code: number, details: string): Error {
  const cause = Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} });
  return new ServiceError('Failed to query Workflow', { cause });
}

test.each([
  ['did not answer in time', serviceError(4, 'Deadline exceeded after 3.000s')],
  // From twenty seconds after its last worker left.
  [
    'has no worker, as the server knows',
    serviceError(9, 'no poller seen for task queue recently, worker may be down'),
  ],
  ['does not exist', new WorkflowNotFoundError('not found', 'throttle:a.test', undefined)],
])('a query is unanswered if its workflow %s', (_, error) => {
  expect(isUnanswered(error)).toBe(true);
});

test('a bug does not count as unanswered', () => {
  expect(isUnanswered(new TypeError('undefined is not a function'))).toBe(false);
});
