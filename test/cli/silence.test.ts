import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { isSilence } from '../../src/cli/connect/domains.ts';

/** As the SDK throws it: what the server said, wrapped. */
function refusal(code: number, details: string): Error {
  const said = Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} });
  return new ServiceError('Failed to query Workflow', { cause: said });
}

test.each([
  ['that did not answer in time', refusal(4, 'Deadline exceeded after 3.000s')],
  // What it says twenty seconds after its last worker left.
  [
    'that has no worker, as the server knows',
    refusal(9, 'no poller seen for task queue recently, worker may be down'),
  ],
  ['that is not there', new WorkflowNotFoundError('not found', 'throttle:a.test', undefined)],
])('a workflow %s is silent', (_, error) => {
  expect(isSilence(error)).toBe(true);
});

test('a bug is no silence', () => {
  expect(isSilence(new TypeError('undefined is not a function'))).toBe(false);
});
