// Answers one block of a bulk body: whole rows or frames come in, as many leave, in the same order. The same job and block
// give the same bytes in every thread.
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
import type { AnswerSink } from '../bytes/answer-sink.js';
import { ByteSink } from '../bytes/byte-sink.js';
import { copyBytes } from '../bytes/copy-bytes.js';
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
import { answerOfRecords, type FrameHeader, readFrameHeader } from '../frames/frame-sequence.js';
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
import { RowReport } from '../rows/row-report.js';

const INVALID_REQUEST = ROW_STATUSES.indexOf('INVALID_REQUEST');
const INVALID_HEXCODES = ROW_STATUSES.indexOf('INVALID_HEXCODES');

/** Most empty fields that the short rows of a block are padded with: under a wide header they may outweigh the body. */
const MOST_PADDING = 16 * BLOCK_BYTES;

/**
 * Answers a block with one array.
 * @param buffer holds the answer where it fits
 * @param sink to be brought by callers that convert many blocks: it keeps its memory from one to the next
 * @throws BulkInputError where short rows of CSV would be padded with more than MOST_PADDING fields
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
  const rows = convertInto(kernel, job, block, sink, report);
  const bytes = sink.take();
  return report === undefined ? { bytes, ...rows } : { bytes, ...rows, report: report.result() };
}

/**
 * Adds the answer to a block to a sink.
 * @param report takes part in the conversion where there is one; the sink must then be an empty ByteSink
 * @throws BulkInputError as convertBlock
 */
export function convertInto(
  kernel: Kernel,
  job: BulkJob,
  block: Uint8Array,
  sink: AnswerSink,
  report?: RowReport,
): ConvertedRows {
  const memory = preparedMemoryOf(kernel);
  memory.statusCounts.fill(0);
  if (job.input === 'frames') convertFrames(kernel, memory, job, block, sink, report);
  else convertText(kernel, memory, job, block, sink, report);
  const byStatus = memory.statusCounts.slice();
  const rows = byStatus.reduce((sum, count) => sum + count, 0);
  return { rows, failed: rows - byStatus[0]!, byStatus };
}

function taskOf(job: BulkJob, source: number, report: RowReport | undefined): RowsTask {
  const isRowKept = source === FROM_CSV && job.output === 'csv';
  const hasOwnResolution = isRowKept && (job.csv?.resolution ?? -1) >= 0;
  const columns =
    (isRowKept ? WITH_ROW : source === FROM_JSON ? WITH_ID : 0) | (hasOwnResolution ? 0 : WITH_RESOLUTION);
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
  };
}

function convertText(
  kernel: Kernel,
  memory: TextMemory,
  job: BulkJob,
  block: Uint8Array,
  sink: AnswerSink,
  report: RowReport | undefined,
): void {
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
    const scan = isCsv ? exports.scanCsv : exports.scanNdjson;
    const count = scan(at, end, kernel.capacity, isDecode, job.resolution);
    at = (isCsv ? exports.csvEnd : exports.jsonEnd).value;
    if (count === 0) continue;
    if (task.columns & WITH_ROW) {
      padding += exports.csvMissing.value;
      if (padding > MOST_PADDING)
        throw new BulkInputError('The rows have far fewer fields than the header row');
    }
    answerRows(kernel, task, count, !isCsv || (shape?.resolution ?? -1) >= 0, sink);
    if (task.output === 'records') addRecords(kernel, memory, job, count, sink);
  }
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
    const place = isDecode
      ? positionStatusAt(count, i)
      : isCells
        ? cellStatusAt(count, i)
        : recordStatusAt(i);
    const status = answer[body + place]!;
    statusCounts[status === 0 ? 0 : isDecode ? INVALID_HEXCODES : status]!++;
    if (status !== 0) failed++;
  }
  return failed;
}

function frameStatusOf(refusal: 'OVER_QUERY_LIMIT' | 'UNAVAILABLE'): number {
  return refusal === 'OVER_QUERY_LIMIT' ? FRAME_OVER_LIMIT : FRAME_OVERLOADED;
}

function convertFrames(
  kernel: Kernel,
  memory: TextMemory,
  job: BulkJob,
  block: Uint8Array,
  sink: AnswerSink,
  report: RowReport | undefined,
): void {
  const task = taskOf(job, FROM_FRAMES, report);
  for (let at = 0; at < block.length; ) {
    const header = readFrameHeader(block, at);
    if (header === undefined || at + header.sizeBytes > block.length) {
      // No next frame can be found, so the rest of the block is answered as one bad frame.
      addBadFrame(memory, job, block.subarray(at), sink);
      return;
    }
    const frame = block.subarray(at, at + header.sizeBytes);
    at += header.sizeBytes;
    if (header.operation !== job.operation || (job.output !== 'frames' && !isPlainFrame(frame))) {
      addBadFrame(memory, job, frame, sink);
    } else if (job.output !== 'frames') {
      addFrameAsText(kernel, memory, task, frame, header, sink);
    } else if (job.refusal !== undefined) {
      sink.add(refusedFrame(frame, frameStatusOf(job.refusal)));
      memory.statusCounts[ROW_STATUSES.indexOf(job.refusal)]! += header.count;
    } else {
      // No answer is longer than one with a record for each point.
      const target = sink.reserve(FRAME_HEADER_BYTES + header.count * RECORD_BYTES);
      const answer = answerFrame(kernel, frame, target);
      if (answer[2] !== FRAME_OK) {
        memory.statusCounts[INVALID_REQUEST]!++;
        sink.add(answer);
        continue;
      }
      sink.commit(answer.length);
      if (failedOf(answer) === 0) {
        memory.statusCounts[0]! += header.count;
      } else {
        const isDecode = job.operation === 'decode';
        countStatuses(memory, answer, FRAME_HEADER_BYTES, isDecode, header.count, header.isCells);
      }
    }
  }
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

function addFrameAsText(
  kernel: Kernel,
  memory: TextMemory,
  task: RowsTask,
  frame: Uint8Array,
  header: FrameHeader,
  sink: AnswerSink,
): void {
  const isDecode = header.operation === 'decode';
  for (let from = 0; from < header.count; from += kernel.capacity) {
    const count = Math.min(kernel.capacity, header.count - from);
    memory.openRows(count, isDecode ? NO_RESOLUTION : header.resolution);
    const itemBytes = isDecode ? RECORD_BYTES : POINT_BYTES;
    const start = FRAME_HEADER_BYTES + from * itemBytes;
    kernel.inputBytes.set(frame.subarray(start, start + count * itemBytes));
    answerRows(kernel, { ...task, resolution: header.resolution }, count, false, sink);
  }
}
