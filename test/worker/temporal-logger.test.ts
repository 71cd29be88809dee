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
])('failed calls to a server are logged at debug level: %s', (message, error) => {
  expect(levelOf(message, { sdkComponent: 'core', ...(error !== undefined && { error }) })).toBe('debug');
});

test.each([
  'Unable to perform workflow execution update due to Workflow Task in failed state.',
  'Unable to perform workflow execution update due to unexpected workflow task failure.',
])('updates that fail because of a lost workflow task are logged at debug level: %s', (message) => {
  expect(levelOf('Activity failed', { sdkComponent: 'worker', error: new Error(message) })).toBe('debug');
});

test('any other warning stays a warning', () => {
  expect(levelOf('Error while completing workflow activation', { sdkComponent: 'core', error: 'odd' })).toBe(
    'warn',
  );
});
