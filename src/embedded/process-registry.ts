/**
 * Processes that make themselves known by an empty file in a directory, named `rank.pid.start.random`. A killed process
 * leaves its file; whoever reads the directory knows it for dead and sweeps it out. No file is ever written to, so none
 * can be found half-written, and no name is used twice, so sweeping never hits a living one.
 */
import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { currentProcess, isAlive, type ProcessIdentity } from './process-table.ts';

export interface RegisteredProcess extends ProcessIdentity {
  name: string;
  rank: number;
}

export async function registerProcess(directory: string, rank: number): Promise<RegisteredProcess> {
  const me = await currentProcess();
  const presence = named(rank, me, randomBytes(6).toString('hex'));
  await writeFile(join(directory, presence.name), '', { flag: 'wx', mode: 0o600 });
  return presence;
}

export async function changeRank(
  directory: string,
  presence: RegisteredProcess,
  rank: number,
): Promise<RegisteredProcess> {
  const changed = named(rank, presence, presence.name.split('.')[3] ?? '');
  await rename(join(directory, presence.name), join(directory, changed.name));
  return changed;
}

export async function unregisterProcess(directory: string, presence: RegisteredProcess): Promise<void> {
  await rm(join(directory, presence.name), { force: true });
}

/** Everybody in the directory who still lives. */
export async function livingProcesses(directory: string): Promise<RegisteredProcess[]> {
  const living: RegisteredProcess[] = [];
  for (const name of await readdir(directory)) {
    const [rank, pid, start] = name.split('.');
    if (start === undefined) continue;
    const presence = { name, rank: Number(rank), pid: Number(pid), start };
    if (await isAlive(presence)) living.push(presence);
    else await unregisterProcess(directory, presence);
  }
  return living;
}

function named(rank: number, { pid, start }: ProcessIdentity, random: string): RegisteredProcess {
  return { pid, start, rank, name: `${rank}.${pid}.${start}.${random}` };
}
