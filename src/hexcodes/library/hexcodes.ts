// The library: positions in Viet Nam to hexcodes and back. It uses no file and no network, so it is the same on every
// platform and in every bundle.

import { ADMIN_UNITS } from '../admin-units.js';
import { HexcodesError } from '../errors.js';
import { EXTRA_NAMES, type ExtrasAsked } from '../extras.js';
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
  recordStatusAt,
  recordText,
} from '../kernel/output-layout.js';
import { looksSwapped, SWAPPED_HINT } from '../wire/job.js';
import { isOptions, isTransferred, requireFlag, requireKnown, shown } from '../wire/params/names.js';
import { DEFAULT_RESOLUTION } from '../wire/params/number.js';

// Checks of the arguments of calls: resolutions, positions, the arrays of batches.
/** Options of `encodeBatch`. */
export interface EncodeBatchOptions {
  /** H3 resolution, integer 0 to 15; default 13. */
  readonly resolution?: number | undefined;
}

/** Options of `encode`. */
export interface EncodeOptions extends EncodeBatchOptions, ExtrasAsked {}

const BATCH_OPTIONS = ['resolution'] as const;
const ENCODE_OPTIONS = ['resolution', ...EXTRA_NAMES] as const;
const DECODED_ARRAYS = ['latLng', 'resolution', 'status'] as const;

type BatchArray = Uint8Array | Float64Array;

/**
 * @param known the options of the call
 * @param none arguments beyond those of the call: they would be silently ignored, like options of other names
 * @throws HexcodesError BAD_RESOLUTION, BAD_ARGUMENT
 */
function resolutionOf(
  given: number | EncodeOptions,
  known: readonly string[],
  call: string,
  none: readonly never[],
): number {
  if (none.length > 0)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      'An argument too many: further options go into the object of options',
    );
  let resolution = given as number;
  if (isOptions(given)) {
    requireKnown(given, known, call);
    resolution = given.resolution === undefined ? DEFAULT_RESOLUTION : given.resolution;
  }
  if (!Number.isInteger(resolution) || resolution < 0 || resolution > 15)
    throw new HexcodesError(
      'BAD_RESOLUTION',
      `A resolution is an integer from 0 to 15, not ${inWords(resolution)}`,
    );
  return resolution;
}

/** A value for a message; a text that looks like a number is called a text. */
function inWords(value: unknown): string {
  if (typeof value === 'string') return `the text ${JSON.stringify(value)}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Rejects arrays of other kinds: single precision alone would move a position by half a metre. */
function requireKind<T extends BatchArray>(given: T, kind: new (length: number) => T, name: string): void {
  // Compared by name: an array of another realm (a frame, a vm context) is not an instance of this realm's class.
  if (Object.prototype.toString.call(given) !== `[object ${kind.name}]`)
    throw new HexcodesError('BAD_ARGUMENT', `The array ${name} must be a ${kind.name}`);
  if (isTransferred(given))
    throw new HexcodesError('BAD_ARGUMENT', `The array ${name} is empty: its buffer was transferred away`);
}

/** The first `length` entries of `given`, or a new array. */
function outputFor<T extends BatchArray>(
  given: T | undefined,
  kind: new (length: number) => T,
  length: number,
  name: string,
  ...others: BatchArray[]
): T {
  if (given === undefined) return new kind(length);
  requireKind(given, kind, name);
  if (given.length < length)
    throw new HexcodesError(
      'BAD_ARGUMENT',
      `The array ${name} has room for ${given.length}, ${length} are needed`,
    );
  const cut = given.subarray(0, length) as T;
  // Shared bytes: the answers to a block would overwrite the input of the next, or one another.
  for (const { buffer, byteOffset, byteLength } of others)
    if (
      cut.buffer === buffer &&
      cut.byteOffset < byteOffset + byteLength &&
      byteOffset < cut.byteOffset + cut.byteLength
    )
      throw new HexcodesError('BAD_ARGUMENT', `The array ${name} shares its bytes with another of the call`);
  return cut;
}

export { ADMIN_UNITS, type AdminUnit } from '../admin-units.js';
export { HexcodesError, type HexcodesErrorCode } from '../errors.js';
export type { KernelExports } from '../kernel/exports.js';
export type { Kernel } from '../kernel/kernel.js';
export { DEFAULT_RESOLUTION } from '../wire/params/number.js';

/** The three binary files of one build, for `Hexcodes.from`. */
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
  /** The latitude of the call, degrees. */
  lat: number;
  /** The longitude of the call, degrees. */
  lng: number;
  /** H3 resolution, 0 to 15. */
  resolution: number;
  /** Province of the position: a code of ADMIN_UNITS. */
  admin_code: string;
  /** With `former`: the province of the position before July 2025, named as in `mergedUnits` of ADMIN_UNITS. */
  former_province?: string | null;
  /** With `certainty`: whole metres to the nearest border between two provinces; null beyond 5 km. */
  border_m?: number | null;
  /**
   * With `certainty`: the share of positions at this distance from a border whose province is right, 0 to 1, as
   * measured on land; null where the boundaries have no shares.
   */
  certainty?: number | null;
}

/** Answer of `borderOf`. */
export interface ProvinceBorder {
  /** Whole metres to the nearest border between two provinces; null beyond 5 km. */
  border_m: number | null;
  /**
   * The share of positions at this distance from a border whose province is right, 0 to 1; null where the boundaries
   * have no shares.
   */
  certainty: number | null;
  /**
   * The province behind that border, a code of ADMIN_UNITS; null beyond 5 km, and where sea or foreign land lies before
   * the border.
   */
  neighbour_code: string | null;
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

/** Answer of `decodeBatch`: for each record one entry in each array, two in `latLng`. */
export interface DecodedBatch {
  /** lat, lng, lat, lng, … of the cells' centres in degrees; NaN where the record is not a hexcode. */
  latLng: Float64Array;
  /** H3 resolution; 255 where the record is not a hexcode. */
  resolution: Uint8Array;
  /** 0 OK, 3 invalid hexcode. */
  status: Uint8Array;
}

/**
 * Positions in Viet Nam to hexcodes and back. All calls are synchronous, and their answers depend on the arguments
 * alone; one instance serves a whole thread. Degrees are WGS 84; resolutions are those of H3, 0 to 15.
 */
export class Hexcodes {
  /**
   * The kernel, for servers that fill and read its memory themselves: fixed views, one call for a block of points, no
   * allocation. Every call of this class overwrites the memory behind the views.
   */
  readonly kernel: Kernel;

  /** @throws HexcodesError BAD_ARGUMENT for anything but a kernel: `load` and `from` make one */
  constructor(kernel: Kernel) {
    const given = kernel as Partial<Kernel> | null | undefined;
    if (typeof given?.exports?.encodeOne !== 'function')
      throw new HexcodesError(
        'BAD_ARGUMENT',
        `The kernel of Hexcodes is one of Kernel.create, as load() and from() make it, not ${shown(kernel)}`,
      );
    this.kernel = kernel;
  }

  /**
   * Makes an instance with the boundaries of this package. Kernel and boundaries are a module of their own, imported by
   * the first call; the kernel is compiled without blocking.
   * @throws HexcodesError BAD_DATA where WebAssembly may not be compiled: a page's CSP needs 'wasm-unsafe-eval'
   */
  static async load<T extends Hexcodes>(this: new (kernel: Kernel) => T): Promise<T> {
    const { KERNEL, INDEX, REACH } = await import('./embedded.js');
    const kernel = await Kernel.compile(bytesOf(KERNEL));
    return new this(Kernel.create(kernel, bytesOf(INDEX), bytesOf(REACH)));
  }

  /**
   * Makes an instance from the three binaries.
   * @throws HexcodesError BAD_DATA; the message says which of them cannot be used and why; BAD_ARGUMENT for no object
   */
  static from<T extends Hexcodes>(this: new (kernel: Kernel) => T, data: HexcodesData): T {
    if (typeof data !== 'object' || data === null || Array.isArray(data))
      throw new HexcodesError(
        'BAD_ARGUMENT',
        `The argument of from is an object: { kernel, index, reach }, not ${shown(data)}`,
      );
    return new this(Kernel.create(data.kernel, data.index, data.reach));
  }

  /**
   * The hexcode of a position.
   * @param lat latitude, degrees, -90 to 90
   * @param lng longitude, degrees, -180 to 180
   * @param options as in `HexcodesClient.encode`; a number is the resolution
   * @param none there is no fourth argument
   * @throws HexcodesError BAD_RESOLUTION, NOT_A_COORDINATE, OUTSIDE_COVERAGE for a position in no province, BAD_DATA
   *   for `former` where the boundaries lack the provinces before July 2025, or BAD_ARGUMENT,
   *   for an option of another name, too
   */
  encode(
    lat: number,
    lng: number,
    options: number | EncodeOptions = DEFAULT_RESOLUTION,
    ...none: never[]
  ): Encoded {
    const resolution = resolutionOf(options, ENCODE_OPTIONS, 'encode', none);
    const { kernel } = this;
    const status =
      typeof lat === 'number' && typeof lng === 'number'
        ? kernel.exports.encodeOne(lat, lng, resolution)
        : NOT_A_COORDINATE;
    if (status !== OK) throw failure(kernel, status, lat, lng);
    const hexcodes = kernel.textAt(0);
    const admin_code = hexcodes.slice(0, hexcodes[2] === '-' ? 2 : 3);
    // + 0 turns the resolution -0 into 0.
    const encoded = { hexcodes, lat, lng, resolution: resolution + 0, admin_code };
    if (typeof options !== 'object') return encoded;
    for (const name of EXTRA_NAMES) requireFlag(options[name], name);
    const former = options.former ? { former_province: this.formerProvinceOf(lat, lng) } : {};
    return { ...encoded, ...former, ...(options.certainty ? this.#certaintyOf(lat, lng) : {}) };
  }

  /**
   * The position of a hexcode, in any spelling that docs/code-format.md allows under Read.
   * @returns null for any other text, and for anything that is not text
   */
  decode(text: string): Decoded | null {
    return typeof text === 'string' && this.kernel.readText(text) === OK ? this.#position() : null;
  }

  /** Whether `decode` would accept the text. */
  isValid(text: string): boolean {
    return typeof text === 'string' && this.kernel.readText(text) === OK;
  }

  /** As `decode`, with the canonical text and the H3 cell. */
  read(text: string): ReadHexcode | null {
    const decoded = this.decode(text);
    if (decoded === null) return null;
    const cell = this.kernel.outputCells[READ_CELL_AT / 8]!;
    return { hexcodes: this.kernel.textAt(READ_RECORD_AT), cell, ...decoded };
  }

  /** The canonical hexcode of an H3 cell within a province; null if there is none that `decode` accepts. */
  pack(cell: bigint, adminCode: string): string | null {
    const admin = ADMIN_UNITS.findIndex((unit) => unit.code === adminCode);
    // WebAssembly would take any other bigint modulo 2^64.
    if (typeof cell !== 'bigint' || BigInt.asUintN(64, cell) !== cell) return null;
    return admin >= 0 && this.kernel.exports.pack(cell, admin) === OK ? this.kernel.textAt(0) : null;
  }

  /** The province of a position in degrees, a code of ADMIN_UNITS; null outside the coverage. */
  adminCodeOf(lat: number, lng: number): string | null {
    if (typeof lat !== 'number' || typeof lng !== 'number') return null;
    return ADMIN_UNITS[this.kernel.exports.regionOf(lat, lng)]?.code ?? null;
  }

  /** The lines between the coverage and what lies outside it: lng, lat, lng, lat, … in micro-degrees. */
  coverageEdges(): readonly Int32Array[] {
    const { arcs, meta } = this.kernel;
    const isCovered = (unit: number): boolean => meta?.units[unit] !== undefined;
    return arcs
      .filter(({ left, right }) => isCovered(left) !== isCovered(right))
      .map(({ vertices }) => vertices);
  }

  /**
   * The province of a position in degrees before July 2025, named as in `mergedUnits` of ADMIN_UNITS; null outside the
   * coverage.
   * @throws HexcodesError BAD_DATA where the boundaries are those of the 34 provinces alone
   */
  formerProvinceOf(lat: number, lng: number): string | null {
    const { exports, formerProvinces } = this.kernel;
    if (formerProvinces === null)
      throw new HexcodesError('BAD_DATA', 'The boundary index has no provinces from before July 2025');
    if (typeof lat !== 'number' || typeof lng !== 'number') return null;
    return formerProvinces[exports.unitOf(lat, lng)] ?? null;
  }

  /** How sure the province of a position in degrees is, and which other one it may be; null outside the coverage. */
  borderOf(lat: number, lng: number): ProvinceBorder | null {
    if (this.adminCodeOf(lat, lng) === null) return null;
    const neighbour_code = ADMIN_UNITS[this.kernel.exports.neighbourOf(lat, lng)]?.code ?? null;
    return { ...this.#certaintyOf(lat, lng), neighbour_code };
  }

  /**
   * The distances of many positions to the nearest border between two provinces.
   * @param latLng lat, lng, lat, lng, … in degrees, any number of positions
   * @returns whole metres for each; 65535 beyond 5 km, and for what is not a position. Positions outside the coverage
   *   have a distance, too.
   * @throws HexcodesError BAD_ARGUMENT for another kind of array, or an odd length
   */
  borderBatch(latLng: Float64Array): Uint16Array {
    requirePairs(latLng);
    const count = latLng.length / 2;
    const metres = new Uint16Array(count);
    const { capacity, exports, input, output } = this.kernel;
    const answers = new Uint16Array(output.buffer, output.byteOffset, capacity);
    for (let from = 0; from < count; from += capacity) {
      const block = Math.min(capacity, count - from);
      input.set(latLng.subarray(2 * from, 2 * (from + block)));
      exports.borderBatch(block);
      metres.set(answers.subarray(0, block), from);
    }
    return metres;
  }

  #certaintyOf(lat: number, lng: number): { border_m: number | null; certainty: number | null } {
    const { borderM, certainty } = this.kernel.borderAt(lat, lng);
    return { border_m: borderM, certainty };
  }

  /**
   * The hexcodes of many positions.
   * @param latLng lat, lng, lat, lng, … in degrees, any number of positions
   * @param options the resolution of all positions; a number is the resolution
   * @param out for the records, at least 20 bytes a position; a new array if absent
   * @param none there is no fourth argument
   * @returns the beginning of `out`, 20 bytes a position: canonical hexcode in ASCII, NUL padded, and in byte 19 the
   *   status (0 OK, 1 outside the coverage, 2 not a coordinate). The other bytes of a failed record are NUL.
   * @throws HexcodesError BAD_RESOLUTION; BAD_ARGUMENT for another kind of array, an odd length, an option of another
   *   name, an `out` that is too short or shares bytes with the positions; never for a position
   */
  encodeBatch(
    latLng: Float64Array,
    options: number | EncodeBatchOptions = DEFAULT_RESOLUTION,
    out?: Uint8Array,
    ...none: never[]
  ): Uint8Array {
    const resolution = resolutionOf(options, BATCH_OPTIONS, 'encodeBatch', none);
    requirePairs(latLng);
    const count = latLng.length / 2;
    const records = outputFor(out, Uint8Array, count * RECORD_BYTES, 'out', latLng);
    const { capacity, exports, input, output } = this.kernel;
    for (let from = 0; from < count; from += capacity) {
      const block = Math.min(capacity, count - from);
      input.set(latLng.subarray(2 * from, 2 * (from + block)));
      exports.encodeBatch(block, resolution);
      records.set(output.subarray(0, recordAt(block)), recordAt(from));
    }
    return records;
  }

  /**
   * The hexcodes of an answer of `encodeBatch` as strings.
   * @param records 20 bytes each, as `encodeBatch` returns them
   * @returns a canonical hexcode for each record, in their order; null where its status is not 0
   * @throws HexcodesError BAD_ARGUMENT for another kind of array, or a length that is not a multiple of 20
   */
  codes(records: Uint8Array): (string | null)[] {
    const count = requireRecords(records);
    const codes = new Array<string | null>(count);
    for (let n = 0; n < count; n++)
      codes[n] = records[recordStatusAt(n)] === OK ? recordText(records, recordAt(n)) : null;
    return codes;
  }

  /**
   * The positions of many hexcodes.
   * @param records 20 bytes each: a hexcode in ASCII, in any spelling, up to the first NUL; byte 19 is ignored
   * @param out for the answer, at least two numbers and two bytes a record; new arrays if absent
   * @returns the centres of the cells, in the beginnings of the arrays of `out`
   * @throws HexcodesError BAD_ARGUMENT for another kind of array, a length that is not a multiple of 20, an array of
   *   `out` that is too short or shares bytes with the records or another; never for a record
   */
  decodeBatch(records: Uint8Array, out?: DecodedBatch): DecodedBatch {
    const count = requireRecords(records);
    // Arrays under other names would silently be ignored.
    if (out !== undefined) {
      requireKind(out?.latLng, Float64Array, 'out.latLng');
      requireKnown(out, DECODED_ARRAYS, 'The out of decodeBatch');
    }
    const latLng = outputFor(out?.latLng, Float64Array, 2 * count, 'out.latLng', records);
    const resolution = outputFor(out?.resolution, Uint8Array, count, 'out.resolution', records, latLng);
    const answers = [records, latLng, resolution];
    const status = outputFor(out?.status, Uint8Array, count, 'out.status', ...answers);
    const { capacity, exports, inputBytes, output, outputFloats } = this.kernel;
    for (let from = 0; from < count; from += capacity) {
      const block = Math.min(capacity, count - from);
      inputBytes.set(records.subarray(recordAt(from), recordAt(from + block)));
      exports.decodeBatch(block);
      latLng.set(outputFloats.subarray(0, 2 * block), 2 * from);
      const resolutions = positionResolutionAt(block, 0);
      const statuses = positionStatusAt(block, 0);
      resolution.set(output.subarray(resolutions, statuses), from);
      status.set(output.subarray(statuses, statuses + block), from);
    }
    return { latLng, resolution, status };
  }

  /** The answer of `kernel.readText`. */
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

function requirePairs(latLng: Float64Array): void {
  requireKind(latLng, Float64Array, 'latLng');
  if (latLng.length % 2 !== 0)
    throw new HexcodesError('BAD_ARGUMENT', `Positions are pairs: ${latLng.length} numbers are odd`);
}

/** @returns the number of records */
function requireRecords(records: Uint8Array): number {
  requireKind(records, Uint8Array, 'records');
  if (records.length % RECORD_BYTES === 0) return records.length / RECORD_BYTES;
  throw new HexcodesError('BAD_ARGUMENT', `Records are 20 bytes each: ${records.length} bytes are not whole`);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Why a position has no code. */
function failure(kernel: Kernel, status: number, lat: unknown, lng: unknown): HexcodesError {
  if (typeof lat !== 'number' || typeof lng !== 'number')
    return new HexcodesError(
      'NOT_A_COORDINATE',
      `Not a position: lat and lng are numbers in degrees, not ${inWords(lat)} and ${inWords(lng)}`,
    );
  const hint = looksSwapped(kernel, lat, lng) ? SWAPPED_HINT : '';
  return status === OUTSIDE_COVERAGE
    ? new HexcodesError(
        'OUTSIDE_COVERAGE',
        `In no province of Viet Nam nor its sea: lat ${lat}, lng ${lng}${hint}`,
      )
    : new HexcodesError(
        'NOT_A_COORDINATE',
        `Not a position in degrees (lat -90 to 90, lng -180 to 180): lat ${lat}, lng ${lng}${hint}`,
      );
}
