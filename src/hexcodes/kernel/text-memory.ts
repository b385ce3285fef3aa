// The text half of the kernel for the host: views of block text and answers, and the fields of scanned rows
// (assembly/text/row.ts) that the host reads or sets.
import { ADMIN_UNITS } from '../admin-units.js';
import { EXTRAS } from '../extras.js';
import { type KernelExports, ROW_BYTES, TAIL_BYTES } from './exports.js';
import type { Band } from './index-file.js';
import type { Kernel } from './kernel.js';

/** Values of jsonState: why a scan of an array stopped. Any other value means invalid JSON. */
export const JSON_OPEN = 0;
export const JSON_CLOSED = 1;

/** Sources: the kind of input from which a writer copies texts. */
export const FROM_CSV = 0;
export const FROM_JSON = 1;
export const FROM_FRAMES = 2;
/** Lines of NDJSON that are copied with members added. */
export const FROM_LINES = 3;
/** Rows of CSV of which some fields are written, as noted by the last scan. */
export const FROM_FIELDS = 4;
/**
 * Columns of CSV answers; WITH_ROW is the input row itself, WITH_FORMER and WITH_CERTAINTY are members of JSON bodies
 * too.
 */
export const WITH_ROW = 1;
export const WITH_ID = 2;
export const WITH_RESOLUTION = 4;
export const WITH_FORMER = EXTRAS.former.bit;
export const WITH_CERTAINTY = EXTRAS.certainty.bit;

/** Values that writeRows writes between the texts of its pieces. */
export const VALUE = {
  code: 1,
  admin: 2,
  former: 3,
  metres: 4,
  /** The share, which follows the metres. */
  share: 5,
  resolution: 6,
  status: 7,
  /** The row's own line end. */
  lineEnd: 8,
  id: 9,
  lat: 10,
  lng: 11,
  /** The position of a decode answer. */
  centreLat: 13,
  centreLng: 14,
} as const;

/** A text, one of VALUE, or a field. */
export type Piece = string | number;

const FIELD = 12;
const FIRST_FIELD = 256;
/** A field of the row, by its column from 0. */
export const fieldPiece = (column: number): Piece => FIRST_FIELD + column;

/** Bytes of a list, and of a piece before its text. */
const PIECE_LIST_BYTES = 2048;
const PIECE_BYTES = 16;

function pieceList(pieces: readonly Piece[], absent: '' | 'null'): Uint8Array | null {
  const list = new Uint8Array(PIECE_LIST_BYTES);
  const view = new DataView(list.buffer);
  let at = 0;
  let text = '';
  // The last piece has the kind 0.
  for (const piece of [...pieces, 0]) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const bytes = new TextEncoder().encode(text);
    const next = at + PIECE_BYTES + PIECE_BYTES * Math.ceil(bytes.length / PIECE_BYTES);
    if (next > PIECE_LIST_BYTES) return null;
    list[at] = piece < FIRST_FIELD ? piece : FIELD;
    list[at + 1] = absent.length;
    view.setUint16(at + 2, Math.max(0, piece - FIRST_FIELD), true);
    view.setUint32(at + 4, bytes.length, true);
    list.set(bytes, at + PIECE_BYTES);
    at = next;
    text = '';
  }
  return list;
}

/**
 * Lists of texts and values that writeRows writes after rows, for `usePieces`.
 * @param ok after a row that is OK
 * @param failed after any other row
 * @param absent in place of a missing value
 * @returns null where the lists are too long
 */
export function pieceLists(
  ok: readonly Piece[],
  failed: readonly Piece[],
  absent: '' | 'null',
): Uint8Array | null {
  const lists = [pieceList(ok, absent), pieceList(failed, absent)];
  const both = new Uint8Array(2 * PIECE_LIST_BYTES);
  for (const [n, list] of lists.entries()) {
    if (list === null) return null;
    both.set(list, n * PIECE_LIST_BYTES);
  }
  return both;
}

/** Offsets of fields in a row. */
const AT_END = 4;
const AT_FIRST = 8;
const AT_SECOND = 12;
const AT_RESOLUTION = 26;
const AT_STATUS = 27;
const AT_FLAGS = 28;
const LEFT_TO_HOST = 8;
const FIELDS_LEFT = 32;

/** Offset in a tail of the bare status word. */
const AT_WORD = TAIL_BYTES - 32;
const ROW_STATUSES = 6;

export class TextMemory {
  readonly exports: KernelExports;
  /** The address of block text, and its capacity in bytes. */
  readonly blockAt: number;
  readonly blockBytes: number;
  readonly textOutAt: number;
  readonly block: Uint8Array;
  readonly textOut: Uint8Array;
  /** Numbers of the rows that the last scan left to the host. */
  readonly hostRows: Uint16Array;
  /** Rows written since the host cleared them, by row status. */
  readonly statusCounts: Uint32Array;
  /** Rows that countEncoded and countDecoded have counted since the host cleared them, by admin number. */
  readonly adminCounts: Uint32Array;
  readonly #memory: Uint8Array;
  readonly #view: DataView;
  readonly #rowsAt: number;
  readonly #tailsAt: number;
  #pieces: Uint8Array | null = null;

  constructor(kernel: Kernel) {
    const { exports } = kernel;
    const { buffer } = exports.memory;
    this.exports = exports;
    this.blockAt = exports.BLOCK_TEXT.value;
    // The scans read up to one vector after the text, and write one byte.
    this.blockBytes = exports.TEXT_IN.value + exports.TEXT_IN_BYTES.value - this.blockAt - 64;
    this.block = new Uint8Array(buffer, this.blockAt, this.blockBytes);
    this.textOutAt = exports.TEXT_OUT.value;
    this.textOut = kernel.textOut;
    this.hostRows = new Uint16Array(buffer, exports.HOST_ROWS.value, kernel.capacity);
    this.statusCounts = new Uint32Array(buffer, exports.STATUS_COUNTS.value, ROW_STATUSES);
    this.adminCounts = new Uint32Array(buffer, exports.ADMIN_COUNTS.value, ADMIN_UNITS.length);
    this.#memory = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
    this.#rowsAt = exports.ROWS.value;
    this.#tailsAt = exports.TAILS.value;
  }

  get hostRowCount(): number {
    return this.exports.hostRowCount.value;
  }

  get textEnd(): number {
    return this.exports.textEnd.value;
  }

  /** The text of a row, without its line end: a view. */
  rowText(index: number): Uint8Array {
    const at = this.#rowsAt + index * ROW_BYTES;
    return this.#memory.subarray(this.#view.getUint32(at, true), this.#view.getUint32(at + AT_END, true));
  }

  rowSizeBytes(index: number): number {
    const at = this.#rowsAt + index * ROW_BYTES;
    return this.#view.getUint32(at + AT_END, true) - this.#view.getUint32(at, true);
  }

  /** Whether the scan has left the row to the host. */
  isLeftToHost(index: number): boolean {
    return (this.#memory[this.#rowsAt + index * ROW_BYTES + AT_FLAGS]! & LEFT_TO_HOST) !== 0;
  }

  /** Where a row starts and ends in the block, without its line end. */
  rowBounds(index: number): readonly [start: number, end: number] {
    const at = this.#rowsAt + index * ROW_BYTES;
    const start = this.#view.getUint32(at, true) - this.blockAt;
    return [start, this.#view.getUint32(at + AT_END, true) - this.blockAt];
  }

  /** Where the answer to a failed row starts and ends, once a CSV writer has written it: addresses in TEXT_OUT. */
  answerBounds(index: number): readonly [start: number, end: number] {
    const at = this.#rowsAt + index * ROW_BYTES;
    return [this.#view.getUint32(at + AT_FIRST, true), this.#view.getUint32(at + AT_SECOND, true)];
  }

  /** The text of a row's code, as scanned: a view. */
  codeText(index: number): Uint8Array {
    const at = this.#rowsAt + index * ROW_BYTES;
    return this.#memory.subarray(
      this.#view.getUint32(at + AT_FIRST, true),
      this.#view.getUint32(at + AT_SECOND, true),
    );
  }

  /** The address of a coordinate's text (0 lat, 1 lng). Its end is not stored: the grammar of numbers gives it. */
  coordinateAt(index: number, axis: 0 | 1): number {
    return this.#view.getUint32(this.#rowsAt + index * ROW_BYTES + AT_FIRST + 4 * axis, true);
  }

  /** Whether a quote, and perhaps blanks after it, precede an address in a row. */
  isQuoted(index: number, at: number): boolean {
    const start = this.#view.getUint32(this.#rowsAt + index * ROW_BYTES, true);
    const before = Buffer.from(this.#memory.buffer, start, at - start).toString('latin1');
    return /"(?: |\t|\u00c2\u00a0)*$/.test(before);
  }

  byteAt(address: number): number {
    return this.#memory[address]!;
  }

  /** The resolution of a row, 255 if it was not understood. */
  resolutionOf(index: number): number {
    return this.#memory[this.#rowsAt + index * ROW_BYTES + AT_RESOLUTION]!;
  }

  /** The status of a row from the scan, or from its answer where a CSV writer has answered a failed row. */
  statusOf(index: number): number {
    return this.#memory[this.#rowsAt + index * ROW_BYTES + AT_STATUS]!;
  }

  /** The first row from `from` on, before `to`, whose status is not OK; `to` where there is none. */
  nextFailed(from: number, to: number): number {
    const memory = this.#memory;
    const end = this.#rowsAt + to * ROW_BYTES + AT_STATUS;
    for (let at = this.#rowsAt + from * ROW_BYTES + AT_STATUS; at < end; at += ROW_BYTES)
      if (memory[at] !== 0) return (at - this.#rowsAt - AT_STATUS) / ROW_BYTES;
    return to;
  }

  /** The first row from `from` on, before `to`, that the scan has rejected or left in any way; else `to`. */
  nextLeft(from: number, to: number): number {
    const memory = this.#memory;
    const start = this.#rowsAt + AT_STATUS;
    const mask = LEFT_TO_HOST | FIELDS_LEFT;
    for (let row = from, at = start + from * ROW_BYTES; row < to; row++, at += ROW_BYTES)
      if ((memory[at]! | (memory[at + AT_FLAGS - AT_STATUS]! & mask)) !== 0) return row;
    return to;
  }

  /** Whether the bounds of a row's fields were not all noted. */
  hasLeftFields(index: number): boolean {
    return (this.#memory[this.#rowsAt + index * ROW_BYTES + AT_FLAGS]! & FIELDS_LEFT) !== 0;
  }

  /** Makes the host write a row that it has read, with the status of its record. */
  leaveToHost(index: number): void {
    const at = this.#rowsAt + index * ROW_BYTES;
    this.#memory[at + AT_STATUS] = 0;
    this.#memory[at + AT_FLAGS]! |= LEFT_TO_HOST;
  }

  setStatus(index: number, status: number): void {
    this.#memory[this.#rowsAt + index * ROW_BYTES + AT_STATUS] = status;
  }

  /** Makes rows without texts, for points and records from frames, which are only in INPUT. */
  openRows(count: number, resolution: number): void {
    this.#memory.fill(0, this.#rowsAt, this.#rowsAt + count * ROW_BYTES);
    for (let i = 0; i < count; i++) this.#memory[this.#rowsAt + i * ROW_BYTES + AT_RESOLUTION] = resolution;
  }

  /** Sets the end of every answer with a status: the word in CSV, and the last members of JSON bodies. */
  setTail(status: number, word: string, json: string): void {
    const at = this.#tailsAt + status * TAIL_BYTES;
    this.#setText(at, json, AT_WORD);
    this.#setText(at + AT_WORD, word, TAIL_BYTES - AT_WORD);
  }

  /** Sets the names of the units, which answers with WITH_FORMER carry. */
  setUnitNames(names: readonly string[]): void {
    const { UNIT_NAMES, UNIT_NAME_BYTES } = this.exports;
    for (const [unit, name] of names.entries()) {
      const at = UNIT_NAMES.value + unit * UNIT_NAME_BYTES.value;
      const bytes = new TextEncoder().encode(name);
      if (bytes.length >= UNIT_NAME_BYTES.value)
        throw new RangeError(`No space for a name of ${bytes.length} bytes`);
      this.#memory[at] = bytes.length;
      this.#memory.set(bytes, at + 1);
    }
  }

  /** Sets what answers with WITH_CERTAINTY give for each distance; without bands it is unknown. */
  setBands(bands: readonly Band[]): void {
    const { BANDS, BAND_BYTES, BAND_COUNT } = this.exports;
    if (bands.length > BAND_COUNT.value) throw new RangeError(`No space for ${bands.length} bands`);
    const unknown = [{ belowM: Number.POSITIVE_INFINITY, share: null }];
    for (const [n, { belowM, share }] of (bands.length > 0 ? bands : unknown).entries()) {
      const at = BANDS.value + n * BAND_BYTES.value;
      const text = new TextEncoder().encode(share === null ? '' : String(share));
      if (text.length >= BAND_BYTES.value - 5) throw new RangeError(`No space for the share ${share}`);
      this.#view.setUint32(at, Math.min(belowM, 0xffff_ffff), true);
      this.#memory[at + 4] = text.length;
      this.#memory.set(text, at + 5);
    }
  }

  /** Sets the lists of `pieceLists` that writeRows writes. */
  usePieces(lists: Uint8Array): void {
    if (this.#pieces === lists) return;
    this.#memory.set(lists, this.exports.PIECES.value);
    this.#pieces = lists;
  }

  /** Sets the names that lines with added members must not have, in JSON with their quotes. */
  setLineNames(names: readonly string[]): void {
    const { LINE_NAMES, LINE_NAME_COUNT } = this.exports;
    if (names.length > LINE_NAME_COUNT.value) throw new RangeError(`No space for ${names.length} names`);
    this.#memory.fill(0, LINE_NAMES.value, LINE_NAMES.value + 16 * LINE_NAME_COUNT.value);
    for (const [n, name] of names.entries()) {
      const bytes = new TextEncoder().encode(name).subarray(1, 9);
      const at = LINE_NAMES.value + 16 * n;
      this.#memory.set(bytes, at);
      this.#memory.fill(255, at + 8, at + 8 + bytes.length);
    }
  }

  #setText(at: number, text: string, limitBytes: number): void {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > limitBytes - 4) throw new RangeError(`No room for a tail of ${bytes.length} bytes`);
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
