/**
 * Whether the workers' logs can be read after a run: an outage is told once, however many pages run into it, and nothing that
 * somebody should look at is said over and over. Pure, as invariants.ts is.
 */
import type { Injected, LogLine } from './evidence.ts';

const WARNING = 40;
const ERROR = 50;

const AWAY = /^(Temporal|Postgres|Content store) unavailable;/;
const BACK = /^(Temporal|Postgres|Content store) available again/;

export function readLog(worker: string, log: string): LogLine[] {
  return (
    log
      .split('\n')
      // What follows the last break is nothing, or half a line.
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line): { pid: number; time: number; level: number; msg: string } => JSON.parse(line))
      .map(({ pid, time, level, msg }) => ({ worker, pid, atMs: time, level, msg }))
  );
}

export function judgeNoise(lines: readonly LogLine[], injected: readonly Injected[]): string[] {
  return [...toldTwice(lines), ...toldTooOften(lines, injected), ...otherTrouble(lines, injected)];
}

/** Once an outage is told, the next word on it is that it is over. */
function toldTwice(lines: readonly LogLine[]): string[] {
  const away = new Set<string>();
  return lines.flatMap(({ worker, pid, msg }) => {
    const over = BACK.exec(msg)?.[1];
    if (over !== undefined) away.delete(`${pid} ${over}`);
    const what = AWAY.exec(msg)?.[1];
    if (what === undefined) return [];
    if (away.has(`${pid} ${what}`)) return [`${worker} logged one outage of ${what} twice`];
    away.add(`${pid} ${what}`);
    return [];
  });
}

/** No more outages are told than there were. */
function toldTooOften(lines: readonly LogLine[], injected: readonly Injected[]): string[] {
  return counted(lines.filter(({ msg }) => AWAY.test(msg))).flatMap(({ worker, msg, count }) => {
    const outages = injected.filter(({ takesAway }) => takesAway === AWAY.exec(msg)?.[1]).length;
    return count > outages ? [`${worker} said ${count} times in ${outages} outages: ${msg}`] : [];
  });
}

/** A fault is no error of the program; a warning may come with each, but not again and again. */
function otherTrouble(lines: readonly LogLine[], injected: readonly Injected[]): string[] {
  const errors = lines.filter(({ level }) => level >= ERROR);
  const warnings = lines.filter(({ level, msg }) => level >= WARNING && level < ERROR && !AWAY.test(msg));
  const many = counted(warnings).filter(({ count }) => count > injected.length);
  return [
    ...errors.map(({ worker, msg }) => `${worker} said, as an error: ${msg}`),
    ...many.map(
      ({ worker, msg, count }) => `${worker} said ${count} times in ${injected.length} faults: ${msg}`,
    ),
  ];
}

function counted(lines: readonly LogLine[]): { worker: string; msg: string; count: number }[] {
  const counts = new Map<string, { worker: string; msg: string; count: number }>();
  for (const { worker, msg } of lines) {
    const known = counts.get(`${worker} ${msg}`) ?? { worker, msg, count: 0 };
    counts.set(`${worker} ${msg}`, { ...known, count: known.count + 1 });
  }
  return [...counts.values()];
}
