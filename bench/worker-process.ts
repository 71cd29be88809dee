/** A worker as users run it: the built program in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../src/cli.js', import.meta.url));

export interface WorkerProcess {
  /** Peak resident memory so far; null if the system does not report it. */
  peakMemoryMb(): Promise<number | null>;
  stop(): Promise<void>;
}

/** Uses the engines of this home. Returns when the worker is ready. */
export async function startWorkerProcess(home: string): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [PROGRAM, 'worker', '--home', home], {
    cwd: home,
    env: { ...process.env, AMBLE_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(child, 'exit');
  const lines = createInterface(child.stderr);
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      if (line.startsWith('Worker ready')) resolve();
      else process.stderr.write(`${line}\n`);
    });
    child.once('exit', (code) => reject(new Error(`The worker exited with ${code} before it was ready.`)));
  });
  return {
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
