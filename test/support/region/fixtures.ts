// Reads the hand-written fixtures of places and border crossings.
import { readFileSync } from 'node:fs';

/** Rows of a comma-separated file without quotes: objects by the names in its first line; # begins a comment line. */
export function rowsOf(name: string): Record<string, string>[] {
  const [head = '', ...rows] = readFileSync(`test/fixtures/${name}.csv`, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const columns = head.split(',');
  return rows.map((row) => {
    const values = row.split(',');
    return Object.fromEntries(columns.map((column, i) => [column, values[i] ?? '']));
  });
}
