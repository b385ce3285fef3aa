// The subjects that several rows of the kernel bench time: our batch encode, and h3-js point by point; and the check of
// the answers.
import { latLngToCell } from 'h3-js';
import type { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import type { CorpusName } from '../corpora.js';
import type { ProvinceAt } from '../rivals.js';
import type { Subject } from '../turns.js';

export const RESOLUTION = 13;
export const RECORD_BYTES = 20;
/** Points of a piece of our work. */
export const BLOCK = 16384;
/** Points of a piece of a rival's, which is slower by far. */
const SLOW_BLOCK = 256;

/** Sum of what the rivals answer, so that the engine cannot leave any of their work out. */
let kept = 0;

export function keep(value: number): void {
  kept += value;
}

/** Throws if a rival has answered something that is not a number. */
export function checkKept(): void {
  if (Number.isNaN(kept)) throw new Error('a rival failed');
}

/** A subject that works point by point: `one` gets the index of a point, since degrees handed over would be boxed. */
export function eachPoint(name: string, count: number, one: (n: number) => void): Subject {
  return {
    name,
    points: SLOW_BLOCK,
    pieces: count / SLOW_BLOCK,
    run(piece) {
      const end = (piece + 1) * SLOW_BLOCK;
      for (let n = piece * SLOW_BLOCK; n < end; n++) one(n);
    },
  };
}

export function h3Subject(points: Float64Array, resolution: number): Subject {
  return eachPoint('h3-js latLngToCell', points.length / 2, (n) => {
    keep(latLngToCell(points[2 * n]!, points[2 * n + 1]!, resolution).length);
  });
}

export function encodeSubject(hexcodes: Hexcodes, points: Float64Array, resolution: number): Subject {
  const records = new Uint8Array((RECORD_BYTES * points.length) / 2).fill(1);
  return {
    name: 'encodeBatch',
    points: BLOCK,
    pieces: points.length / 2 / BLOCK,
    run(piece) {
      const from = piece * BLOCK;
      const out = records.subarray(RECORD_BYTES * from, RECORD_BYTES * (from + BLOCK));
      hexcodes.encodeBatch(points.subarray(2 * from, 2 * (from + BLOCK)), resolution, out);
    },
  };
}

// Checks the answers before they are timed: a wrong or failed one ends the run.

/** Checks the status of every record, and the province and the cell of every sixteenth. */
export function checkAnswers(
  hexcodes: Hexcodes,
  points: Float64Array,
  corpus: CorpusName,
  provinceAt: ProvinceAt,
): void {
  const records = hexcodes.encodeBatch(points, RESOLUTION);
  const count = points.length / 2;
  for (let n = 0; n < count; n++) {
    const [latDeg, lngDeg] = [points[2 * n]!, points[2 * n + 1]!];
    const status = records[RECORD_BYTES * n + 19]!;
    const covered = hexcodes.adminCodeOf(latDeg, lngDeg) !== null;
    if (status !== (covered ? 0 : 1)) throw new Error(`${corpus}: status ${status} of ${latDeg}, ${lngDeg}`);
    if (n % 16 !== 0) continue;
    // which-polygon takes the position as it is, the library rounds it to micro-degrees: either province is right here.
    const text = textOf(records, n);
    const code = provinceAt(latDeg, lngDeg);
    const rounded = provinceAt(Math.floor(latDeg * 1e6 + 0.5) / 1e6, Math.floor(lngDeg * 1e6 + 0.5) / 1e6);
    const admin = text === '' ? null : text.slice(0, text.indexOf('-'));
    if (admin !== code && admin !== rounded)
      throw new Error(`${corpus}: ${admin} is ${code} to which-polygon`);
    if (text === '') continue;
    const cell = hexcodes.read(text)?.cell.toString(16);
    if (cell !== latLngToCell(latDeg, lngDeg, RESOLUTION)) throw new Error(`${corpus}: ${text} is ${cell}`);
  }
}

/** The hexcode of record `n`, empty where its point failed. */
export function textOf(records: Uint8Array, n: number): string {
  return String.fromCharCode(
    ...records.subarray(RECORD_BYTES * n, RECORD_BYTES * n + 19).filter((byte) => byte !== 0),
  );
}
