/** Identifies processes by pid and start time, because the system reuses pids, and registers those that live. */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Unique among all processes, past and future. */
interface ProcessIdentity {
  pid: number;
  /** Hash of its start time. */
  start: string;
}

export async function currentProcess(): Promise<ProcessIdentity> {
  const start = await startOf(process.pid);
  if (start === null) throw new Error('Amble cannot find its own process: is /proc mounted?');
  return { pid: process.pid, start };
}

export async function isAlive({ pid, start }: ProcessIdentity): Promise<boolean> {
  return (await startOf(pid)) === start;
}

/** Whether any living process has this pid. A zombie is not living. */
export async function processExists(pid: number): Promise<boolean> {
  return (await startOf(pid)) !== null;
}

/** A process without a command line for this long is a kernel thread or the like. */
const MAX_WAIT_FOR_COMMAND_LINE_MS = 5_000;
const POLL_INTERVAL_MS = 20;

/** Program and arguments; null if there is no such process, or only a zombie. */
export async function commandLineOf(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') return ps(pid, 'command=');
  const deadline = performance.now() + MAX_WAIT_FOR_COMMAND_LINE_MS;
  do {
    const commandLine = await readIfExists(`/proc/${pid}/cmdline`);
    if (commandLine === null) return null;
    if (commandLine !== '') return commandLine.replaceAll('\0', ' ');
    // A living process without one is in the middle of exec or exit. Either takes only a moment.
    if ((await linuxStartOf(pid)) === null) return null;
    await sleep(POLL_INTERVAL_MS);
  } while (performance.now() < deadline);
  return null;
}

async function startOf(pid: number): Promise<string | null> {
  const start = process.platform === 'linux' ? await linuxStartOf(pid) : await ps(pid, 'lstart=');
  return start && createHash('sha256').update(start).digest('hex').slice(0, 16);
}

/** The kernel counts the start time from boot, so the boot id belongs to it. */
async function linuxStartOf(pid: number): Promise<string | null> {
  const stat = await readIfExists(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field, the program's name in parentheses, may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ticks] = [fields[0], fields[19]];
  if (ticks === undefined || state === 'Z' || state === 'X') return null;
  return `${await readIfExists('/proc/sys/kernel/random/boot_id')} ${ticks}`;
}

async function readIfExists(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    // The process exited before or during the read.
    return null;
  }
}

async function ps(pid: number, column: 'command=' | 'lstart='): Promise<string | null> {
  try {
    const { stdout } = await run('ps', ['-ww', '-o', column, '-p', String(pid)], {
      env: { ...process.env, LC_ALL: 'C' },
    });
    const answer = stdout.trim();
    return answer === '' || answer.endsWith('<defunct>') ? null : answer;
  } catch {
    // ps exits with 1 if there is no such process.
    return null;
  }
}

/**
 * Registers a process by an empty file `pid.start.random` in a directory. A killed process leaves its file, which readers
 * recognise and delete. Files have no content that could be half-written, and no name is used twice, so a living process never
 * loses its file.
 */
export interface RegisteredProcess extends ProcessIdentity {
  fileName: string;
}

export async function registerProcess(directory: string): Promise<RegisteredProcess> {
  const { pid, start } = await currentProcess();
  const fileName = `${pid}.${start}.${randomBytes(6).toString('hex')}`;
  await writeFile(join(directory, fileName), '', { flag: 'wx', mode: 0o600 });
  return { pid, start, fileName };
}

export async function unregisterProcess(directory: string, { fileName }: RegisteredProcess): Promise<void> {
  await rm(join(directory, fileName), { force: true });
}

export async function livingProcesses(directory: string): Promise<RegisteredProcess[]> {
  const living: RegisteredProcess[] = [];
  for (const fileName of await readdir(directory)) {
    const [pid, start] = fileName.split('.');
    if (start === undefined) continue;
    const registered = { pid: Number(pid), start, fileName };
    if (await isAlive(registered)) living.push(registered);
    else await unregisterProcess(directory, registered);
  }
  return living;
}
