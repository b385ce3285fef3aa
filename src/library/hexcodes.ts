// The library, for any platform: positions of Viet Nam to hexcodes and back. node.ts and web.ts add load().

import { ADMIN_UNITS } from '../admin-units.js';
import { HexcodesError } from '../errors.js';
import { Kernel, NOT_A_COORDINATE, OK, OUTSIDE_COVERAGE } from '../kernel/kernel.js';
import {
  positionResolutionAt,
  positionStatusAt,
  READ_ADMIN_AT,
  READ_CELL_AT,
  READ_RECORD_AT,
  READ_RESOLUTION_AT,
  RECORD_BYTES,
  recordAt,
} from '../kernel/output-layout.js';
import { DEFAULT_RESOLUTION } from '../wire/params/resolution.js';

export { ADMIN_UNITS, type AdminUnit } from '../admin-units.js';
export { HexcodesError, type HexcodesErrorCode } from '../errors.js';
export type { KernelExports } from '../kernel/exports.js';
export type { Kernel } from '../kernel/kernel.js';
export { DEFAULT_RESOLUTION } from '../wire/params/resolution.js';

/** What `Hexcodes.from` takes: the three binaries of one build. */
export interface HexcodesData {
  /** dist/kernel.wasm, as bytes or compiled. */
  readonly kernel: WebAssembly.Module | BufferSource;
  /** data/index.bin: the boundaries. */
  readonly index: Uint8Array;
  /** data/reach.bin: which provinces a code may carry. */
  readonly reach: Uint8Array;
}

/** Answer of `encode`. */
export interface Encoded {
  /** Canonical hexcode. */
  hexcodes: string;
  /** The latitude that was given, degrees. */
  lat: number;
  /** The longitude that was given, degrees. */
  lng: number;
  /** H3 resolution, 0 to 15. */
  resolution: number;
  /** Province of the position: a code of ADMIN_UNITS. */
  admin_code: string;
}

/** Answer of `decode`. */
export interface Decoded {
  /** Latitude of the cell's centre, degrees. */
  lat: number;
  /** Longitude of the cell's centre, degrees. */
  lng: number;
  /** H3 resolution, 0 to 15. */
  resolution: number;
  /** Province of the position that the code was made from, which may not be that of the centre. */
  admin_code: string;
}

/** Answer of `read`. */
export interface ReadHexcode extends Decoded {
  /** Canonical hexcode. */
  hexcodes: string;
  /** H3 index of the cell. */
  cell: bigint;
}

/** Answer of `decodeBatch`: one entry a record in each array, two in `latLngDeg`. */
export interface DecodedBatch {
  /** lat, lng, lat, lng, … of the cells' centres, degrees; NaN where the record is no hexcode. */
  latLngDeg: Float64Array;
  /** H3 resolution; 255 where the record is no hexcode. */
  resolution: Uint8Array;
  /** 0 OK, 3 invalid hexcode. */
  status: Uint8Array;
}

/**
 * Positions of Viet Nam to hexcodes and back. Pure and synchronous once made; one instance may be used by everyone of
 * its thread. Degrees are WGS 84; resolutions are those of H3, 0 to 15.
 */
export class Hexcodes {
  /**
   * The kernel underneath, for servers that fill and read its memory themselves: fixed views, one call a block, no
   * allocation. Its views are scratch that every call of this class overwrites.
   */
  readonly kernel: Kernel;

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  /**
   * Makes the library of its three binaries.
   * @throws HexcodesError BAD_DATA that says which of them cannot be used and why
   */
  static from<T extends Hexcodes>(this: new (kernel: Kernel) => T, data: HexcodesData): T {
    return new this(Kernel.create(data.kernel, data.index, data.reach));
  }

  /**
   * The hexcode of a position.
   * @param lat latitude, degrees, -90 to 90
   * @param lng longitude, degrees, -180 to 180
   * @param resolution H3 resolution, integer 0 to 15
   * @throws HexcodesError BAD_RESOLUTION, NOT_A_COORDINATE, or OUTSIDE_COVERAGE for a position in no province
   */
  encode(lat: number, lng: number, resolution = DEFAULT_RESOLUTION): Encoded {
    requireResolution(resolution);
    const { kernel } = this;
    const status =
      typeof lat === 'number' && typeof lng === 'number'
        ? kernel.exports.encodeOne(lat, lng, resolution)
        : NOT_A_COORDINATE;
    if (status !== OK) throw failure(status, lat, lng);
    const hexcodes = kernel.textAt(0);
    const admin_code = hexcodes.slice(0, hexcodes.indexOf('-'));
    // -0 is an integer too
    return { hexcodes, lat, lng, resolution: resolution + 0, admin_code };
  }

  /** What a hexcode stands for, however it is spelt (code format, Reading); null for what is no hexcode. */
  decode(text: string): Decoded | null {
    return typeof text === 'string' && this.kernel.readText(text) === OK ? this.#position() : null;
  }

  /** Whether `decode` would accept the text. */
  isValid(text: string): boolean {
    return typeof text === 'string' && this.kernel.readText(text) === OK;
  }

  /** All that a hexcode says: as `decode`, with the canonical text and the H3 cell; null for what is no hexcode. */
  read(text: string): ReadHexcode | null {
    const decoded = this.decode(text);
    if (decoded === null) return null;
    const cell = this.kernel.outputCells[READ_CELL_AT / 8]!;
    return { hexcodes: this.kernel.textAt(READ_RECORD_AT), cell, ...decoded };
  }

  /** The canonical hexcode of an H3 cell within a province; null if there is none that `decode` accepts. */
  pack(cell: bigint, adminCode: string): string | null {
    const admin = ADMIN_UNITS.findIndex((unit) => unit.code === adminCode);
    // the kernel would take it modulo 2^64
    if (typeof cell !== 'bigint' || BigInt.asUintN(64, cell) !== cell) return null;
    return admin >= 0 && this.kernel.exports.pack(cell, admin) === OK ? this.kernel.textAt(0) : null;
  }

  /** The province of a position in degrees, a code of ADMIN_UNITS; null outside the coverage. */
  adminCodeOf(lat: number, lng: number): string | null {
    if (typeof lat !== 'number' || typeof lng !== 'number') return null;
    return ADMIN_UNITS[this.kernel.exports.regionOf(lat, lng)]?.code ?? null;
  }

  /**
   * The hexcodes of many positions.
   * @param latLngDeg lat, lng, lat, lng, … in degrees, any count
   * @param resolution H3 resolution of all, integer 0 to 15
   * @param out where to put the records, at least 20 bytes a position; made if absent
   * @returns 20 bytes a position: canonical hexcode in ASCII, NUL padded, byte 19 = status (0 OK, 1 outside the
   *   coverage, 2 not a coordinate); the rest of a failed record is NUL. It is `out`, or its beginning.
   * @throws HexcodesError BAD_ARGUMENT for other kinds of arrays, an odd length, an `out` that is small or shares its
   *   bytes with the positions; BAD_RESOLUTION; never for a position
   */
  encodeBatch(
    latLngDeg: Float64Array,
    resolution: number = DEFAULT_RESOLUTION,
    out?: Uint8Array,
  ): Uint8Array {
    requireResolution(resolution);
    requireKind(latLngDeg, Float64Array, 'latLngDeg');
    if (latLngDeg.length % 2 !== 0)
      throw new HexcodesError('BAD_ARGUMENT', `Positions are pairs: ${latLngDeg.length} numbers are odd`);
    const count = latLngDeg.length / 2;
    const records = roomFor(out, Uint8Array, count * RECORD_BYTES, 'out', latLngDeg);
    const { capacity, exports, input, output } = this.kernel;
    for (let from = 0; from < count; from += capacity) {
      const block = Math.min(capacity, count - from);
      input.set(latLngDeg.subarray(2 * from, 2 * (from + block)));
      exports.encodeBatch(block, resolution);
      records.set(output.subarray(0, recordAt(block)), recordAt(from));
    }
    return records;
  }

  /**
   * The positions of many hexcodes.
   * @param records 20 bytes each: a hexcode in ASCII in any spelling, up to the first NUL; byte 19 is ignored
   * @param out where to put the answer, two numbers and two bytes a record at least; made if absent
   * @returns the centres of the cells; the arrays are those of `out`, or their beginnings
   * @throws HexcodesError BAD_ARGUMENT for other kinds of arrays, bytes that are no whole records, an `out` that is
   *   small or shares its bytes with the records; never for a record
   */
  decodeBatch(records: Uint8Array, out?: DecodedBatch): DecodedBatch {
    requireKind(records, Uint8Array, 'records');
    if (records.length % RECORD_BYTES !== 0)
      throw new HexcodesError(
        'BAD_ARGUMENT',
        `Records are 20 bytes each: ${records.length} bytes are not whole`,
      );
    const count = records.length / RECORD_BYTES;
    const latLngDeg = roomFor(out?.latLngDeg, Float64Array, 2 * count, 'out.latLngDeg', records);
    const resolution = roomFor(out?.resolution, Uint8Array, count, 'out.resolution', records);
    const status = roomFor(out?.status, Uint8Array, count, 'out.status', records);
    const { capacity, exports, inputBytes, output, outputFloats } = this.kernel;
    for (let from = 0; from < count; from += capacity) {
      const block = Math.min(capacity, count - from);
      inputBytes.set(records.subarray(recordAt(from), recordAt(from + block)));
      exports.decodeBatch(block);
      latLngDeg.set(outputFloats.subarray(0, 2 * block), 2 * from);
      const resolutions = positionResolutionAt(block, 0);
      const statuses = positionStatusAt(block, 0);
      resolution.set(output.subarray(resolutions, statuses), from);
      status.set(output.subarray(statuses, statuses + block), from);
    }
    return { latLngDeg, resolution, status };
  }

  /** What readText left in the output. */
  #position(): Decoded {
    const { output, outputFloats } = this.kernel;
    return {
      lat: outputFloats[0]!,
      lng: outputFloats[1]!,
      resolution: output[READ_RESOLUTION_AT]!,
      admin_code: ADMIN_UNITS[output[READ_ADMIN_AT]!]!.code,
    };
  }
}

function requireResolution(resolution: number): void {
  if (!Number.isInteger(resolution) || resolution < 0 || resolution > 15)
    throw new HexcodesError(
      'BAD_RESOLUTION',
      `A resolution is an integer from 0 to 15, not ${String(resolution)}`,
    );
}

type BatchArray = Uint8Array | Float64Array;

/** Refuses plain arrays and those of other numbers: single precision alone would move a position by half a metre. */
function requireKind<T extends BatchArray>(given: T, kind: new (length: number) => T, name: string): void {
  // by name, since an array may come from another realm (a frame, a vm context)
  if (Object.prototype.toString.call(given) !== `[object ${kind.name}]`)
    throw new HexcodesError('BAD_ARGUMENT', `The array ${name} must be a ${kind.name}`);
}

/** `given` cut to `length`, or a new array. */
function roomFor<T extends BatchArray>(
  given: T | undefined,
  kind: new (length: number) => T,
  length: number,
  name: string,
  source: BatchArray,
): T {
  if (given === undefined) return new kind(length);
  requireKind(given, kind, name);
  if (given.length < length)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      `The array ${name} has room for ${given.length}, ${length} are needed`,
    );
  const room = given.subarray(0, length) as T;
  // what a block writes would be read by the next one
  if (
    room.buffer === source.buffer &&
    room.byteOffset < source.byteOffset + source.byteLength &&
    source.byteOffset < room.byteOffset + room.byteLength
  )
    throw new HexcodesError('BAD_ARGUMENT', `The array ${name} shares its bytes with what is to be read`);
  return room;
}

function failure(status: number, lat: number, lng: number): HexcodesError {
  const position = `${String(lat)}, ${String(lng)}`;
  if (status === OUTSIDE_COVERAGE)
    return new HexcodesError('OUTSIDE_COVERAGE', `In no province of Viet Nam nor its sea: ${position}`);
  return new HexcodesError(
    'NOT_A_COORDINATE',
    `Not a position in degrees (latitude -90 to 90, longitude -180 to 180): ${position}`,
  );
}
