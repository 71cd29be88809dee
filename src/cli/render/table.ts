/** Plain text tables: names to the left, numbers to the right. */

export type Cell = string | number;

export function renderTable(headers: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const texts = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)),
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
