// The binary frames of the stream from the client's side: builds requests, reads answers. hexcodes/wire/limits.ts
// draws the layout, docs/stream.md defines it to the byte. Typed arrays are little-endian as the frames are, so points
// are copied.

import { ADMIN_UNITS } from '../../admin-units.js';
import {
  CELL_ANSWER_BYTES,
  cellAdminAt,
  cellAt,
  cellStatusAt,
  FRAME_CELLS,
  FRAME_DECODE,
  FRAME_ENCODE,
  FRAME_HEADER_BYTES,
  FRAME_TEXT,
  FRAME_VERSION,
  NO_RESOLUTION,
  POINT_BYTES,
  POSITION_ANSWER_BYTES,
  positionAt,
  positionResolutionAt,
  positionStatusAt,
  RECORD_BYTES,
  RECORD_TEXT_BYTES,
  recordAt,
  recordStatusAt,
} from '../../wire/limits.js';
import { isTransferred, shown } from '../../wire/params/names.js';
import { HexcodesClientError } from '../errors.js';

// Checks chunks before they are written to a stream: a chunk that would be misread, such as a text iterated letter by
// letter, is rejected at once.

/** Iterates over a stream, once. A loop that ends early cancels the stream, and so its request. */
export async function* loopOver<T>(stream: ReadableStream<T>): AsyncGenerator<T, void, undefined> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}

/** Letters of a text that are read: no answer of the service has as many, and a peer may send without end. */
const MAX_TEXT = 67_108_864;

/** The text of an answer, at most MAX_TEXT letters and those of one chunk more. */
export async function textIn(answer: Response): Promise<string> {
  if (!answer.body) return answer.text();
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of loopOver(answer.body)) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > MAX_TEXT) return text;
  }
  return text + decoder.decode();
}

type StreamOperation = 'encode' | 'decode';

/** @throws HexcodesClientError BAD_ARGUMENT for any other word */
export function requireOperation(given: unknown): asserts given is StreamOperation {
  if (given === 'encode' || given === 'decode') return;
  throw refused(`operation is 'encode' or 'decode', not ${shown(given)}`);
}

/**
 * Rejects a source that gives no chunks. Arrays are checked as a whole, other iterables as they are written.
 * @throws HexcodesClientError BAD_ARGUMENT
 */
export function requireSource(source: unknown, operation: StreamOperation): void {
  if (source === undefined) return;
  const isIterable =
    typeof source === 'object' &&
    source !== null &&
    !ArrayBuffer.isView(source) &&
    (Symbol.iterator in source || Symbol.asyncIterator in source);
  if (!isIterable) throw refused(`source is an iterable of chunks; ${CHUNK_OF[operation]}`);
  if (!Array.isArray(source)) return;
  for (const chunk of source) {
    if (operation === 'encode') requirePairs(chunk);
    else requireHexcodes(chunk);
  }
}

const CHUNK_OF: Record<StreamOperation, string> = {
  encode: 'a chunk is a Float64Array of (lat, lng) pairs',
  decode: `a chunk is an array of hexcodes, or a Uint8Array of ${RECORD_BYTES}-byte records`,
};

/** @throws HexcodesClientError BAD_ARGUMENT */
export function requirePairs(chunk: unknown): asserts chunk is Float64Array {
  if (!(chunk instanceof Float64Array) || isTransferred(chunk)) throw refused(CHUNK_OF.encode);
  if (chunk.length % 2 !== 0) throw refused(`${CHUNK_OF.encode}: ${chunk.length} numbers are odd`);
}

/** @throws HexcodesClientError BAD_ARGUMENT */
function requireHexcodes(chunk: unknown): asserts chunk is readonly unknown[] | Uint8Array {
  if (Array.isArray(chunk)) return;
  if (!(chunk instanceof Uint8Array) || isTransferred(chunk)) throw refused(CHUNK_OF.decode);
  if (chunk.length % RECORD_BYTES !== 0)
    throw refused(`${CHUNK_OF.decode}: ${chunk.length} bytes are not whole records`);
}

function refused(message: string): HexcodesClientError {
  return new HexcodesClientError('BAD_ARGUMENT', message);
}

// Hexcodes as the 20-byte records of binary frames. Records are ASCII, so other letters are folded as every reader
// folds them (docs/code-format.md, Read, steps 1 to 3); whether the result is a hexcode is left to the service.
/** Longer texts are not hexcodes, in UTF-16 units. */
const MAX_TEXT_UNITS = 64;
/** Record of a text that is not a code and cannot be sent as it is. */
const NO_HEXCODE = '!';

const FULL_WIDTH = /[\uff01-\uff5e]/g;
const SEPARATORS = /[\u00a0\u00ad\u2000-\u2015\u202f\u205f\u2060\u2212\u3000\ufeff]/g;
const LETTERS_D = /[\u00d0\u00f0\u0110\u0111]/g;
const LETTERS_WITH_MARKS = /[\u00c0-\u1ef9]/g;
const MARKS = /[\u0300-\u036f]+/g;

/**
 * Writes one item of a decode chunk as a record. Anything that is not text or cannot be a hexcode becomes an invalid
 * record, so that the item has an answer.
 */
function writeHexcode(frame: Uint8Array, offset: number, hexcode: unknown): void {
  const text = recordTextOf(hexcode);
  for (let i = 0; i < text.length; i++) frame[offset + i] = text.charCodeAt(i);
}

function recordTextOf(hexcode: unknown): string {
  if (typeof hexcode !== 'string' || hexcode.length > MAX_TEXT_UNITS) return NO_HEXCODE;
  const text = isAscii(hexcode) ? hexcode : folded(hexcode);
  if (text.includes('\0') || !isAscii(text)) return NO_HEXCODE;
  if (text.length <= RECORD_TEXT_BYTES) return text;
  // Separators after the first one have no meaning; without them every hexcode fits.
  const begun = text.replace(/^[-._\s]+/, '');
  const separator = begun.search(/[-._\s]/);
  const short =
    separator < 0 ? begun : `${begun.slice(0, separator)}-${begun.slice(separator).replace(/[-._\s]+/g, '')}`;
  return short.length <= RECORD_TEXT_BYTES ? short : NO_HEXCODE;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x80) return false;
  return true;
}

function folded(text: string): string {
  return text
    .replace(FULL_WIDTH, (unit) => String.fromCharCode(unit.charCodeAt(0) - 0xfee0))
    .replace(SEPARATORS, '-')
    .replace(LETTERS_D, 'D')
    .replace(LETTERS_WITH_MARKS, letterOf)
    .replace(MARKS, '');
}

/** The ASCII letter of a letter with marks; any other unit as it is. */
function letterOf(unit: string): string {
  const [letter = '', ...marks] = unit.normalize('NFD');
  return /^[A-Za-z]$/.test(letter) && marks.every((mark) => /^[\u0300-\u036f]$/.test(mark)) ? letter : unit;
}

/** The status of one point, in the order of its numbers on the wire. */
export type PointStatus = 'OK' | 'OUTSIDE_COVERAGE' | 'NOT_A_COORDINATE' | 'INVALID_HEXCODES';
const POINT_STATUSES: readonly PointStatus[] = [
  'OK',
  'OUTSIDE_COVERAGE',
  'NOT_A_COORDINATE',
  'INVALID_HEXCODES',
];

/** Bytes over an ArrayBuffer, in a type that TypeScript before 5.7 knows, too. */
export type Bytes = ReturnType<typeof Uint8Array.of>;

export interface RequestFrame {
  readonly frame: Bytes;
  readonly points: number;
}

/** Request frames of at most `maxPoints` points each, made as they are requested. */
export function* framesOfPairs(
  pairs: Float64Array,
  maxPoints: number,
  resolution: number,
  cells: boolean,
): Generator<RequestFrame> {
  requirePairs(pairs);
  for (let first = 0; first * 2 < pairs.length; first += maxPoints) {
    const points = Math.min(maxPoints, pairs.length / 2 - first);
    yield { frame: encodeRequest(pairs, first, points, resolution, cells), points };
  }
}

/** Frames of hexcodes, or of 20-byte records of them. */
export function* framesOfHexcodes(
  hexcodes: readonly string[] | Uint8Array,
  maxPoints: number,
): Generator<RequestFrame> {
  requireHexcodes(hexcodes);
  const records = hexcodes instanceof Uint8Array ? hexcodes : undefined;
  const count = records === undefined ? hexcodes.length : records.length / RECORD_BYTES;
  for (let first = 0; first < count; first += maxPoints) {
    const points = Math.min(maxPoints, count - first);
    const frame =
      records === undefined
        ? decodeRequest(hexcodes as readonly string[], first, points)
        : decodeRecordsRequest(records, first, points);
    yield { frame, points };
  }
}

/** An encode request of `count` pairs (lat, lng) from pair `first` on. Its seq is 0 until `setSeq`. */
export function encodeRequest(
  pairs: Float64Array,
  first: number,
  count: number,
  resolution: number,
  cells: boolean,
): Bytes {
  const frame = requestFrame(
    FRAME_ENCODE,
    resolution,
    cells ? FRAME_CELLS : FRAME_TEXT,
    count,
    count * POINT_BYTES,
  );
  new Float64Array(frame.buffer, FRAME_HEADER_BYTES, count * 2).set(
    pairs.subarray(first * 2, (first + count) * 2),
  );
  return frame;
}

/** A decode request of `count` hexcodes from number `first` on. */
export function decodeRequest(hexcodes: readonly string[], first: number, count: number): Bytes {
  const frame = requestFrame(FRAME_DECODE, 0, 0, count, recordAt(count));
  for (let i = 0; i < count; i++) writeHexcode(frame, FRAME_HEADER_BYTES + recordAt(i), hexcodes[first + i]!);
  return frame;
}

/** A request of the 20-byte records that an encode answer holds. */
function decodeRecordsRequest(records: Uint8Array, first: number, count: number): Bytes {
  const frame = requestFrame(FRAME_DECODE, 0, 0, count, recordAt(count));
  frame.set(records.subarray(recordAt(first), recordAt(first + count)), FRAME_HEADER_BYTES);
  return frame;
}

function requestFrame(
  operation: number,
  resolution: number,
  output: number,
  count: number,
  bodyBytes: number,
): Bytes {
  const frame = new Uint8Array(FRAME_HEADER_BYTES + bodyBytes);
  frame[0] = FRAME_VERSION;
  frame[1] = operation;
  frame[2] = resolution;
  frame[3] = output;
  new DataView(frame.buffer).setUint32(8, count, true);
  return frame;
}

export function setSeq(frame: Uint8Array, seq: number): void {
  new DataView(frame.buffer, frame.byteOffset).setUint32(4, seq, true);
}

interface AnswerHeader {
  readonly operation: number;
  readonly frameStatus: number;
  readonly output: number;
  readonly seq: number;
  readonly count: number;
  readonly failed: number;
}

/**
 * Reads the header of an answer and checks the answer's size against it.
 * @throws HexcodesClientError PROTOCOL where they disagree
 */
export function readAnswer(bytes: Uint8Array): AnswerHeader {
  if (bytes.length < FRAME_HEADER_BYTES || bytes[0] !== FRAME_VERSION) {
    throw new HexcodesClientError(
      'PROTOCOL',
      'the stream answered with something that is not an answer frame',
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const header = {
    operation: bytes[1]!,
    frameStatus: bytes[2]!,
    output: bytes[3]!,
    seq: view.getUint32(4, true),
    count: view.getUint32(8, true),
    failed: view.getUint32(12, true),
  };
  const recordBytes =
    header.operation === FRAME_DECODE
      ? POSITION_ANSWER_BYTES
      : header.output === FRAME_CELLS
        ? CELL_ANSWER_BYTES
        : RECORD_BYTES;
  if (bytes.length !== FRAME_HEADER_BYTES + header.count * recordBytes) {
    throw new HexcodesClientError('PROTOCOL', 'an answer frame has not the size its header names');
  }
  return header;
}

/** The answers of one request frame, in its order. `firstIndex` counts all points of the stream from 0. */
abstract class Answers {
  constructor(
    protected readonly bytes: Uint8Array,
    readonly firstIndex: number,
    readonly count: number,
    /** How many of them have a status other than OK. */
    readonly failed: number,
  ) {}
  protected abstract statusOffset(index: number): number;

  /** The status of point `index` of this frame. */
  status(index: number): PointStatus {
    if (!(index >= 0 && index < this.count)) throw new RangeError(`index ${index} of ${this.count} points`);
    return POINT_STATUSES[this.bytes[this.statusOffset(index)]!]!;
  }
  protected get view(): DataView {
    return new DataView(this.bytes.buffer, this.bytes.byteOffset + FRAME_HEADER_BYTES);
  }
}

/** Hexcodes, the answer of encode with output 'text'. */
export class EncodedTexts extends Answers {
  protected statusOffset(index: number): number {
    return FRAME_HEADER_BYTES + recordStatusAt(index);
  }
  /** The canonical code, or null for a failed point. */
  hexcode(index: number): string | null {
    if (this.status(index) !== 'OK') return null;
    const start = FRAME_HEADER_BYTES + recordAt(index);
    let text = '';
    for (let i = start; this.bytes[i] !== 0 && i < start + RECORD_TEXT_BYTES; i++) {
      text += String.fromCharCode(this.bytes[i]!);
    }
    return text;
  }
  /** Every code of the frame. */
  hexcodes(): (string | null)[] {
    return Array.from({ length: this.count }, (_, i) => this.hexcode(i));
  }
  /** The raw records, 20 bytes each: canonical code in ASCII, NUL padded, byte 19 = status. */
  get records(): Uint8Array {
    return this.bytes.subarray(FRAME_HEADER_BYTES);
  }
}

/** H3 cells and provinces, the answer of encode with output 'cells'. */
export class EncodedCells extends Answers {
  protected statusOffset(index: number): number {
    return FRAME_HEADER_BYTES + cellStatusAt(this.count, index);
  }
  /** The H3 index, 0n for a failed point. */
  cell(index: number): bigint {
    return this.view.getBigUint64(cellAt(index), true);
  }
  /** The admin code of the point, or null for a failed point. */
  adminCode(index: number): string | null {
    return ADMIN_UNITS[this.bytes[FRAME_HEADER_BYTES + cellAdminAt(this.count, index)]!]?.code ?? null;
  }
}

/** Positions, the answer of decode. */
export class DecodedPositions extends Answers {
  protected statusOffset(index: number): number {
    return FRAME_HEADER_BYTES + positionStatusAt(this.count, index);
  }
  /** Latitude of the cell's centre, degrees; NaN for an invalid hexcode. */
  lat(index: number): number {
    return this.view.getFloat64(positionAt(index), true);
  }
  /** Longitude of the cell's centre, degrees; NaN for an invalid hexcode. */
  lng(index: number): number {
    return this.view.getFloat64(positionAt(index) + 8, true);
  }
  /** 0-15, or null for an invalid hexcode. */
  resolution(index: number): number | null {
    const resolution = this.bytes[FRAME_HEADER_BYTES + positionResolutionAt(this.count, index)]!;
    return resolution === NO_RESOLUTION ? null : resolution;
  }
}

export type StreamAnswers = EncodedTexts | EncodedCells | DecodedPositions;

/** Wraps an answer whose frame status is OK. */
export function answersOf(bytes: Uint8Array, header: AnswerHeader, firstIndex: number): StreamAnswers {
  const Kind =
    header.operation === FRAME_DECODE
      ? DecodedPositions
      : header.output === FRAME_CELLS
        ? EncodedCells
        : EncodedTexts;
  return new Kind(bytes, firstIndex, header.count, header.failed);
}
