// Tables of plain text: columns as wide as their longest cell, two blanks between.

/** @param right columns aligned to the right, such as numbers */
export function columns(rows: readonly (readonly string[])[], right: readonly number[] = []): string {
  const count = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(...rows.map((row) => (row[at] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, at) => (right.includes(at) ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
