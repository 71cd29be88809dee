/** How an `amble up` makes itself known to others of the same home, and is not believed in once it is dead. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { livingProcesses, registerProcess, unregisterProcess } from '../../embedded/process-registry.ts';

/** There is one kind of `up`: nobody goes before another. */
const RANK = 1;

export interface UpPresence {
  withdraw(): Promise<void>;
}

export async function announceUp(home: string): Promise<UpPresence> {
  const directory = upDirectory(home);
  await mkdir(directory, { recursive: true });
  const presence = await registerProcess(directory, RANK);
  return { withdraw: () => unregisterProcess(directory, presence) };
}

/** Process id of an `amble up` of this home; null: there is none. */
export async function findUp(home: string): Promise<number | null> {
  const directory = upDirectory(home);
  if (!existsSync(directory)) return null;
  const [up] = await livingProcesses(directory);
  return up?.pid ?? null;
}

function upDirectory(home: string): string {
  return join(home, 'run', 'up');
}
