// A CSV of seeded points for tests, proofs and the recorded session: most on land, some at sea and abroad.

import { closeSync, openSync, writeSync } from 'node:fs';
import { randomFrom } from '../open-world.js';

/** Boxes over populated land: [south, west, north, east] in degrees. */
const BOXES: readonly (readonly [number, number, number, number])[] = [
  [20.3, 105.2, 22.0, 106.6],
  [18.7, 104.7, 20.1, 105.7],
  [12.0, 107.8, 15.6, 108.9],
  [9.4, 105.3, 11.2, 106.8],
];

/** Writes rows `id,lat,lng,speed` with positions in whole micro-degrees; one in 20 anywhere in 5-25 N, 100-119 E. */
export function writePointsCsv(path: string, rows: number, seed: number): void {
  const random = randomFrom(seed);
  const file = openSync(path, 'w');
  let lines = ['id,lat,lng,speed\n'];
  for (let row = 1; row <= rows; row++) {
    const [south, west, north, east] =
      row % 20 === 0 ? ([5, 100, 25, 119] as const) : BOXES[Math.floor(random() * BOXES.length)]!;
    const lat = (south + random() * (north - south)).toFixed(6);
    const lng = (west + random() * (east - west)).toFixed(6);
    lines.push(`v${row},${lat},${lng},${(random() * 80).toFixed(1)}\n`);
    if (lines.length < 50_000) continue;
    writeSync(file, lines.join(''));
    lines = [];
  }
  writeSync(file, lines.join(''));
  closeSync(file);
}
