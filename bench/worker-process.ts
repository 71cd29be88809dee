/** A worker as users run it: the built program in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Stall } from './stall.ts';

export const PROGRAM = fileURLToPath(new URL('../src/cli.js', import.meta.url));
const WATCH_STALLS = new URL('watch-stalls.js', import.meta.url).href;

export interface WorkerOptions {
  /** Loads watch-stalls.ts into the process. */
  watchStalls?: boolean;
}

export interface WorkerProcess {
  /** The longest stall of its event loop since the last call. Only with `watchStalls`. */
  longestStall(): Promise<Stall>;
  /** Peak resident memory so far; null if the system does not report it. */
  peakMemoryMb(): Promise<number | null>;
  stop(): Promise<void>;
}

/** Uses the engines of this home, or the servers that `env` names. Returns when the worker is ready. */
export async function startWorkerProcess(
  home: string,
  env: Record<string, string>,
  { watchStalls = false }: WorkerOptions = {},
): Promise<WorkerProcess> {
  const argv = [...(watchStalls ? ['--import', WATCH_STALLS] : []), PROGRAM, 'worker', '--home', home];
  const child = spawn(process.execPath, argv, {
    cwd: home,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const exit = once(child, 'exit');
  const { stderr } = child;
  if (stderr === null) throw new Error('The worker was started without a pipe.');
  const lines = createInterface(stderr);
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      if (line.startsWith('Worker ready')) resolve();
      else process.stderr.write(`${line}\n`);
    });
    child.once('exit', (code) => reject(new Error(`The worker exited with ${code} before it was ready.`)));
  });
  return {
    async longestStall() {
      const answer = once(child, 'message');
      child.send('longest stall');
      return Stall.parse((await answer)[0]);
    },
    peakMemoryMb: () => peakMemoryOf(child.pid),
    async stop() {
      // Its last messages are not results.
      lines.removeAllListeners('line');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

export async function peakMemoryOf(pid: number | undefined): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  return kilobytes === undefined ? null : Number(kilobytes) / 1_024;
}
