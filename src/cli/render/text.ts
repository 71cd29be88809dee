/** Text that every view uses: tables, counts, and points in time. */
import { escapeControls, formatDuration } from '../../core/format.ts';

export type Cell = string | number;

/** Text columns are aligned to the left, number columns to the right. Cells are escaped here, because that widens them. */
export function renderTable(headers: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const texts = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? formatCount(cell) : escapeControls(cell))),
  );
  const isNumeric = headers.map((_, column) => rows.every((row) => typeof row[column] === 'number'));
  const widths = headers.map((header, column) =>
    Math.max(header.length, ...texts.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        isNumeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(headers), line(widths.map((width) => '-'.repeat(width))), ...texts.map(line)];
}

export function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** `1 page`, `1,040 pages`. */
export function formatPlural(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

export function formatAgo(at: number, now: Date): string {
  return `${formatDuration(now.getTime() - at)} ago`;
}

export function formatIn(at: number, now: Date): string {
  return at <= now.getTime() ? 'now' : `in ${formatDuration(at - now.getTime())}`;
}

/** `14:05:09` in local time, with the date if it is not today. */
export function formatClock(at: number | Date, now: Date): string {
  const time = new Date(at);
  const hours = time.toLocaleTimeString('en-GB');
  return time.toDateString() === now.toDateString() ? hours : `${time.toLocaleDateString('sv-SE')} ${hours}`;
}
