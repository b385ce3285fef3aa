// The rows of test/vectors, for every implementation and build, and those of the hand-written fixtures of places and
// border crossings.

import { readFileSync } from 'node:fs';

export interface CodeRow {
  lat: number;
  lng: number;
  resolution: number;
  adminCode: string;
  /** H3 index, hexadecimal. */
  cell: string;
  code: string;
  centerLat: number;
  centerLng: number;
}

export interface ReadingRow {
  text: string;
  /** Canonical code, or null where the text is invalid. */
  code: string | null;
  note: string;
}

function linesOf(file: string): string[] {
  const lines = readFileSync(`test/vectors/${file}`, 'utf8').split(/\r?\n/);
  return lines.filter((line) => line !== '' && !line.startsWith('#')).slice(1);
}

export const CODE_ROWS: CodeRow[] = linesOf('codes.csv').map((line) => {
  const [, lat, lng, resolution, adminCode, cell, code, centerLat, centerLng] = line.split(',') as string[];
  return {
    lat: Number(lat),
    lng: Number(lng),
    resolution: Number(resolution),
    adminCode: adminCode as string,
    cell: cell as string,
    code: code as string,
    centerLat: Number(centerLat),
    centerLng: Number(centerLng),
  };
});

export const READING_ROWS: ReadingRow[] = linesOf('reading.csv').map((line) => {
  const [text, code, note] = line.split('\t') as [string, string, string];
  return { text: JSON.parse(text) as string, code: code === 'INVALID' ? null : code, note };
});

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
