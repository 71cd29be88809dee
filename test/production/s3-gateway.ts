/** A real S3 server, on a directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import getPort from 'get-port';
import { vi } from 'vitest';
import { findS3Gateway } from './go-programs.ts';

export interface S3Gateway {
  url: string;
  /** Waits until it answers. */
  start(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** kill -9. */
  kill(): Promise<void>;
}

export const S3_KEYS = { AWS_ACCESS_KEY_ID: 'fleet', AWS_SECRET_ACCESS_KEY: 'fleet-secret' };

/** Started, and with a bucket of this name. */
export async function startS3Gateway(directory: string, bucket: string): Promise<S3Gateway> {
  const port = await getPort();
  await mkdir(join(directory, bucket), { recursive: true });
  const { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: secret } = S3_KEYS;
  const options = ['--port', `127.0.0.1:${port}`, '--access', key, '--secret', secret, '--quiet'];
  const program = await findS3Gateway();
  const url = `http://127.0.0.1:${port}`;
  let server: ChildProcess | undefined;
  const gateway: S3Gateway = {
    url,
    async start() {
      server = spawn(program, [...options, 'posix', '--nometa', directory], { stdio: 'ignore' });
      // Refused without a signature, which is an answer.
      await vi.waitFor(() => fetch(url), { timeout: 30_000, interval: 50 });
    },
    signal: (signal) => void server?.kill(signal),
    async kill() {
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
    },
  };
  await gateway.start();
  return gateway;
}
