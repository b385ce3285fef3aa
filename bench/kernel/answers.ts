// Checks the answers before they are timed: a wrong or failed one ends the run.
import { latLngToCell } from 'h3-js';
import type { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import type { CorpusName } from '../corpora.js';
import type { ProvinceAt } from '../polygons.js';
import { RECORD_BYTES, RESOLUTION } from './subjects.js';

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
