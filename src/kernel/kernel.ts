// Loads the AssemblyScript module and owns the views of its memory: the only user of WebAssembly. The memory map
// is drawn in assembly/memory.ts, the calls are told in ARCHITECTURE.md.

import { HexcodesError } from '../errors.js';
import { INDEX_REFUSALS } from './index-file.js';
import { decodeReach } from './reach.js';

/**
 * The module's calls. Points are (f64 latDeg, f64 lngDeg), records 20 bytes, admin numbers places in table 2.4 from
 * 0; `count` is at most `Kernel.capacity`; statuses: 0 OK, 1 outside coverage, 2 not a coordinate, 3 invalid hexcode.
 */
export interface KernelExports {
  readonly memory: WebAssembly.Memory;
  readonly CAPACITY: WebAssembly.Global;
  readonly RECORD_BYTES: WebAssembly.Global;
  readonly INPUT: WebAssembly.Global;
  readonly OUTPUT: WebAssembly.Global;
  readonly TEXT_IN: WebAssembly.Global;
  readonly TEXT_IN_BYTES: WebAssembly.Global;
  readonly TEXT_OUT: WebAssembly.Global;
  readonly TEXT_OUT_BYTES: WebAssembly.Global;
  readonly REACH: WebAssembly.Global;
  readonly REACH_BYTES: WebAssembly.Global;
  readonly RESOLUTIONS: WebAssembly.Global;
  readonly INDEX: WebAssembly.Global;
  /** 0, or 1 if a mask has a bit beyond the 34 provinces. */
  useReach(): number;
  /** 0, or a place in INDEX_REFUSALS. */
  useIndex(sizeBytes: number): number;
  /** `input` → records in `output`; how many failed. Resolution EACH_ITS_OWN reads `resolutions`. */
  encodeBatch(count: number, resolution: number): number;
  /** `input` → u64 cell × count, u8 admin × count, u8 status × count in `output`; how many failed. */
  encodeCells(count: number, resolution: number): number;
  /** The same three with what they write to `output` at another address: in the area of TEXT_OUT, inside which it fits. */
  encodeBatchTo(count: number, resolution: number, address: number): number;
  encodeCellsTo(count: number, resolution: number, address: number): number;
  decodeBatchTo(count: number, address: number): number;
  /** One record at the start of `output`; the status. */
  encodeOne(latDeg: number, lngDeg: number, resolution: number): number;
  /** Records in `inputBytes` → (f64, f64) × count, u8 resolution × count, u8 status × count; how many failed. */
  decodeBatch(count: number): number;
  /** Units in `textInUnits` → f64 lat, f64 lng, u64 cell, u8 resolution, u8 admin; record at 32. The status. */
  readText(units: number): number;
  /** The H3 cell; 0 outside 5-25 N, 100-119 E. As a signed 64-bit number. */
  cellOf(latDeg: number, lngDeg: number, resolution: number): bigint;
  /** f64 lat, f64 lng in `output`; the status. */
  centerOf(cell: bigint): number;
  /** One record at the start of `output`; the status. */
  pack(cell: bigint, admin: number): number;
  /** Admin number, 255 outside. */
  regionOf(latDeg: number, lngDeg: number): number;
  /** Unit of the index (former province), 255 outside. */
  unitOf(latDeg: number, lngDeg: number): number;
}

/** Point statuses. */
export const OK = 0;
export const OUTSIDE_COVERAGE = 1;
export const NOT_A_COORDINATE = 2;
export const INVALID_HEXCODE = 3;

/** Bytes of a text record: canonical code in ASCII, NUL padded, byte 19 = point status. */
export const RECORD_BYTES = 20;
/** As a batch's resolution: each point its own, from `Kernel.resolutions`. */
export const EACH_ITS_OWN = 255;
/** No hexcode's text is longer, in UTF-16 units. */
export const MAX_TEXT_UNITS = 64;

const PAGE_BYTES = 65536;
/** The most that a boundary index may weigh. */
const MAX_INDEX_BYTES = 64 * 2 ** 20;

/** What a working kernel must export, besides its memory. */
const EXPORTS = [
  'useReach useIndex encodeBatch encodeBatchTo encodeCells encodeCellsTo encodeOne decodeBatch decodeBatchTo',
  'readText cellOf centerOf pack regionOf unitOf',
  'CAPACITY RECORD_BYTES INPUT OUTPUT TEXT_IN TEXT_IN_BYTES TEXT_OUT TEXT_OUT_BYTES REACH REACH_BYTES RESOLUTIONS INDEX',
].flatMap((line) => line.split(' '));

/**
 * One kernel with its index and reach in use, for embedding servers: fill a view, call an export, read a view. Nothing
 * grows after `create`, so the views stay attached. Not to be shared between threads; each thread makes its own.
 */
export class Kernel {
  readonly exports: KernelExports;
  /** Points or records per call. */
  readonly capacity: number;
  /** Points to encode: latDeg, lngDeg, latDeg, … */
  readonly input: Float64Array;
  /** The same bytes: records to decode. */
  readonly inputBytes: Uint8Array;
  /** One resolution a point, read by the batch calls when their resolution is EACH_ITS_OWN. */
  readonly resolutions: Uint8Array;
  /** What a call answers. */
  readonly output: Uint8Array;
  /** The same bytes as positions. */
  readonly outputFloats: Float64Array;
  /** The same bytes as H3 cells. */
  readonly outputCells: BigUint64Array;
  /** Bytes of text to be scanned. */
  readonly textIn: Uint8Array;
  /** The start of the same bytes: UTF-16 units of one text to be read. */
  readonly textInUnits: Uint16Array;
  /** Bytes of text that was written. */
  readonly textOut: Uint8Array<ArrayBuffer>;

  /**
   * Compiles a kernel without blocking: browsers limit what may be compiled at once.
   * @throws HexcodesError BAD_DATA if the bytes are no module
   */
  static async compile(bytes: BufferSource): Promise<WebAssembly.Module> {
    try {
      return await WebAssembly.compile(bytes);
    } catch (error) {
      throw unusable(error);
    }
  }

  /**
   * The compiled module of a source that may be compiled already; one module serves many threads.
   * @throws HexcodesError BAD_DATA if the bytes are no module
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
    const address = (global: WebAssembly.Global): number => global.value as number;
    this.exports = exports;
    this.capacity = address(exports.CAPACITY);

    requireBytes(reach, 'reach');
    requireBytes(index, 'boundary index');
    const masks = decodeReach(reach);
    new BigUint64Array(memory.buffer, address(exports.REACH), masks.length).set(masks);
    if (exports.useReach() !== 0)
      throw new HexcodesError('BAD_DATA', 'The reach cannot be used: a row names a province beyond the 34');

    if (index.length > MAX_INDEX_BYTES)
      throw new HexcodesError('BAD_DATA', 'The boundary index cannot be used: it is larger than 64 MiB');
    const missing = address(exports.INDEX) + index.length - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
    new Uint8Array(memory.buffer).set(index, address(exports.INDEX));
    const refusal = exports.useIndex(index.length);
    if (refusal !== 0) {
      const reason = INDEX_REFUSALS[refusal] ?? `refusal ${refusal}`;
      throw new HexcodesError('BAD_DATA', `The boundary index cannot be used: ${reason}`);
    }

    // useIndex may have grown the memory once more; from here on nothing does.
    const buffer = memory.buffer as ArrayBuffer;
    const blockBytes = this.capacity * RECORD_BYTES;
    const input = address(exports.INPUT);
    const output = address(exports.OUTPUT);
    const textIn = address(exports.TEXT_IN);
    this.input = new Float64Array(buffer, input, 2 * this.capacity);
    this.inputBytes = new Uint8Array(buffer, input, blockBytes);
    this.resolutions = new Uint8Array(buffer, address(exports.RESOLUTIONS), this.capacity);
    this.output = new Uint8Array(buffer, output, blockBytes);
    this.outputFloats = new Float64Array(buffer, output, 2 * this.capacity);
    this.outputCells = new BigUint64Array(buffer, output, this.capacity);
    this.textIn = new Uint8Array(buffer, textIn, address(exports.TEXT_IN_BYTES));
    this.textInUnits = new Uint16Array(buffer, textIn, MAX_TEXT_UNITS);
    this.textOut = new Uint8Array(buffer, address(exports.TEXT_OUT), address(exports.TEXT_OUT_BYTES));
  }

  /**
   * Reads one text of any length; its status. What it says stands in `output` as `exports.readText` puts it. A text of
   * over MAX_TEXT_UNITS units is invalid before any work.
   */
  readText(text: string): number {
    const { textInUnits } = this;
    const units = text.length;
    if (units > MAX_TEXT_UNITS) return this.exports.readText(MAX_TEXT_UNITS + 1);
    for (let i = 0; i < units; i++) textInUnits[i] = text.charCodeAt(i);
    return this.exports.readText(units);
  }

  /** The canonical text of the record at a byte of `output`. */
  textAt(offset: number): string {
    let text = '';
    for (let i = offset; i < offset + RECORD_BYTES - 1; i++) {
      const byte = this.output[i] as number;
      if (byte === 0) break;
      text += String.fromCharCode(byte);
    }
    return text;
  }
}

function instantiate(source: WebAssembly.Module | BufferSource): KernelExports {
  let exports: WebAssembly.Exports;
  try {
    const module = source instanceof WebAssembly.Module ? source : new WebAssembly.Module(source);
    exports = new WebAssembly.Instance(module).exports;
  } catch (error) {
    throw unusable(error);
  }
  const missing = ['memory', ...EXPORTS].find((name) => exports[name] === undefined);
  if (missing !== undefined)
    throw new HexcodesError('BAD_DATA', `The kernel cannot be used: it has no export ${missing}`);
  const kernel = exports as unknown as KernelExports;
  if (kernel.RECORD_BYTES.value !== RECORD_BYTES)
    throw new HexcodesError('BAD_DATA', 'The kernel cannot be used: it is of another build');
  return kernel;
}

function unusable(error: unknown): HexcodesError {
  const reason = error instanceof Error ? error.message : String(error);
  return new HexcodesError('BAD_DATA', `The kernel cannot be used: ${reason}`);
}

/** Of any realm. */
function requireBytes(given: unknown, name: string): void {
  if (Object.prototype.toString.call(given) !== '[object Uint8Array]')
    throw new HexcodesError('BAD_DATA', `The ${name} cannot be used: it is no Uint8Array`);
}
