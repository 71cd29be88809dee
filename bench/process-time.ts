/** The processor time of a process, as Linux counts it. */
import { readFile } from 'node:fs/promises';

/** Linux reports it in hundredths of a second. */
const MS_PER_TICK = 10;

/** User and system time together. A process that has ended has none. */
export async function processTime(pid: string): Promise<{ name: string; ms: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [, name = '', fields = ''] = /^\d+ \((.*)\) \S (.*)$/m.exec(stat) ?? [];
  // They are the 14th and 15th field; the text before `fields` has the first three.
  const [user, system] = fields.split(' ').slice(10, 12);
  return { name, ms: (Number(user ?? 0) + Number(system ?? 0)) * MS_PER_TICK };
}
