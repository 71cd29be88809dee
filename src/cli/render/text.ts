/** Text that every command uses: tables, counts, and points in time. */
import { escapeControls, formatCount } from '../../core/format.ts';

export { formatAgo, formatClock, formatCount, formatIn, formatPlural } from '../../core/format.ts';

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
