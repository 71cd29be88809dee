/** A worker as users run it: the real program, in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../src/cli.js', import.meta.url));

export interface WorkerProcess {
  /** The most memory it has held so far, in megabytes; null where the system does not say. */
  mostMemory(): Promise<number | null>;
  stop(): Promise<void>;
}

/** Returns when it is ready to work. It joins the engines of this home. */
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
    child.once('exit', (code) => reject(new Error(`The worker ended with ${code} before it was ready.`)));
  });
  return {
    mostMemory: () => peakOf(child.pid),
    async stop() {
      // What it says in farewell is no result.
      lines.removeAllListeners('line');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

export async function peakOf(pid: number | undefined): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  return kilobytes === undefined ? null : Number(kilobytes) / 1_024;
}
