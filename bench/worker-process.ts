/** A worker as users run it: the built program in a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ControlGroup } from './control-group.ts';
import { Stall } from './stall.ts';

export const PROGRAM = fileURLToPath(new URL('../src/cli.js', import.meta.url));
const WATCH_STALLS = new URL('watch-stalls.js', import.meta.url).href;

export interface WorkerOptions {
  /** Loads watch-stalls.ts into the process. */
  watchStalls?: boolean;
  /** Instead of this version's. */
  program?: string;
  group?: ControlGroup;
}

export interface WorkerProcess {
  /** The longest stall of its event loop since the last call. Only with `watchStalls`. */
  longestStall(): Promise<Stall>;
  /** Peak resident memory so far; null if the system does not report it. */
  peakMemoryMb(): Promise<number | null>;
  /** What it printed when it was ready. */
  readyLine: string;
  stop(): Promise<void>;
}

/** Uses the engines of this home, or the servers that `env` names. Returns when the worker is ready. */
export async function startWorkerProcess(
  home: string,
  env: Record<string, string>,
  { watchStalls = false, program = PROGRAM, group }: WorkerOptions = {},
): Promise<WorkerProcess> {
  const argv = [program, 'worker', '--home', home];
  const [command = '', ...args] = group?.command(argv) ?? argv;
  const child = spawn(command, args, {
    cwd: home,
    env: { ...process.env, ...(watchStalls && { NODE_OPTIONS: `--import ${WATCH_STALLS}` }), ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const exit = once(child, 'exit');
  const { stderr } = child;
  if (stderr === null) throw new Error('The worker was started without a pipe.');
  const lines = createInterface(stderr);
  const readyLine = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      if (line.includes('Worker ready')) resolve(line);
      else process.stderr.write(`${line}\n`);
    });
    child.once('exit', (code) => reject(new Error(`The worker exited with ${code} before it was ready.`)));
  });
  return {
    readyLine,
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
