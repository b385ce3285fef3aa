// A CSV of seeded points for file tests and proofs: most on land, some at sea and abroad, a column before and one after.

import { closeSync, openSync, writeSync } from 'node:fs';
import { randomFrom } from '../open-world.js';

/** Rough outlines of where people are: boxes [south, west, north, east]. */
const BOXES: readonly (readonly [number, number, number, number])[] = [
  [20.3, 105.2, 22.0, 106.6],
  [18.7, 104.7, 20.1, 105.7],
  [12.0, 107.8, 15.6, 108.9],
  [9.4, 105.3, 11.2, 106.8],
];

/** Writes `rows` rows with positions of whole micro-degrees; one in 20 anywhere between 5-25 N, 100-119 E. */
export function writePointsCsv(path: string, rows: number, seed: number): void {
  const random = randomFrom(seed);
  const file = openSync(path, 'w');
  let lines = ['id,lat,lng,speed\n'];
  for (let row = 1; row <= rows; row++) {
    const [south, west, north, east] =
      row % 20 === 0
        ? ([5, 100, 25, 119] as const)
        : (BOXES[Math.floor(random() * BOXES.length)] as (typeof BOXES)[0]);
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
