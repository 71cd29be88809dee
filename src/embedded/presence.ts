/**
 * Processes that make themselves known by an empty file in a directory, named `rank.pid.start.random`. A killed process
 * leaves its file; whoever reads the directory knows it for dead and sweeps it out. No file is ever written to, so none
 * can be found half-written, and no name is used twice, so sweeping never hits a living one.
 */
import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, type ProcessId, thisProcess } from './process-table.ts';

export interface Presence extends ProcessId {
  name: string;
  rank: number;
}

export async function enter(directory: string, rank: number): Promise<Presence> {
  const me = await thisProcess();
  const presence = named(rank, me, randomBytes(6).toString('hex'));
  await writeFile(join(directory, presence.name), '', { flag: 'wx', mode: 0o600 });
  return presence;
}

export async function changeRank(directory: string, presence: Presence, rank: number): Promise<Presence> {
  const changed = named(rank, presence, presence.name.split('.')[3] ?? '');
  await rename(join(directory, presence.name), join(directory, changed.name));
  return changed;
}

export async function leave(directory: string, presence: Presence): Promise<void> {
  await rm(join(directory, presence.name), { force: true });
}

/** Everybody in the directory who still lives. */
export async function present(directory: string): Promise<Presence[]> {
  const living: Presence[] = [];
  for (const name of await readdir(directory)) {
    const [rank, pid, start] = name.split('.');
    if (start === undefined) continue;
    const presence = { name, rank: Number(rank), pid: Number(pid), start };
    if (await isAlive(presence)) living.push(presence);
    else await leave(directory, presence);
  }
  return living;
}

function named(rank: number, { pid, start }: ProcessId, random: string): Presence {
  return { pid, start, rank, name: `${rank}.${pid}.${start}.${random}` };
}
