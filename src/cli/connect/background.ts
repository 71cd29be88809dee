/** An `amble up` that keeps engines and a worker running in the background after this command has returned. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { AmbleConfig } from '../../config/index.ts';
import { homeAt, prepareHome } from '../../embedded/home.ts';
import { livingProcesses, registerProcess, unregisterProcess } from '../../embedded/process-table.ts';
import type { CommonOptions } from '../common-options.ts';
import { writeErr } from '../terminal.ts';
import { logFile } from './open-log.ts';

const POLL_INTERVAL_MS = 200;

/** Relative to this file in the compiled program, the only place it runs from. */
const PROGRAM = fileURLToPath(new URL('../../cli.js', import.meta.url));

/** Starts `amble up` for this home unless one is running, waits until it is ready, and returns its process id. */
export async function ensureUp({ home }: AmbleConfig, { config }: CommonOptions): Promise<number> {
  const running = await findUp(home);
  if (running !== null) return running;
  const file = logFile(home);
  await prepareHome(homeAt(home));
  writeErr(`Starting "amble up" in the background; it logs to ${file}.`);
  const log = openSync(file, 'a');
  const args = ['up', '--home', home, ...(config === undefined ? [] : ['--config', config])];
  const child = spawn(process.execPath, [...process.execArgv, PROGRAM, ...args], {
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  // No timeout: the first start may take minutes, to download or build a Temporal server.
  while (child.exitCode === null && child.signalCode === null) {
    const pid = await findUp(home);
    if (pid !== null) return pid;
    await sleep(POLL_INTERVAL_MS);
  }
  throw new Error(`"amble up" ended before it was ready; see ${file} for the reason.`);
}

/** Makes this process known as the `amble up` of its home until the returned function is called, or it dies. */
export async function announceUp(home: string): Promise<() => Promise<void>> {
  const directory = upDirectory(home);
  await mkdir(directory, { recursive: true });
  const entry = await registerProcess(directory);
  return () => unregisterProcess(directory, entry);
}

/** Process id of the `amble up` of this home; null: none is running. */
async function findUp(home: string): Promise<number | null> {
  const directory = upDirectory(home);
  if (!existsSync(directory)) return null;
  const [up] = await livingProcesses(directory);
  return up?.pid ?? null;
}

function upDirectory(home: string): string {
  return join(home, 'run', 'up');
}
