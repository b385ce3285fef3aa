// Loads the AssemblyScript module, puts index and reach into it, and owns the views of its memory. assembly/memory.ts
// draws that memory; docs/kernel-abi.md lists the calls.

import { ADMIN_UNITS, frozen } from '../admin-units.js';
import { HexcodesError } from '../errors.js';
import { exportsOf, type KernelExports, unusable } from './exports.js';
import {
  type Band,
  type Border,
  bandsOf,
  decodeReach,
  INDEX_REFUSALS,
  type IndexArc,
  type IndexMeta,
  NO_BORDER,
  readIndexArcs,
  readIndexMeta,
  shareAt,
} from './index-file.js';
import { recordAt, recordText } from './output-layout.js';

// The 63 provinces before July 2025, as units of a boundary index. The shipped index has them as its units; an index
// that users make of new boundaries has the 34 provinces alone.
/**
 * The names of the units in their order, as in `mergedUnits` of ADMIN_UNITS; null unless they are exactly the 63
 * provinces.
 */
function formerProvincesOf(index: Uint8Array): readonly string[] | null {
  let units: readonly { readonly name: string; readonly admin: number }[];
  try {
    units = readIndexMeta(index).units;
  } catch {
    return null;
  }
  const wanted = ADMIN_UNITS.flatMap(({ mergedUnits }, admin) =>
    mergedUnits.map((name) => `${admin} ${name}`),
  );
  const found = new Set(units.map(({ name, admin }) => `${admin} ${name}`));
  const areAll = units.length === wanted.length && wanted.every((each) => found.has(each));
  return areAll ? units.map(({ name }) => name) : null;
}

/** Point statuses. */
export const OK = 0;
export const OUTSIDE_COVERAGE = 1;
export const NOT_A_COORDINATE = 2;
export const INVALID_HEXCODE = 3;

/** Resolution of a batch whose points have their own, in `Kernel.resolutions`. */
export const EACH_ITS_OWN = 255;
/** Longer texts are not hexcodes, in UTF-16 units. */
export const MAX_TEXT_UNITS = 64;

const PAGE_BYTES = 65536;
/** Offset of the file size in a boundary index. */
const INDEX_SIZE_AT = 8;
/** Limit of the size of a boundary index. */
const MAX_INDEX_BYTES = 64 * 2 ** 20;

/**
 * One kernel with its index and reach in use, for embedding servers: fill a view, call an export, read a view. Nothing
 * grows after `create`, so the views stay attached. Not to be shared between threads; each thread makes its own.
 */
export class Kernel {
  readonly exports: KernelExports;
  /** Points or records per call. */
  readonly capacity: number;
  /** Points to encode: lat, lng, lat, … in degrees. */
  readonly input: Float64Array;
  /** The bytes of `input`: records to decode. */
  readonly inputBytes: Uint8Array;
  /** One resolution a point, read by the batch calls when their resolution is EACH_ITS_OWN. */
  readonly resolutions: Uint8Array;
  /** The answers of calls (output-layout.ts). */
  readonly output: Uint8Array;
  /** The bytes of `output` as positions. */
  readonly outputFloats: Float64Array;
  /** The bytes of `output` as H3 cells. */
  readonly outputCells: BigUint64Array;
  /** Bytes of text to be scanned. */
  readonly textIn: Uint8Array;
  /** The start of the same bytes: UTF-16 units of one text to be read. */
  readonly textInUnits: Uint16Array;
  /** Bytes of text that was written. */
  readonly textOut: ReturnType<typeof Uint8Array.of>;
  #formerProvinces: readonly string[] | null | undefined;
  #meta: IndexMeta | null | undefined;
  #bands: readonly Band[] | undefined;

  /**
   * Compiles a kernel without blocking: browsers limit what may be compiled at once.
   * @throws HexcodesError BAD_DATA if the bytes are not a module
   */
  static async compile(bytes: BufferSource): Promise<WebAssembly.Module> {
    try {
      return await WebAssembly.compile(bytes);
    } catch (error) {
      throw unusable(reasonOf(error));
    }
  }

  /**
   * The compiled module of a source that may already be compiled; one module serves many threads.
   * @throws HexcodesError BAD_DATA if the bytes are not a module
   */
  static async moduleOf(source: WebAssembly.Module | BufferSource): Promise<WebAssembly.Module> {
    return source instanceof WebAssembly.Module ? source : Kernel.compile(source);
  }

  /**
   * Makes a kernel.
   * @param source kernel.wasm of the same build, as bytes or compiled; one compiled module serves many threads
   * @param index data/index.bin, or another boundary index
   * @param reach data/reach.bin
   * @throws HexcodesError BAD_DATA that says which of the three cannot be used and why
   */
  static create(source: WebAssembly.Module | BufferSource, index: Uint8Array, reach: Uint8Array): Kernel {
    return new Kernel(instantiate(source), index, reach);
  }

  private constructor(exports: KernelExports, index: Uint8Array, reach: Uint8Array) {
    const { memory } = exports;
    this.exports = exports;
    this.capacity = exports.CAPACITY.value;

    requireBytes(reach, 'reach');
    requireBytes(index, 'boundary index');
    const masks = decodeReach(reach);
    new BigUint64Array(memory.buffer, exports.REACH.value, masks.length).set(masks);
    if (exports.useReach() !== 0)
      throw new HexcodesError('BAD_DATA', 'The reach cannot be used: a row names a province beyond the 34');

    if (index.length > MAX_INDEX_BYTES)
      throw new HexcodesError('BAD_DATA', 'The boundary index cannot be used: it is larger than 64 MiB');
    const missing = exports.INDEX.value + index.length - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
    new Uint8Array(memory.buffer).set(index, exports.INDEX.value);
    const refusal = exports.useIndex(index.length);
    if (refusal !== 0) {
      const reason = INDEX_REFUSALS[refusal] ?? `refusal ${refusal}`;
      throw new HexcodesError('BAD_DATA', `The boundary index cannot be used: ${reason}`);
    }

    // useIndex may have grown the memory; it does not grow again.
    const buffer = memory.buffer as ArrayBuffer;
    const blockBytes = recordAt(this.capacity);
    const input = exports.INPUT.value;
    const output = exports.OUTPUT.value;
    const textIn = exports.TEXT_IN.value;
    this.input = new Float64Array(buffer, input, 2 * this.capacity);
    this.inputBytes = new Uint8Array(buffer, input, blockBytes);
    this.resolutions = new Uint8Array(buffer, exports.RESOLUTIONS.value, this.capacity);
    this.output = new Uint8Array(buffer, output, blockBytes);
    this.outputFloats = new Float64Array(buffer, output, 2 * this.capacity);
    this.outputCells = new BigUint64Array(buffer, output, this.capacity);
    this.textIn = new Uint8Array(buffer, textIn, exports.TEXT_IN_BYTES.value);
    this.textInUnits = new Uint16Array(buffer, textIn, MAX_TEXT_UNITS);
    this.textOut = new Uint8Array(buffer, exports.TEXT_OUT.value, exports.TEXT_OUT_BYTES.value);
  }

  /**
   * Reads one text of any length and returns its status. The answer is in `output`, at the offsets READ_… of
   * output-layout.ts. A text longer than MAX_TEXT_UNITS is rejected without reading.
   */
  readText(text: string): number {
    const { textInUnits } = this;
    const units = text.length;
    if (units > MAX_TEXT_UNITS) return this.exports.readText(MAX_TEXT_UNITS + 1);
    for (let i = 0; i < units; i++) textInUnits[i] = text.charCodeAt(i);
    return this.exports.readText(units);
  }

  /**
   * The names of the provinces before July 2025, by unit of the index (`exports.unitOf`); null where the index has
   * other units, such as one made of new boundaries.
   */
  get formerProvinces(): readonly string[] | null {
    if (this.#formerProvinces === undefined) {
      this.#formerProvinces = frozen(formerProvincesOf(this.#index()));
    }
    return this.#formerProvinces;
  }

  /** The measured shares of right provinces by distance to a border; none where the index has none. */
  get bands(): readonly Band[] {
    this.#bands ??= frozen(bandsOf(this.meta?.bands));
    return this.#bands;
  }

  /** The description in the index; null where it is damaged. */
  get meta(): IndexMeta | null {
    if (this.#meta === undefined) {
      try {
        this.#meta = frozen(readIndexMeta(this.#index()));
      } catch {
        this.#meta = null;
      }
    }
    return this.#meta;
  }

  /** Every arc of the index, read from the memory by each call; none where the index is damaged. */
  get arcs(): readonly IndexArc[] {
    try {
      return readIndexArcs(this.#index());
    } catch {
      return [];
    }
  }

  /** How sure the province of a position in degrees is. */
  borderAt(lat: number, lng: number): Border {
    const metres = this.exports.borderOf(lat, lng);
    return { borderM: metres === NO_BORDER ? null : metres, certainty: shareAt(this.bands, metres) };
  }

  /** The index file in the kernel's memory. */
  #index(): Uint8Array {
    const index = this.exports.INDEX.value;
    const memory = new Uint8Array(this.output.buffer);
    const sizeBytes = new DataView(memory.buffer).getUint32(index + INDEX_SIZE_AT, true);
    return memory.subarray(index, index + sizeBytes);
  }

  /** The canonical text of the record at a byte offset of `output`. */
  textAt(offset: number): string {
    return recordText(this.output, offset);
  }
}

function instantiate(source: WebAssembly.Module | BufferSource): KernelExports {
  try {
    return exportsOf(source instanceof WebAssembly.Module ? source : new WebAssembly.Module(source));
  } catch (error) {
    throw error instanceof HexcodesError ? error : unusable(reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Uint8Arrays of other realms (a frame, a vm context) are accepted, too. */
function requireBytes(given: unknown, name: string): void {
  if (Object.prototype.toString.call(given) !== '[object Uint8Array]')
    throw new HexcodesError('BAD_DATA', `The ${name} cannot be used: it is not a Uint8Array`);
}
