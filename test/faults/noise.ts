/**
 * Whether the workers' logs are useful after a run: an outage is logged once, however many pages it affects, and no warning is
 * repeated again and again. Pure, like invariants.ts.
 */
import type { Injected, LogLine } from './evidence.ts';

const WARNING = 40;
const ERROR = 50;

const UNAVAILABLE = /^(Temporal|Postgres|Content store) unavailable;/;
const AVAILABLE = /^(Temporal|Postgres|Content store) available again/;

export function readLog(worker: string, log: string): LogLine[] {
  return (
    log
      .split('\n')
      // After the last line break there is nothing, or half a line.
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line): { pid: number; time: number; level: number; msg: string } => JSON.parse(line))
      .map(({ pid, time, level, msg }) => ({ worker, pid, atMs: time, level, msg }))
  );
}

export function judgeNoise(lines: readonly LogLine[], injected: readonly Injected[]): string[] {
  return [...loggedTwice(lines), ...loggedTooOften(lines, injected), ...otherProblems(lines, injected)];
}

/** After the start of an outage, the next line about it is its end. */
function loggedTwice(lines: readonly LogLine[]): string[] {
  const unavailable = new Set<string>();
  return lines.flatMap(({ worker, pid, msg }) => {
    const over = AVAILABLE.exec(msg)?.[1];
    if (over !== undefined) unavailable.delete(`${pid} ${over}`);
    const what = UNAVAILABLE.exec(msg)?.[1];
    if (what === undefined) return [];
    if (unavailable.has(`${pid} ${what}`)) return [`${worker} logged one outage of ${what} twice`];
    unavailable.add(`${pid} ${what}`);
    return [];
  });
}

/** No more outages are logged than there were. */
function loggedTooOften(lines: readonly LogLine[], injected: readonly Injected[]): string[] {
  return counted(lines.filter(({ msg }) => UNAVAILABLE.test(msg))).flatMap(({ worker, msg, count }) => {
    const outages = injected.filter(({ unavailable }) => unavailable === UNAVAILABLE.exec(msg)?.[1]).length;
    return count > outages ? [`${worker} logged ${count} times in ${outages} outages: ${msg}`] : [];
  });
}

/** A fault is not an error of the program. Each may cause a warning, but only once. */
function otherProblems(lines: readonly LogLine[], injected: readonly Injected[]): string[] {
  const errors = lines.filter(({ level }) => level >= ERROR);
  const warnings = lines.filter(
    ({ level, msg }) => level >= WARNING && level < ERROR && !UNAVAILABLE.test(msg),
  );
  const many = counted(warnings).filter(({ count }) => count > injected.length);
  return [
    ...errors.map(({ worker, msg }) => `${worker} logged an error: ${msg}`),
    ...many.map(
      ({ worker, msg, count }) => `${worker} logged ${count} times in ${injected.length} faults: ${msg}`,
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
