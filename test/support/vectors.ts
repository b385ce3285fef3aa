// The rows of test/vectors, for every implementation and build.

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

function rowsOf(file: string): string[] {
  const lines = readFileSync(`test/vectors/${file}`, 'utf8').split(/\r?\n/);
  return lines.filter((line) => line !== '' && !line.startsWith('#')).slice(1);
}

export const CODE_ROWS: CodeRow[] = rowsOf('codes.csv').map((line) => {
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

export const READING_ROWS: ReadingRow[] = rowsOf('reading.csv').map((line) => {
  const [text, code, note] = line.split('\t') as [string, string, string];
  return { text: JSON.parse(text) as string, code: code === 'INVALID' ? null : code, note };
});
