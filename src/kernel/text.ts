// The kernel's text half: the calls of assembly/text and views of the memory that they share with their callers.
import type { Kernel } from './kernel.js';

/** Addresses are bytes of the kernel's memory. What each call does stands above it in assembly/text. */
export interface TextExports {
  readonly BLOCK: WebAssembly.Global;
  readonly ROWS: WebAssembly.Global;
  readonly HOST_ROWS: WebAssembly.Global;
  readonly TAILS: WebAssembly.Global;
  readonly STATUS_COUNTS: WebAssembly.Global;
  readonly hostRowCount: WebAssembly.Global;
  readonly csvEnd: WebAssembly.Global;
  readonly jsonEnd: WebAssembly.Global;
  readonly jsonState: WebAssembly.Global;
  readonly textEnd: WebAssembly.Global;
  readonly numberKind: WebAssembly.Global;
  readonly numberEnd: WebAssembly.Global;
  readonly numberIsPlain: WebAssembly.Global;
  useCsvColumns(columns: number, first: number, second: number, resolution: number, delimiter: number): void;
  scanCsv(at: number, end: number, limit: number, isDecode: boolean, resolution: number): number;
  scanNdjson(at: number, end: number, limit: number, isDecode: boolean, resolution: number): number;
  scanArray(
    at: number,
    end: number,
    limit: number,
    isDecode: boolean,
    resolution: number,
    mayClose: boolean,
  ): number;
  setTextEnd(at: number): void;
  writeEncodedCsv(
    from: number,
    to: number,
    flags: number,
    source: number,
    delimiter: number,
    feed: number,
    refusal: number,
  ): number;
  writeDecodedCsv(
    count: number,
    from: number,
    to: number,
    flags: number,
    source: number,
    delimiter: number,
    feed: number,
    refusal: number,
  ): number;
  writeEncodedJson(from: number, to: number, separator: number, refusal: number): number;
  writeDecodedJson(
    count: number,
    from: number,
    to: number,
    source: number,
    separator: number,
    refusal: number,
  ): number;
  readNumber(at: number, json: boolean): number;
  printNumber(value: number, at: number): number;
}

/** What a scan stopped at; anything else is no JSON. */
export const JSON_OPEN = 0;
export const JSON_CLOSED = 1;

/** Sources and CSV columns of the writers. */
export const FROM_CSV = 0;
export const FROM_JSON = 1;
export const FROM_FRAMES = 2;
export const WITH_ROW = 1;
export const WITH_ID = 2;
export const WITH_RESOLUTION = 4;

/** A row of the table that scanning leaves (assembly/text/rows.ts). */
const ROW_BYTES = 32;
const TAIL_BYTES = 256;
const TAIL_WORD = TAIL_BYTES - 32;

export class TextMemory {
  readonly exports: TextExports;
  /** Where block text starts, and how much of it there may be. */
  readonly blockAt: number;
  readonly blockBytes: number;
  readonly textOutAt: number;
  readonly textOutEnd: number;
  readonly block: Uint8Array;
  readonly textOut: Uint8Array;
  /** Numbers of the rows that the last scan left to the host. */
  readonly hostRows: Uint16Array;
  readonly statusCounts: Uint32Array;
  readonly #memory: Uint8Array;
  readonly #view: DataView;
  readonly #rowsAt: number;
  readonly #tailsAt: number;

  constructor(kernel: Kernel) {
    const exports = kernel.exports as unknown as TextExports;
    const { buffer } = kernel.exports.memory;
    const address = (global: WebAssembly.Global): number => global.value as number;
    this.exports = exports;
    this.blockAt = address(exports.BLOCK);
    // One vector behind the text stays readable, one byte writable.
    this.blockBytes =
      address(kernel.exports.TEXT_IN) + address(kernel.exports.TEXT_IN_BYTES) - this.blockAt - 64;
    this.block = new Uint8Array(buffer, this.blockAt, this.blockBytes);
    this.textOutAt = address(kernel.exports.TEXT_OUT);
    this.textOut = kernel.textOut;
    this.textOutEnd = this.textOutAt + this.textOut.length;
    this.hostRows = new Uint16Array(buffer, address(exports.HOST_ROWS), kernel.capacity);
    this.statusCounts = new Uint32Array(buffer, address(exports.STATUS_COUNTS), 6);
    this.#memory = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
    this.#rowsAt = address(exports.ROWS);
    this.#tailsAt = address(exports.TAILS);
  }

  get hostRowCount(): number {
    return this.exports.hostRowCount.value as number;
  }

  get textEnd(): number {
    return this.exports.textEnd.value as number;
  }

  /** The text of a row, without its line end: a view. */
  rowText(index: number): Uint8Array {
    const at = this.#rowsAt + index * ROW_BYTES;
    return this.#memory.subarray(this.#view.getUint32(at, true), this.#view.getUint32(at + 4, true));
  }

  /** The text of a row's code, as scanned: a view. */
  codeText(index: number): Uint8Array {
    const at = this.#rowsAt + index * ROW_BYTES;
    return this.#memory.subarray(this.#view.getUint32(at + 8, true), this.#view.getUint32(at + 12, true));
  }

  /** The texts of a row's coordinates: where they start; where they end is the number's grammar. */
  coordinateAt(index: number, place: 0 | 1): number {
    return this.#view.getUint32(this.#rowsAt + index * ROW_BYTES + 8 + 4 * place, true);
  }

  byteAt(address: number): number {
    return this.#memory[address] as number;
  }

  /** The resolution as understood, 255 if it was not. */
  resolutionOf(index: number): number {
    return this.#memory[this.#rowsAt + index * ROW_BYTES + 26] as number;
  }

  statusOf(index: number): number {
    return this.#memory[this.#rowsAt + index * ROW_BYTES + 27] as number;
  }

  setStatus(index: number, status: number): void {
    this.#memory[this.#rowsAt + index * ROW_BYTES + 27] = status;
  }

  /** Rows of which only INPUT knows: points and records that came in frames. */
  openRows(count: number, resolution: number): void {
    this.#memory.fill(0, this.#rowsAt, this.#rowsAt + count * ROW_BYTES);
    for (let i = 0; i < count; i++) this.#memory[this.#rowsAt + i * ROW_BYTES + 26] = resolution;
  }

  /** The end of every answer with this status: its bare word, and what JSON bodies end with, message included. */
  setTail(status: number, word: string, json: string): void {
    const at = this.#tailsAt + status * TAIL_BYTES;
    this.#setText(at, json, TAIL_WORD);
    this.#setText(at + TAIL_WORD, word, TAIL_BYTES - TAIL_WORD);
  }

  #setText(at: number, text: string, room: number): void {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > room - 4) throw new RangeError(`No room for a tail of ${bytes.length} bytes`);
    this.#view.setUint32(at, bytes.length, true);
    this.#memory.set(bytes, at + 4);
  }
}

const memories = new WeakMap<Kernel, TextMemory>();

export function textMemoryOf(kernel: Kernel): TextMemory {
  let memory = memories.get(kernel);
  if (memory === undefined) {
    memory = new TextMemory(kernel);
    memories.set(kernel, memory);
  }
  return memory;
}
