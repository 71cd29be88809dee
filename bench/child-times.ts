/** The processor time of the programs that a benchmark has started. */
import { readdir, readFile } from 'node:fs/promises';
import { processTime } from './process-time.ts';

/** As the kernel calls the processes. */
const NAMES: Readonly<Record<string, string>> = {
  node: 'worker',
  MainThread: 'worker',
  server: 'Temporal',
  temporal: 'Temporal',
  postgres: 'Postgres',
};

/**
 * In ms, by program: of all that run now and descend from this process, with what has ended below them, such as connections of Postgres.
 * Empty on systems other than Linux.
 */
export async function childTimes(): Promise<Map<string, number>> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const parents = new Map(
    await Promise.all(pids.map(async (pid): Promise<[string, string]> => [pid, await parentOf(pid)])),
  );
  const times = new Map<string, number>();
  for (const pid of pids.filter((one) => isDescendant(one, parents))) {
    const { name, ms, endedMs } = await processTime(pid);
    const program = NAMES[name] ?? name;
    times.set(program, (times.get(program) ?? 0) + ms + endedMs);
  }
  return times;
}

async function parentOf(pid: string): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return /^\d+ \(.*\) \S (\d+)/.exec(stat)?.[1] ?? '';
}

function isDescendant(pid: string, parents: ReadonlyMap<string, string>): boolean {
  const parent = parents.get(pid);
  if (parent === undefined || parent === '') return false;
  return parent === String(process.pid) || isDescendant(parent, parents);
}
