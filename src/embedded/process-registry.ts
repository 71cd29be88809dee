/**
 * Lists the living processes of some kind, each by an empty file `pid.start.random` in a directory. A killed process leaves
 * its file, which readers recognise and delete. Files have no content that could be half-written, and no name is used twice,
 * so a living process never loses its file.
 */
import { randomBytes } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { currentProcess, isAlive, type ProcessIdentity } from './process-table.ts';

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
