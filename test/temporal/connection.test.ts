import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { createInterceptors, isTemporalUnavailable } from '../../src/temporal/connection.ts';

test('a call that waits to be repeated when its connection is closed is cancelled, and ends no process', async () => {
  const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: createInterceptors() });
  const call = connection.workflowService.getSystemInfo({}).catch((error: unknown) => error);
  // The first repetition comes some 100 ms after the first failure.
  await sleep(50);
  await connection.close();
  expect(isTemporalUnavailable(await call)).toBe(true);
});

test('a call on a connection that is closed is cancelled', async () => {
  const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: createInterceptors() });
  await connection.close();
  const call = connection.workflowService.getSystemInfo({}).catch((error: unknown) => error);
  expect(isTemporalUnavailable(await call)).toBe(true);
});
