// Binary frames from the server's side: reads a request frame and writes its answer. A frame that breaks the layout
// (limits.ts, docs/stream.md) is answered too. The client's side is client/stream/frames.ts.

import type { Kernel } from '../../kernel/kernel.js';
import { copyBytes } from '../bytes/byte-sink.js';
import type { BulkJob, Operation } from '../job.js';
import {
  CELL_ANSWER_BYTES,
  cellAdminAt,
  cellAt,
  cellStatusAt,
  FRAME_BAD,
  FRAME_CELLS,
  FRAME_DECODE,
  FRAME_ENCODE,
  FRAME_HEADER_BYTES,
  FRAME_OK,
  FRAME_TEXT,
  FRAME_VERSION,
  MAX_FRAME_POINTS,
  POINT_BYTES,
  POSITION_ANSWER_BYTES,
  positionAt,
  positionResolutionAt,
  positionStatusAt,
  RECORD_BYTES,
  recordAt,
} from '../limits.js';

// Bulk bodies made of frames: where one frame ends and the next begins, the size of the answers, and answer frames for
// rows that came as text.
export interface FrameHeader {
  readonly operation: Operation;
  readonly resolution: number;
  readonly isCells: boolean;
  readonly count: number;
  /** Size of the whole frame. */
  readonly sizeBytes: number;
}

/**
 * The header of the request frame at `at`; undefined where it gives no size, so that the next frame cannot be found.
 */
export function readFrameHeader(bytes: Uint8Array, at: number): FrameHeader | undefined {
  if (bytes.length - at < FRAME_HEADER_BYTES) return undefined;
  const sizeBytes = requestFrameBytes(bytes, at);
  if (sizeBytes === undefined) return undefined;
  return {
    operation: bytes[at + 1] === FRAME_DECODE ? 'decode' : 'encode',
    resolution: bytes[at + 2]!,
    isCells: bytes[at + 3] === FRAME_CELLS,
    count: frameCount(bytes, at),
    sizeBytes,
  };
}

/**
 * Bytes of the answer frames to blocks of frames, as convertInto will write them, from the headers alone.
 * @returns undefined where there are more than `maxFrames` frames
 */
export function framesAnswerBytes(
  job: BulkJob,
  blocks: readonly Uint8Array[],
  maxFrames: number,
): number | undefined {
  let answerBytes = 0;
  let frames = 0;
  for (const block of blocks) {
    for (let at = 0; at < block.length; ) {
      frames++;
      if (frames > maxFrames) return undefined;
      const header = readFrameHeader(block, at);
      if (header === undefined || at + header.sizeBytes > block.length) {
        answerBytes += FRAME_HEADER_BYTES;
        break;
      }
      const isConverted = header.operation === job.operation && job.refusal === undefined;
      answerBytes += isConverted
        ? answerFrameBytes(block.subarray(at, at + header.sizeBytes))
        : FRAME_HEADER_BYTES;
      at += header.sizeBytes;
    }
  }
  return answerBytes;
}

/** An answer frame, with seq 0, of the records or positions in the kernel's output that belong to rows of text. */
export function answerOfRecords(
  operation: Operation,
  output: Uint8Array,
  count: number,
  failed: number,
): Uint8Array {
  const recordBytes = operation === 'encode' ? RECORD_BYTES : POSITION_ANSWER_BYTES;
  const answer = new Uint8Array(FRAME_HEADER_BYTES + count * recordBytes);
  answer[0] = FRAME_VERSION;
  answer[1] = operation === 'encode' ? FRAME_ENCODE : FRAME_DECODE;
  const view = new DataView(answer.buffer);
  view.setUint32(8, count, true);
  view.setUint32(12, failed, true);
  answer.set(output.subarray(0, count * recordBytes), FRAME_HEADER_BYTES);
  return answer;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of the whole request frame at `offset`, by its operation and count; undefined where these cannot be read. */
export function requestFrameBytes(bytes: Uint8Array, offset = 0): number | undefined {
  const count = frameCount(bytes, offset);
  if (bytes[offset] !== FRAME_VERSION || count > MAX_FRAME_POINTS) return undefined;
  if (bytes[offset + 1] === FRAME_ENCODE) return FRAME_HEADER_BYTES + count * POINT_BYTES;
  if (bytes[offset + 1] === FRAME_DECODE) return FRAME_HEADER_BYTES + count * RECORD_BYTES;
  return undefined;
}

/** The count in a frame's header; 0 for an incomplete header. */
export function frameCount(frame: Uint8Array, offset = 0): number {
  return frame.length - offset < FRAME_HEADER_BYTES ? 0 : readU32(frame, offset + 8);
}

/** Whether a request frame is as long as it says, and its header has only known values. */
export function isWellFormed(frame: Uint8Array): boolean {
  if (requestFrameBytes(frame) !== frame.length || readU32(frame, 12) !== 0) return false;
  return frame[1] === FRAME_ENCODE
    ? frame[2]! <= 15 && frame[3]! <= FRAME_CELLS
    : frame[2] === 0 && frame[3] === 0;
}

/** Points of a request frame; 0 for a frame that is not valid. */
export function framePoints(frame: Uint8Array): number {
  return isWellFormed(frame) ? frameCount(frame) : 0;
}

/** The counts in the header of an answer: its records, and how many of them failed. */
export function answerCounts(answer: Uint8Array): { readonly total: number; readonly failed: number } {
  return { total: frameCount(answer), failed: readU32(answer, 12) };
}

/** Bytes of the answer to one request frame. */
export function answerFrameBytes(frame: Uint8Array): number {
  return isWellFormed(frame) ? wellFormedAnswerBytes(frame) : FRAME_HEADER_BYTES;
}

function wellFormedAnswerBytes(frame: Uint8Array): number {
  const recordBytes =
    frame[1] === FRAME_DECODE
      ? POSITION_ANSWER_BYTES
      : frame[3] === FRAME_CELLS
        ? CELL_ANSWER_BYTES
        : RECORD_BYTES;
  return FRAME_HEADER_BYTES + frameCount(frame) * recordBytes;
}

/**
 * Answers one request frame.
 * @param target holds the answer if it fits; if it is the kernel's own `textOut`, the kernel writes it without a copy
 * @returns the answer: the beginning of `target`, or an array with a buffer of its own
 */
export function answerFrame(kernel: Kernel, frame: Uint8Array, target?: Bytes): Bytes {
  if (!isWellFormed(frame)) return refusedFrame(frame, FRAME_BAD);
  const count = frameCount(frame);
  const sizeBytes = wellFormedAnswerBytes(frame);
  const hasTarget = target !== undefined && target.length >= sizeBytes;
  const answer = hasTarget ? target.subarray(0, sizeBytes) : new Uint8Array(sizeBytes);
  answer.set(frame.subarray(0, FRAME_HEADER_BYTES));
  answer[2] = FRAME_OK;
  const isDecode = frame[1] === FRAME_DECODE;
  const isText = !isDecode && frame[3] === FRAME_TEXT;
  const failed = isText
    ? encodeInto(kernel, frame, count, answer)
    : columnsInto(kernel, frame, count, answer, isDecode);
  writeU32(answer, 12, failed);
  return answer;
}

/**
 * An answer without records that gives the reason, with the frame's operation, output and seq, or 0 if it has no
 * header.
 */
export function refusedFrame(frame: Uint8Array, frameStatus: number): Bytes {
  const answer = new Uint8Array(FRAME_HEADER_BYTES);
  if (frame.length >= FRAME_HEADER_BYTES) answer.set(frame.subarray(0, 8));
  answer[0] = FRAME_VERSION;
  answer[2] = frameStatus;
  return answer;
}

function encodeInto(kernel: Kernel, frame: Uint8Array, count: number, answer: Bytes): number {
  const { capacity, inputBytes, output, exports } = kernel;
  const resolution = frame[2]!;
  let failed = 0;
  for (let from = 0; from < count; from += capacity) {
    const block = Math.min(capacity, count - from);
    copyItems(inputBytes, frame, POINT_BYTES, from, block);
    const to = FRAME_HEADER_BYTES + recordAt(from);
    if (answer.buffer === output.buffer) {
      failed += exports.encodeBatchTo(block, resolution, answer.byteOffset + to);
    } else {
      failed += exports.encodeBatch(block, resolution);
      answer.set(output.subarray(0, recordAt(block)), to);
    }
  }
  return failed;
}

/** Adds cells or positions, whose parts stand in columns. */
function columnsInto(
  kernel: Kernel,
  frame: Uint8Array,
  count: number,
  answer: Bytes,
  isDecode: boolean,
): number {
  const { capacity, inputBytes, output, exports } = kernel;
  const resolution = frame[2]!;
  const itemBytes = isDecode ? RECORD_BYTES : POINT_BYTES;
  const [firstAt, secondAt, thirdAt] = isDecode
    ? ([positionAt, positionResolutionAt, positionStatusAt] as const)
    : ([cellAt, cellAdminAt, cellStatusAt] as const);
  if (count <= capacity && answer.buffer === output.buffer) {
    copyItems(inputBytes, frame, itemBytes, 0, count);
    const to = answer.byteOffset + FRAME_HEADER_BYTES;
    return isDecode ? exports.decodeBatchTo(count, to) : exports.encodeCellsTo(count, resolution, to);
  }
  const body = answer.subarray(FRAME_HEADER_BYTES);
  let failed = 0;
  for (let from = 0; from < count; from += capacity) {
    const block = Math.min(capacity, count - from);
    copyItems(inputBytes, frame, itemBytes, from, block);
    failed += isDecode ? exports.decodeBatch(block) : exports.encodeCells(block, resolution);
    const [second, third] = [secondAt(block, 0), thirdAt(block, 0)];
    body.set(output.subarray(0, second), firstAt(from));
    body.set(output.subarray(second, third), secondAt(count, from));
    body.set(output.subarray(third, third + block), thirdAt(count, from));
  }
  return failed;
}

function copyItems(
  inputBytes: Uint8Array,
  frame: Uint8Array,
  itemBytes: number,
  from: number,
  count: number,
): void {
  const start = FRAME_HEADER_BYTES + from * itemBytes;
  copyBytes(inputBytes, frame.subarray(start, start + count * itemBytes));
}

function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}
