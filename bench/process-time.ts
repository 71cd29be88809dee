/** The processor time of a process, as Linux counts it. */
import { readFile } from 'node:fs/promises';

/** Linux reports it in hundredths of a second. */
const MS_PER_TICK = 10;

/** User and system time together. `endedMs`: that of the children which it had and which have ended. A process that has ended has none. */
export async function processTime(pid: string): Promise<{ name: string; ms: number; endedMs: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [, name = '', fields = ''] = /^\d+ \((.*)\) \S (.*)$/m.exec(stat) ?? [];
  // They are the 14th to 17th field; the text before `fields` has the first three.
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.split(' ').slice(10, 14).map(Number);
  return { name, ms: (user + system) * MS_PER_TICK, endedMs: (endedUser + endedSystem) * MS_PER_TICK };
}
