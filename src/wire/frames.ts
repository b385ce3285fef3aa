// Binary frames (spec: streaming, "Binary"): a request frame in, its answer out. Little-endian, as every machine that
// runs a JavaScript engine of today.
//
//   0  u8  1                      4  u32 seq                  16  the points or records
//   1  u8  1 encode, 2 decode     8  u32 count
//   2  u8  resolution / status   12  u32 0 / failed points
//   3  u8  0 text, 1 cells
import { type Kernel, RECORD_BYTES } from '../kernel/kernel.js';
import type { Operation } from './job.js';

export const FRAME_HEADER_BYTES = 16;
export const MAX_FRAME_POINTS = 65_536;
export const MAX_FRAME_BYTES = FRAME_HEADER_BYTES + MAX_FRAME_POINTS * RECORD_BYTES;

export const FRAME_OK = 0;
export const FRAME_BAD = 1;
export const FRAME_OVER_LIMIT = 2;
export const FRAME_OVERLOADED = 3;

const POINT_BYTES = 16;
const CELL_BYTES = 8;
const ENCODE = 1;
const DECODE = 2;

export interface FrameHeader {
  readonly operation: Operation;
  readonly resolution: number;
  readonly isCells: boolean;
  readonly seq: number;
  readonly count: number;
  /** Of the whole frame. */
  readonly sizeBytes: number;
}

/** The header of a request at `at`; undefined if a value is unknown or the bytes are too few. */
export function readFrameHeader(bytes: Uint8Array, at = 0): FrameHeader | undefined {
  if (bytes.length - at < FRAME_HEADER_BYTES || bytes[at] !== 1) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, FRAME_HEADER_BYTES);
  const operation = view.getUint8(1);
  const resolution = view.getUint8(2);
  const output = view.getUint8(3);
  const count = view.getUint32(8, true);
  if (view.getUint32(12, true) !== 0 || count > MAX_FRAME_POINTS) return undefined;
  if (operation === ENCODE ? resolution > 15 || output > 1 : resolution !== 0 || output !== 0)
    return undefined;
  if (operation !== ENCODE && operation !== DECODE) return undefined;
  const itemBytes = operation === ENCODE ? POINT_BYTES : RECORD_BYTES;
  return {
    operation: operation === ENCODE ? 'encode' : 'decode',
    resolution,
    isCells: output === 1,
    seq: view.getUint32(4, true),
    count,
    sizeBytes: FRAME_HEADER_BYTES + count * itemBytes,
  };
}

/**
 * The points of a frame for the limits, 0 if it is none. The size must be the whole frame's.
 */
export function pointsOfFrame(frame: Uint8Array): number {
  const header = readFrameHeader(frame);
  return header !== undefined && header.sizeBytes === frame.length ? header.count : 0;
}

/** The answer of one whole request frame; a bad one is answered with status 1. */
export function answerFrame(kernel: Kernel, frame: Uint8Array): Uint8Array<ArrayBuffer> {
  const header = readFrameHeader(frame);
  if (header === undefined || header.sizeBytes !== frame.length) return refuseFrame(frame, FRAME_BAD);
  if (header.operation === 'decode') return decodeFrame(kernel, frame, header);
  return header.isCells ? encodeToCells(kernel, frame, header) : encodeToText(kernel, frame, header);
}

/** An answer without records: the request's header with a frame status. */
export function refuseFrame(frame: Uint8Array, status: number): Uint8Array<ArrayBuffer> {
  const answer = new Uint8Array(FRAME_HEADER_BYTES);
  if (frame.length >= FRAME_HEADER_BYTES) answer.set(frame.subarray(0, 8));
  answer[0] = 1;
  answer[2] = status;
  return answer;
}

/** An answer of `count` records whose bodies the caller fills in. */
export function openAnswer(
  operation: Operation,
  seq: number,
  isCells: boolean,
  count: number,
): Uint8Array<ArrayBuffer> {
  const itemBytes = operation === 'encode' ? (isCells ? CELL_BYTES + 2 : RECORD_BYTES) : POINT_BYTES + 2;
  const answer = new Uint8Array(FRAME_HEADER_BYTES + count * itemBytes);
  answer[0] = 1;
  answer[1] = operation === 'encode' ? ENCODE : DECODE;
  answer[3] = isCells ? 1 : 0;
  const view = new DataView(answer.buffer);
  view.setUint32(4, seq, true);
  view.setUint32(8, count, true);
  return answer;
}

export function setFailed(answer: Uint8Array, failed: number): void {
  new DataView(answer.buffer, answer.byteOffset).setUint32(12, failed, true);
}

/** Copies the pairs of a frame from point `from` on into the kernel's input, whatever the alignment of the frame. */
export function putPoints(kernel: Kernel, frame: Uint8Array, from: number, count: number): void {
  const start = FRAME_HEADER_BYTES + from * POINT_BYTES;
  kernel.inputBytes.set(frame.subarray(start, start + count * POINT_BYTES));
}

export function putRecords(kernel: Kernel, frame: Uint8Array, from: number, count: number): void {
  const start = FRAME_HEADER_BYTES + from * RECORD_BYTES;
  kernel.inputBytes.set(frame.subarray(start, start + count * RECORD_BYTES));
}

function encodeToText(kernel: Kernel, frame: Uint8Array, header: FrameHeader): Uint8Array<ArrayBuffer> {
  const { count, resolution } = header;
  const answer = openAnswer('encode', header.seq, false, count);
  let failed = 0;
  for (let from = 0; from < count; from += kernel.capacity) {
    const block = Math.min(kernel.capacity, count - from);
    putPoints(kernel, frame, from, block);
    failed += kernel.exports.encodeBatch(block, resolution);
    answer.set(kernel.output.subarray(0, block * RECORD_BYTES), FRAME_HEADER_BYTES + from * RECORD_BYTES);
  }
  setFailed(answer, failed);
  return answer;
}

function encodeToCells(kernel: Kernel, frame: Uint8Array, header: FrameHeader): Uint8Array<ArrayBuffer> {
  const { count, resolution } = header;
  const answer = openAnswer('encode', header.seq, true, count);
  let failed = 0;
  for (let from = 0; from < count; from += kernel.capacity) {
    const block = Math.min(kernel.capacity, count - from);
    putPoints(kernel, frame, from, block);
    failed += kernel.exports.encodeCells(block, resolution);
    putColumns(kernel, answer, from, block, count, CELL_BYTES);
  }
  setFailed(answer, failed);
  return answer;
}

function decodeFrame(kernel: Kernel, frame: Uint8Array, header: FrameHeader): Uint8Array<ArrayBuffer> {
  const { count } = header;
  const answer = openAnswer('decode', header.seq, false, count);
  let failed = 0;
  for (let from = 0; from < count; from += kernel.capacity) {
    const block = Math.min(kernel.capacity, count - from);
    putRecords(kernel, frame, from, block);
    failed += kernel.exports.decodeBatch(block);
    putColumns(kernel, answer, from, block, count, POINT_BYTES);
  }
  setFailed(answer, failed);
  return answer;
}

/** Three columns of a block, `wide` bytes, one and one an item, to their places in those of the whole answer. */
function putColumns(
  kernel: Kernel,
  answer: Uint8Array,
  from: number,
  block: number,
  count: number,
  wide: number,
): void {
  const { output } = kernel;
  const body = FRAME_HEADER_BYTES;
  answer.set(output.subarray(0, block * wide), body + from * wide);
  answer.set(output.subarray(block * wide, block * (wide + 1)), body + count * wide + from);
  answer.set(output.subarray(block * (wide + 1), block * (wide + 2)), body + count * (wide + 1) + from);
}
