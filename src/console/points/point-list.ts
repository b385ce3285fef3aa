// Positions as the map draws them, collected in a worker: rows of a file while it is converted, vehicles of a fleet.
import { ANCHOR, mercatorX, mercatorY, type PointsToDraw } from './drawn-points.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Most points that are drawn: 58 MB. */
const MAX_POINTS = 2_000_000;
const FIRST_POINTS = 65_536;
/** Stands for a position in no province. */
export const NOWHERE = 255;
/** MapLibre draws nothing beyond. */
const MAX_LAT_DEG = 85;

export class PointList {
  #offsets = new Float32Array(2 * FIRST_POINTS);
  #admins = new Uint8Array(FIRST_POINTS);
  #positions = new Float64Array(2 * FIRST_POINTS);
  #rows = new Uint32Array(FIRST_POINTS);
  /** Zones of the points, where there are zones. */
  #zones = new Uint8Array();
  #count = 0;
  #left = 0;
  /** West, south, east, north. */
  readonly #box: [number, number, number, number] = [180, 90, -180, -90];

  /** @param row of the file, or number of the vehicle, from 0 */
  add(latDeg: number, lngDeg: number, admin: number, row: number, zone?: number): void {
    if (!(Math.abs(latDeg) <= MAX_LAT_DEG && Math.abs(lngDeg) <= 180)) return;
    if (this.#count === MAX_POINTS) {
      this.#left++;
      return;
    }
    if (this.#count === this.#admins.length) this.#grow();
    this.#offsets[2 * this.#count] = mercatorX(lngDeg) - ANCHOR.x;
    this.#offsets[2 * this.#count + 1] = mercatorY(latDeg) - ANCHOR.y;
    this.#positions[2 * this.#count] = latDeg;
    this.#positions[2 * this.#count + 1] = lngDeg;
    this.#rows[this.#count] = row;
    if (zone !== undefined) {
      if (this.#zones.length < this.#admins.length) this.#zones = grown(this.#zones, this.#admins.length);
      this.#zones[this.#count] = zone;
    }
    this.#admins[this.#count++] = admin;
    if (admin !== NOWHERE) this.#widen(latDeg, lngDeg);
  }

  /** Zones of the points so far; none where there are no zones. */
  takeZones(): Bytes {
    return this.#zones.slice(0, this.#count);
  }

  /** All points so far, in buffers of their own. */
  take(): PointsToDraw {
    const [west, south, east, north] = this.#box;
    return {
      offsets: this.#offsets.slice(0, 2 * this.#count),
      groups: this.#admins.slice(0, this.#count),
      positions: this.#positions.slice(0, 2 * this.#count),
      rows: this.#rows.slice(0, this.#count),
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
    this.#offsets = grown(this.#offsets, 2 * this.#offsets.length);
    this.#positions = grown(this.#positions, 2 * this.#positions.length);
    this.#rows = grown(this.#rows, 2 * this.#rows.length);
    this.#admins = grown(this.#admins, 2 * this.#admins.length);
  }
}

function grown<T extends Bytes | Uint32Array | Float32Array | Float64Array>(numbers: T, length: number): T {
  const made = new (numbers.constructor as new (length: number) => T)(length);
  made.set(numbers);
  return made;
}
