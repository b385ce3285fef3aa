// The positions of the rows of a file, collected while it is converted, as the map draws them.
import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { positionStatusAt, recordAt, recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import type { TextMemory } from '../../hexcodes/kernel/text-memory.js';
import type { Operation } from '../../hexcodes/wire/job.js';
import { RowReport } from '../../hexcodes/wire/rows/row-report.js';
import { ANCHOR, mercatorX, mercatorY, type PointsToDraw } from '../points/drawn-points.js';

/** Most points that are drawn: 18 MB. */
const MOST_POINTS = 2_000_000;
const FIRST_POINTS = 65_536;
/** Stands for a position in no province. */
const NOWHERE = 255;
/** MapLibre draws nothing beyond. */
const MOST_LAT_DEG = 85;

/** Admin numbers by the letters of their codes, two or three of them in base 32. */
const ADMIN_BY_LETTERS = new Uint8Array(32 * 32 * 32).fill(NOWHERE);
for (const [admin, { code }] of ADMIN_UNITS.entries()) {
  const bytes = new TextEncoder().encode(code);
  ADMIN_BY_LETTERS[lettersAt(bytes, 0)] = admin;
}

/** The place of the letters before the first hyphen or the end. */
function lettersAt(bytes: Uint8Array, at: number): number {
  const third = bytes[at + 2] ?? 0;
  return ((bytes[at]! & 31) << 10) | ((bytes[at + 1]! & 31) << 5) | (third >= 65 ? third & 31 : 0);
}

export class PointList {
  #offsets = new Float32Array(2 * FIRST_POINTS);
  #admins = new Uint8Array(FIRST_POINTS);
  #count = 0;
  #left = 0;
  /** West, south, east, north. */
  readonly #box: [number, number, number, number] = [180, 90, -180, -90];

  add(latDeg: number, lngDeg: number, admin: number): void {
    if (!(Math.abs(latDeg) <= MOST_LAT_DEG && Math.abs(lngDeg) <= 180)) return;
    if (this.#count === MOST_POINTS) {
      this.#left++;
      return;
    }
    if (this.#count === this.#admins.length) this.#grow();
    this.#offsets[2 * this.#count] = mercatorX(lngDeg) - ANCHOR.x;
    this.#offsets[2 * this.#count + 1] = mercatorY(latDeg) - ANCHOR.y;
    this.#admins[this.#count++] = admin;
    if (admin !== NOWHERE) this.#widen(latDeg, lngDeg);
  }

  /** All points so far, in buffers of their own. */
  take(): PointsToDraw {
    const [west, south, east, north] = this.#box;
    return {
      offsets: this.#offsets.slice(0, 2 * this.#count),
      admins: this.#admins.slice(0, this.#count),
      left: this.#left,
      box: west > east ? undefined : { west, south, east, north },
    };
  }

  #widen(latDeg: number, lngDeg: number): void {
    const box = this.#box;
    if (lngDeg < box[0]) box[0] = lngDeg;
    if (latDeg < box[1]) box[1] = latDeg;
    if (lngDeg > box[2]) box[2] = lngDeg;
    if (latDeg > box[3]) box[3] = latDeg;
  }

  #grow(): void {
    const offsets = new Float32Array(2 * this.#offsets.length);
    offsets.set(this.#offsets);
    this.#offsets = offsets;
    const admins = new Uint8Array(2 * this.#admins.length);
    admins.set(this.#admins);
    this.#admins = admins;
  }
}

/** Reads the points of a conversion out of the kernel's memory, at the end of each of its scans. */
export class PointsReport extends RowReport {
  constructor(
    private readonly kernel: Kernel,
    private readonly rows: TextMemory,
    private readonly of: Operation,
    private readonly points: PointList,
  ) {
    super(rows, of);
  }

  override endScan(count: number, isConverted: boolean): void {
    super.endScan(count, isConverted);
    if (this.of === 'encode') this.#addEncoded(count);
    else this.#addDecoded(count);
  }

  #addEncoded(count: number): void {
    const { input, output } = this.kernel;
    for (let i = 0; i < count; i++) {
      const isFound = output[recordStatusAt(i)] === 0 && this.rows.statusOf(i) === 0;
      const isElsewhere = !isFound && output[recordStatusAt(i)] === 1;
      if (!isFound && !isElsewhere) continue;
      const admin = isFound ? ADMIN_BY_LETTERS[lettersAt(output, recordAt(i))]! : NOWHERE;
      this.points.add(input[2 * i]!, input[2 * i + 1]!, admin);
    }
  }

  #addDecoded(count: number): void {
    const { inputBytes, output, outputFloats } = this.kernel;
    for (let i = 0; i < count; i++) {
      if (output[positionStatusAt(count, i)] !== 0 || this.rows.statusOf(i) !== 0) continue;
      const admin = ADMIN_BY_LETTERS[lettersAt(inputBytes, recordAt(i))]!;
      this.points.add(outputFloats[2 * i]!, outputFloats[2 * i + 1]!, admin);
    }
  }
}
