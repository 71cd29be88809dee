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

/** Larger changes are a new file: to compare them would take seconds. */
const MAX_EDITS = 1_000;
const MAX_LINES = 200;

/** Unchanged lines that are shown around a change. */
const CONTEXT = 2;

/** null: the files are too different to compare. */
export function diffRobots(before: string, after: string): RobotsDiff | null {
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
