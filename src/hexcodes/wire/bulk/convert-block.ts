// Answers one block of a bulk body: whole rows or frames come in, as many leave, in the same order. The same job and
// block give the same bytes in every thread.
import type { Kernel } from '../../kernel/kernel.js';
import {
  FROM_CSV,
  FROM_FRAMES,
  FROM_JSON,
  type TextMemory,
  WITH_ID,
  WITH_RESOLUTION,
  WITH_ROW,
} from '../../kernel/text-memory.js';
import { type AnswerSink, ByteSink, copyBytes } from '../bytes/byte-sink.js';
import {
  answerFrame,
  answerOfRecords,
  type FrameHeader,
  readFrameHeader,
  refusedFrame,
} from '../frames/answer-frame.js';
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
import {
  BLOCK_BYTES,
  BulkInputError,
  type BulkJob,
  type ConvertedBlock,
  type ConvertedRows,
  MAX_NDJSON_ROW_BYTES,
  ROW_STATUSES,
} from '../job.js';
import { answerRows, preparedMemoryOf, type RowsTask } from '../rows/convert-rows.js';
import type { RowAllowance } from '../rows/row-allowance.js';
import { RowReport } from '../rows/row-report.js';

// Answers the frames of a block, as frames or as rows of text. Every frame is converted on its own; one that is
// answered in part leaves its other points as a frame with a header of its own.
/** Cost of a frame in rows, however few points it has. */
const ROWS_PER_FRAME = 32;
const INVALID_REQUEST = ROW_STATUSES.indexOf('INVALID_REQUEST');
const INVALID_HEXCODES = ROW_STATUSES.indexOf('INVALID_HEXCODES');

/** Adds the answers to a block of frames; returns where those begin that the allowance does not cover. */
function convertFrames(
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
    const message = 'the body is not a sequence of whole frames of this operation';
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
 * Makes a frame of the points from `point` on; its header overwrites points before them. Returns its offset.
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
function countStatuses(
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

function frameStatusOf(refusal: 'OVER_QUERY_LIMIT' | 'UNAVAILABLE'): number {
  return refusal === 'OVER_QUERY_LIMIT' ? FRAME_OVER_LIMIT : FRAME_OVERLOADED;
}

/** Most empty fields that the short rows of a block are padded with: under a wide header they may outweigh the body. */
const MAX_PADDING = 16 * BLOCK_BYTES;

/**
 * Answers a block with one array.
 * @param buffer holds the answer where it fits
 * @param sink to be brought by callers that convert many blocks: it keeps its memory from one to the next
 * @throws BulkInputError where short rows of CSV would be padded with more than MAX_PADDING fields
 */
export function convertBlock(
  kernel: Kernel,
  job: BulkJob,
  block: Uint8Array,
  buffer?: Uint8Array<ArrayBuffer>,
  sink = new ByteSink(),
): ConvertedBlock {
  sink.start(buffer);
  const wantsReport = job.wantsReport === true && job.output !== 'frames';
  const report = wantsReport ? new RowReport(preparedMemoryOf(kernel), job.operation) : undefined;
  const { rows, failed, byStatus } = convertInto(kernel, job, block, sink, { report });
  const bytes = sink.take();
  const converted = { bytes, rows, failed, byStatus };
  return report === undefined ? converted : { ...converted, report: report.result() };
}

/** The rows that convertInto has answered, and where in the block those begin that it has not. */
export interface ConvertedPart extends ConvertedRows {
  /** The length of the block where all are answered. The rest is a block too: its answer follows. */
  readonly restAt: number;
}

/** Options of a conversion. */
export interface Conversion {
  /** Takes part in the conversion where there is one; the sink must then be an empty ByteSink. */
  readonly report?: RowReport | undefined;
  /** Ends the conversion before the row that it does not cover. */
  readonly allowance?: RowAllowance;
}

/**
 * Adds the answer to a block to a sink.
 * @param block where a frame of it is answered in part, bytes before the rest become the header of its other part
 * @throws BulkInputError as convertBlock
 */
export function convertInto(
  kernel: Kernel,
  job: BulkJob,
  block: Uint8Array,
  sink: AnswerSink,
  conversion: Conversion = {},
): ConvertedPart {
  const memory = preparedMemoryOf(kernel);
  memory.statusCounts.fill(0);
  const { report, allowance } = conversion;
  const restAt =
    job.input === 'frames'
      ? convertFrames(kernel, job, taskOf(job, FROM_FRAMES, report), block, sink, allowance)
      : convertText(kernel, memory, job, block, sink, conversion);
  const byStatus = memory.statusCounts.slice();
  const rows = byStatus.reduce((sum, count) => sum + count, 0);
  return { rows, failed: rows - byStatus[0]!, byStatus, restAt };
}

function taskOf(job: BulkJob, source: number, report: RowReport | undefined): RowsTask {
  const isRowKept = source === FROM_CSV && job.output === 'csv';
  const hasOwnResolution = isRowKept && (job.csv?.resolution ?? -1) >= 0;
  const columns =
    (isRowKept ? WITH_ROW : source === FROM_JSON ? WITH_ID : 0) |
    (hasOwnResolution ? 0 : WITH_RESOLUTION) |
    (job.extras ?? 0);
  return {
    operation: job.operation,
    source,
    output: job.output === 'frames' ? 'records' : job.output === 'csv' ? 'csv' : 'json',
    resolution: job.resolution,
    delimiter: job.delimiter,
    columns,
    lineEnd: job.csv?.lineEnd ?? '\n',
    separator: 10,
    refusal: job.refusal === undefined ? 0 : ROW_STATUSES.indexOf(job.refusal),
    maxItemBytes: MAX_NDJSON_ROW_BYTES,
    isArray: false,
    csv: job.csv,
    report,
    origin: 'bulk',
  };
}

function convertText(
  kernel: Kernel,
  memory: TextMemory,
  job: BulkJob,
  block: Uint8Array,
  sink: AnswerSink,
  { report, allowance }: Conversion,
): number {
  if (block.length > memory.blockBytes)
    throw new RangeError(`A block has at most ${memory.blockBytes} bytes, not ${block.length}`);
  const { exports, blockAt } = memory;
  const isDecode = job.operation === 'decode';
  const isCsv = job.input === 'csv';
  const task = taskOf(job, isCsv ? FROM_CSV : FROM_JSON, report);
  const shape = job.csv;
  if (isCsv) {
    if (shape === undefined) throw new TypeError('A job of CSV needs the shape that its header gives');
    exports.useCsvColumns(
      shape.columns,
      isDecode ? shape.hexcodes : shape.lat,
      isDecode ? -1 : shape.lng,
      isDecode ? -1 : shape.resolution,
      job.delimiter,
    );
  }
  copyBytes(memory.block, block);
  const end = blockAt + block.length;
  let padding = 0;
  for (let at = blockAt; at < end; ) {
    const limit = Math.min(kernel.capacity, allowance?.rows ?? kernel.capacity);
    if (limit === 0) return at - blockAt;
    const scan = isCsv ? exports.scanCsv : exports.scanNdjson;
    const count = scan(at, end, limit, isDecode, job.resolution);
    at = (isCsv ? exports.csvEnd : exports.jsonEnd).value;
    if (count === 0) continue;
    if (task.columns & WITH_ROW) {
      padding += exports.csvMissing.value;
      if (padding > MAX_PADDING)
        throw new BulkInputError('The rows have far fewer fields than the header row');
    }
    const isMixed = !isCsv || (shape?.resolution ?? -1) >= 0;
    const answered = answerRows(kernel, task, count, isMixed, sink, allowance);
    if (task.output === 'records' && answered > 0) addRecords(kernel, memory, job, answered, sink);
    if (answered < count) return memory.rowBounds(answered)[0];
  }
  return block.length;
}

/** Adds the answers to rows of text as one answer frame. */
function addRecords(kernel: Kernel, memory: TextMemory, job: BulkJob, count: number, sink: AnswerSink): void {
  const { operation, refusal } = job;
  if (refusal !== undefined) {
    const empty = answerOfRecords(operation, kernel.output, 0, 0);
    sink.add(refusedFrame(empty, frameStatusOf(refusal)));
    memory.statusCounts[ROW_STATUSES.indexOf(refusal)]! += count;
    return;
  }
  const failed = countStatuses(memory, kernel.output, 0, operation === 'decode', count, false);
  sink.add(answerOfRecords(operation, kernel.output, count, failed));
}
