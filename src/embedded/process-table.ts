/** What the operating system knows of a process. A pid alone proves nothing: it is given out again after a death. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A process told apart from every other, past and future. */
export interface ProcessIdentity {
  pid: number;
  /** Digest of when it started. */
  start: string;
}

export async function currentProcess(): Promise<ProcessIdentity> {
  const start = await startOf(process.pid);
  if (start === null) throw new Error('Amble cannot see itself in the process table: is /proc mounted?');
  return { pid: process.pid, start };
}

export async function isAlive({ pid, start }: ProcessIdentity): Promise<boolean> {
  return (await startOf(pid)) === start;
}

/** Whether there is a living process of this number, whoever it is. A corpse that nobody has collected yet is none. */
export async function processExists(pid: number): Promise<boolean> {
  return (await startOf(pid)) !== null;
}

/** How long a process may be seen without a command line before it is taken for one that never has any. */
const NAMELESS_FOR_MS = 5_000;
const POLL_MS = 20;

/** Its program and arguments; null when there is no such process, or only its corpse. */
export async function commandLineOf(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') return ps(pid, 'command=');
  const giveUpAt = performance.now() + NAMELESS_FOR_MS;
  do {
    const commandLine = await readIfThere(`/proc/${pid}/cmdline`);
    if (commandLine === null) return null;
    if (commandLine !== '') return commandLine.replaceAll('\0', ' ');
    // Alive without one: it is becoming another program just now, or dying. Either is soon decided.
    if ((await linuxStartOf(pid)) === null) return null;
    await sleep(POLL_MS);
  } while (performance.now() < giveUpAt);
  return null;
}

async function startOf(pid: number): Promise<string | null> {
  const start = process.platform === 'linux' ? await linuxStartOf(pid) : await ps(pid, 'lstart=');
  return start && createHash('sha256').update(start).digest('hex').slice(0, 16);
}

/** The start is counted from the machine's boot, hence the boot's own id beside it. */
async function linuxStartOf(pid: number): Promise<string | null> {
  const stat = await readIfThere(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The second field, the program's name in parentheses, may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ticks] = [fields[0], fields[19]];
  if (ticks === undefined || state === 'Z' || state === 'X') return null;
  return `${await readIfThere('/proc/sys/kernel/random/boot_id')} ${ticks}`;
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    // Gone before or while it was read.
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
    // ps ends with 1 when there is no such process.
    return null;
  }
}
