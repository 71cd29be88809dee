import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createTemporalLogger } from '../../src/worker/temporal-logger.ts';

function levelOf(message: string, meta: Record<string, unknown>): string {
  const levels: string[] = [];
  const sink = new PassThrough().on('data', (line) => levels.push(JSON.parse(String(line)).level));
  const log = pino({ level: 'debug', formatters: { level: (level) => ({ level }) } }, sink);
  createTemporalLogger(log, { reportIfUnavailable: () => false }).warn(message, meta);
  sink.read();
  return levels.join();
}

test.each([
  ['Error while completing workflow activation', 'message: "Timeout expired", TimeoutExpired(())'],
  ['Error when recording heartbeat: Status { message: "Timeout expired" }', undefined],
  ['Error while completing workflow activation', 'transport error'],
])('what the core says of a server that does not answer is for debugging: %s', (message, error) => {
  expect(levelOf(message, { sdkComponent: 'core', ...(error !== undefined && { error }) })).toBe('debug');
});

test('an ask that a throttle could not hear for want of a task is for debugging: it is repeated', () => {
  const error = new Error(
    'Unable to perform workflow execution update due to Workflow Task in failed state.',
  );
  expect(levelOf('Activity failed', { sdkComponent: 'worker', error })).toBe('debug');
});

test('any other warning stays one', () => {
  expect(levelOf('Error while completing workflow activation', { sdkComponent: 'core', error: 'odd' })).toBe(
    'warn',
  );
});
