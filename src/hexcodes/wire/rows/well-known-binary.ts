// Geometries as well-known binary (WKB), of OGC, ISO 13249 and PostGIS, and coordinate systems by number or registry
// identifier. Declarations in words are read by coordinate-system.ts, which the page loads with the first file; this
// module is in its first scripts.

/** Lists of alternating longitudes and latitudes. */
export interface Shape {
  /** Number of the type in WKB: 1 a point to 7 a collection. */
  readonly type: number;
  readonly points: number[];
  readonly lines: number[][];
  /** Rings, the outer one first. */
  readonly polygons: number[][][];
  /** Types of the points, lines and areas in the order of the geometry: 1, 2 and 3. */
  readonly order: number[];
  /** Number of the reference system that PostGIS writes; 0 where there is none. */
  readonly system: number;
}

const MAX_DEPTH = 16;
const Z_FLAG = 0x8000_0000;
const M_FLAG = 0x4000_0000;
const SYSTEM_FLAG = 0x2000_0000;
const POSITION_BYTES = 16;
/** The lines of a point, shared because they stay empty. */
const NO_LINES: number[][] = [];
const NO_POLYGONS: number[][][] = [];
const NO_ORDER: number[] = [];

/** The bytes of hexadecimal digits in any case. */
export function bytesOfHex(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = (digitOf(digits.charCodeAt(2 * i)) << 4) | digitOf(digits.charCodeAt(2 * i + 1));
  return bytes;
}

/** The value of a letter of either case is its last four bits plus nine. */
const digitOf = (code: number): number => (code & 15) + 9 * (code >> 6);

/**
 * @param from offset of the geometry
 * @returns null for bytes that are not a geometry of these types
 */
export function shapeOfWkb(bytes: Uint8Array, from = 0): Shape | null {
  const reader = new WkbReader(bytes, from);
  try {
    return reader.read();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

class WkbReader {
  readonly #view: DataView;
  readonly #points: number[] = [];
  #lines: number[][] = NO_LINES;
  #polygons: number[][][] = NO_POLYGONS;
  #order: number[] = NO_ORDER;
  #at: number;
  #isLittle = true;
  #more = 0;
  #system = 0;

  constructor(bytes: Uint8Array, from: number) {
    this.#at = from;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  read(): Shape | null {
    const type = this.#geometry(0);
    if (type === null || this.#at !== this.#view.byteLength) return null;
    const [points, lines, polygons, order] = [this.#points, this.#lines, this.#polygons, this.#order];
    return { type, points, lines, polygons, order, system: this.#system };
  }

  #geometry(depth: number): number | null {
    if (depth > MAX_DEPTH) return null;
    const order = this.#view.getUint8(this.#at++);
    if (order > 1) return null;
    this.#isLittle = order === 1;
    const code = this.#count();
    const plain = code & 0x0fff_ffff;
    const [kind, type] = [Math.floor(plain / 1000), plain % 1000];
    if (kind > 3 || type < 1 || type > 7) return null;
    const hasZ = (code & Z_FLAG) !== 0 || kind === 1 || kind === 3;
    const hasM = (code & M_FLAG) !== 0 || kind === 2 || kind === 3;
    if ((code & SYSTEM_FLAG) !== 0) this.#system = this.#count();
    this.#more = 8 * (Number(hasZ) + Number(hasM));
    if (type === 1) {
      const before = this.#points.length;
      if (this.#positions(1, this.#points).length > before && depth > 0) this.#order.push(type);
      return type;
    }
    if (this.#lines === NO_LINES) [this.#lines, this.#polygons, this.#order] = [[], [], []];
    if (type < 4) this.#order.push(type);
    if (type === 2) this.#lines.push(this.#positions(this.#count()));
    else if (type === 3) this.#polygons.push(this.#rings());
    else for (let left = this.#count(); left > 0; left--) if (this.#geometry(depth + 1) === null) return null;
    return type;
  }

  #rings(): number[][] {
    const rings: number[][] = [];
    for (let left = this.#count(); left > 0; left--) rings.push(this.#positions(this.#count()));
    return rings;
  }

  /** Empty points are pairs of NaN, and left out. */
  #positions(count: number, to: number[] = []): number[] {
    const step = POSITION_BYTES + this.#more;
    if (this.#at + count * step > this.#view.byteLength) throw new RangeError();
    for (let i = 0; i < count; i++) {
      const lng = this.#view.getFloat64(this.#at, this.#isLittle);
      const lat = this.#view.getFloat64(this.#at + 8, this.#isLittle);
      this.#at += step;
      if (!Number.isNaN(lng) && !Number.isNaN(lat)) to.push(lng, lat);
    }
    return to;
  }

  #count(): number {
    const count = this.#view.getUint32(this.#at, this.#isLittle);
    this.#at += 4;
    return count;
  }
}

/** A system other than WGS 84. */
export interface OtherSystem {
  /** Its name for messages, at most some 80 letters. */
  readonly called: string;
  /** Its code for programs, `EPSG:4756`; null if it has no number. */
  readonly code: string | null;
}

/** WGS 84 in two and in three dimensions, and its realizations, which differ by centimetres. */
export const DEGREES: ReadonlySet<string> = new Set([
  'EPSG:4326',
  'EPSG:4979',
  'OGC:CRS84',
  'OGC:CRS84H',
  'CRS:CRS84',
  'CRS:84',
  'EPSG:9053',
  'EPSG:9054',
  'EPSG:9055',
  'EPSG:9056',
  'EPSG:9057',
  'EPSG:9755',
]);
const MAX_SHOWN = 60;

/** A system that is known only by name. */
export function unknown(called: string): OtherSystem {
  return { called: called.length > MAX_SHOWN ? `${called.slice(0, MAX_SHOWN)}…` : called, code: null };
}

/** @returns null for WGS 84 */
export function byCode(authority: unknown, code: unknown, name?: unknown): OtherSystem | null {
  // PostGIS and Parquet use the numbers of EPSG.
  const of = /^srid$/i.test(String(authority)) ? 'EPSG' : String(authority).toUpperCase();
  const id = `${of}:${String(code).toUpperCase()}`;
  if (DEGREES.has(id)) return null;
  const { called } = unknown(id);
  return { called: typeof name === 'string' ? `${called} (${unknown(name).called})` : called, code: id };
}

/**
 * The system that geometries number, as EWKB and GeoPackage do: null for WGS 84, and for 0 and -1, which stand for
 * none.
 */
export const byNumber = (code: number): OtherSystem | null =>
  code === 0 || code === -1 ? null : byCode('EPSG', code);
