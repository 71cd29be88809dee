/** The files for deployment, judged by the programs that will read them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { findHadolint, findPromtool } from './tools.ts';

/** Rejects with what the program wrote if it fails. */
async function check(program: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)(program, args, { cwd: packageRoot })).stdout;
}

test('promtool accepts the alert rules, and they fire when they should', async () => {
  const promtool = await findPromtool();
  expect(await check(promtool, 'check', 'rules', 'deploy/prometheus/alerts.yml')).toContain('SUCCESS');
  expect(await check(promtool, 'test', 'rules', join('test', 'production', 'alerts.promtool.yml'))).toContain(
    'SUCCESS',
  );
});

test('promtool accepts the configuration of Prometheus', async () => {
  const promtool = await findPromtool();
  // The rules and the token are where the container has them.
  const file = 'deploy/prometheus/prometheus.yml';
  expect(await check(promtool, 'check', 'config', '--syntax-only', file)).toContain('SUCCESS');
});

test('hadolint has nothing to say about the Dockerfile', async () => {
  expect(await check(await findHadolint(), 'Dockerfile')).toBe('');
});
