/** How a robots.txt changed from one version to the next, line by line. */
import { diffLines } from 'diff';

export interface DiffLine {
  kind: 'added' | 'removed' | 'same';
  text: string;
}

export interface RobotsDiff {
  lines: DiffLine[];
  /** Lines that are not shown, because there are too many. */
  more: number;
}

/** Larger changes are a new file. To compare takes quadratic time: 1,000 edits took 140 ms, in which a worker stood still. */
const MAX_EDITS = 500;
/** In 500 KiB a site can send as many lines, for which even to find that all are the same takes 0.2 s. */
const MAX_COMPARED_LINES = 20_000;
const MAX_LINES = 200;

/** Unchanged lines that are shown around a change. */
const CONTEXT = 2;

/** null: the files are too long or too different to compare. */
export function diffRobots(before: string, after: string): RobotsDiff | null {
  if (countLines(before) + countLines(after) > MAX_COMPARED_LINES) return null;
  const parts = diffLines(normalise(before), normalise(after), { maxEditLength: MAX_EDITS });
  if (parts === undefined) return null;
  const lines = parts.flatMap(({ value, added, removed }, at) => {
    const kind = added ? 'added' : removed ? 'removed' : 'same';
    const texts = value.replace(/\n$/, '').split('\n');
    const shown = kind === 'same' ? around(texts, at > 0, at < parts.length - 1) : texts;
    return shown.map((text): DiffLine => ({ kind, text }));
  });
  return { lines: lines.slice(0, MAX_LINES), more: Math.max(0, lines.length - MAX_LINES) };
}

function countLines(text: string): number {
  let lines = 1;
  for (const _ of text.matchAll(/\r\n?|\n/g)) lines += 1;
  return lines;
}

function normalise(text: string): string {
  return `${text.replace(/\r\n?/g, '\n').replace(/\n$/, '')}\n`;
}

/** The lines next to the change before and the change after them. */
function around(lines: readonly string[], afterChange: boolean, beforeChange: boolean): string[] {
  const head = afterChange ? lines.slice(0, CONTEXT) : [];
  const tail = beforeChange ? lines.slice(-CONTEXT) : [];
  if (head.length + tail.length >= lines.length) return [...lines];
  return [...head, '…', ...tail];
}
