// Answers the frames of a block, as frames or as rows of text. Every frame is converted on its own; one that is
// answered in part leaves its other points as a frame with a header of its own.
import type { Kernel } from '../../kernel/kernel.js';
import type { TextMemory } from '../../kernel/text-memory.js';
import type { AnswerSink } from '../bytes/answer-sink.js';
import { answerFrame, refusedFrame } from '../frames/answer-frame.js';
import {
  cellStatusAt,
  FRAME_BAD,
  FRAME_HEADER_BYTES,
  FRAME_OK,
  FRAME_OVER_LIMIT,
  FRAME_OVERLOADED,
  NO_RESOLUTION,
  POINT_BYTES,
  positionStatusAt,
  RECORD_BYTES,
  recordStatusAt,
} from '../frames/frame-layout.js';
import { type FrameHeader, readFrameHeader } from '../frames/frame-sequence.js';
import { type BulkJob, ROW_STATUSES } from '../job.js';
import { answerRows, preparedMemoryOf, type RowsTask } from '../rows/convert-rows.js';
import type { RowAllowance } from '../rows/row-allowance.js';

/** Cost of a frame in rows, however few points it has. */
const ROWS_PER_FRAME = 32;
const INVALID_REQUEST = ROW_STATUSES.indexOf('INVALID_REQUEST');
const INVALID_HEXCODES = ROW_STATUSES.indexOf('INVALID_HEXCODES');

/** Adds the answers to a block of frames; returns where those begin that the allowance does not cover. */
export function convertFrames(
  kernel: Kernel,
  job: BulkJob,
  task: RowsTask,
  block: Uint8Array,
  sink: AnswerSink,
  allowance: RowAllowance | undefined,
): number {
  const memory = preparedMemoryOf(kernel);
  for (let at = 0; at < block.length; ) {
    if (allowance?.rows === 0) return at;
    allowance?.takeRows(ROWS_PER_FRAME);
    const header = readFrameHeader(block, at);
    if (header === undefined || at + header.sizeBytes > block.length) {
      // No next frame can be found, so the rest of the block is answered as one bad frame.
      addBadFrame(memory, job, block.subarray(at), sink);
      return block.length;
    }
    const frame = block.subarray(at, at + header.sizeBytes);
    if (header.operation !== job.operation || (job.output !== 'frames' && !isPlainFrame(frame))) {
      addBadFrame(memory, job, frame, sink);
    } else if (job.output === 'frames') {
      addFrame(kernel, memory, job, frame, header, sink);
      allowance?.takeRows(header.count);
    } else {
      const answered = addFrameAsText(kernel, memory, task, frame, header, sink, allowance);
      if (answered < header.count) return at + beginFrameAt(frame, header, answered);
    }
    at += header.sizeBytes;
  }
  return block.length;
}

function addFrame(
  kernel: Kernel,
  memory: TextMemory,
  job: BulkJob,
  frame: Uint8Array,
  { count, isCells }: FrameHeader,
  sink: AnswerSink,
): void {
  if (job.refusal !== undefined) {
    sink.add(refusedFrame(frame, frameStatusOf(job.refusal)));
    memory.statusCounts[ROW_STATUSES.indexOf(job.refusal)]! += count;
    return;
  }
  // No answer is longer than one with a record for each point.
  const target = sink.reserve(FRAME_HEADER_BYTES + count * RECORD_BYTES);
  const answer = answerFrame(kernel, frame, target);
  if (answer[2] !== FRAME_OK) {
    memory.statusCounts[INVALID_REQUEST]!++;
    sink.add(answer);
    return;
  }
  sink.commit(answer.length);
  if (failedOf(answer) === 0) memory.statusCounts[0]! += count;
  else countStatuses(memory, answer, FRAME_HEADER_BYTES, job.operation === 'decode', count, isCells);
}

/** The number of failed points, from the header of an answer. */
function failedOf(answer: Uint8Array): number {
  return answer[12]! | (answer[13]! << 8) | (answer[14]! << 16);
}

/** Whether the frame's header has only values that answerFrame understands. */
function isPlainFrame(frame: Uint8Array): boolean {
  const isReserved = frame[12] !== 0 || frame[13] !== 0 || frame[14] !== 0 || frame[15] !== 0;
  const isKnown = frame[1] === 1 ? frame[2]! <= 15 && frame[3]! <= 1 : frame[2] === 0 && frame[3] === 0;
  return isKnown && !isReserved;
}

function addBadFrame(memory: TextMemory, job: BulkJob, rest: Uint8Array, sink: AnswerSink): void {
  memory.statusCounts[INVALID_REQUEST]!++;
  if (job.output === 'frames') {
    sink.add(refusedFrame(rest, FRAME_BAD));
    return;
  }
  if (job.output === 'csv') {
    const empty = String.fromCharCode(job.delimiter).repeat(job.operation === 'encode' ? 5 : 4);
    sink.addText(`${empty}INVALID_REQUEST\n`);
  } else {
    const message = 'the body is no sequence of whole frames of this operation';
    sink.addText(`{"status":"INVALID_REQUEST","message":"${message}"}\n`);
  }
}

/** @returns how many points are answered */
function addFrameAsText(
  kernel: Kernel,
  memory: TextMemory,
  task: RowsTask,
  frame: Uint8Array,
  header: FrameHeader,
  sink: AnswerSink,
  allowance: RowAllowance | undefined,
): number {
  const itemBytes = itemBytesOf(header);
  for (let from = 0; from < header.count; ) {
    const limit = Math.min(kernel.capacity, allowance?.rows ?? kernel.capacity);
    const count = Math.min(limit, header.count - from);
    if (count === 0) return from;
    memory.openRows(count, header.operation === 'decode' ? NO_RESOLUTION : header.resolution);
    const start = FRAME_HEADER_BYTES + from * itemBytes;
    kernel.inputBytes.set(frame.subarray(start, start + count * itemBytes));
    const ownTask = { ...task, resolution: header.resolution };
    const answered = answerRows(kernel, ownTask, count, false, sink, allowance);
    from += answered;
    if (answered < count) return from;
  }
  return header.count;
}

/**
 * Makes the points from `point` on a frame of their own, whose header overwrites points before them; returns its place.
 */
function beginFrameAt(frame: Uint8Array, header: FrameHeader, point: number): number {
  const at = point * itemBytesOf(header);
  frame.copyWithin(at, 0, FRAME_HEADER_BYTES);
  const rest = frame.subarray(at);
  new DataView(rest.buffer, rest.byteOffset).setUint32(8, header.count - point, true);
  return at;
}

function itemBytesOf({ operation }: FrameHeader): number {
  return operation === 'decode' ? RECORD_BYTES : POINT_BYTES;
}

/** Counts the point statuses of records that start at `body` as row statuses; returns how many failed. */
export function countStatuses(
  memory: TextMemory,
  answer: Uint8Array,
  body: number,
  isDecode: boolean,
  count: number,
  isCells: boolean,
): number {
  const { statusCounts } = memory;
  let failed = 0;
  for (let i = 0; i < count; i++) {
    const statusAt = isDecode
      ? positionStatusAt(count, i)
      : isCells
        ? cellStatusAt(count, i)
        : recordStatusAt(i);
    const status = answer[body + statusAt]!;
    statusCounts[status === 0 ? 0 : isDecode ? INVALID_HEXCODES : status]!++;
    if (status !== 0) failed++;
  }
  return failed;
}

export function frameStatusOf(refusal: 'OVER_QUERY_LIMIT' | 'UNAVAILABLE'): number {
  return refusal === 'OVER_QUERY_LIMIT' ? FRAME_OVER_LIMIT : FRAME_OVERLOADED;
}
