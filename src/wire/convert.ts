// Answers one block of a bulk body: whole rows or frames in, as many rows or frames out, in order. Pure: the same
// job and block give the same bytes in every thread.
import { type Kernel, RECORD_BYTES } from '../kernel/kernel.js';
import {
  FROM_CSV,
  FROM_FRAMES,
  FROM_JSON,
  type TextMemory,
  WITH_ID,
  WITH_RESOLUTION,
  WITH_ROW,
} from '../kernel/text.js';
import { answerRows, preparedMemoryOf, type RowsTask } from './answer-rows.js';
import { ByteSink } from './byte-sink.js';
import {
  answerFrame,
  FRAME_BAD,
  FRAME_HEADER_BYTES,
  FRAME_OVER_LIMIT,
  FRAME_OVERLOADED,
  type FrameHeader,
  openAnswer,
  putPoints,
  putRecords,
  readFrameHeader,
  refuseFrame,
  setFailed,
} from './frames.js';
import { type BulkJob, type ConvertedBlock, MAX_NDJSON_ROW_BYTES, ROW_STATUSES } from './job.js';

const NO_RESOLUTION = 255;
const INVALID_REQUEST = ROW_STATUSES.indexOf('INVALID_REQUEST');
const INVALID_HEXCODES = ROW_STATUSES.indexOf('INVALID_HEXCODES');

export function convertBlock(kernel: Kernel, job: BulkJob, block: Uint8Array): ConvertedBlock {
  const memory = preparedMemoryOf(kernel);
  memory.statusCounts.fill(0);
  const sink = new ByteSink();
  if (job.input === 'frames') convertFrames(kernel, memory, job, block, sink);
  else convertText(kernel, memory, job, block, sink);
  const byStatus = memory.statusCounts.slice();
  const rows = byStatus.reduce((sum, count) => sum + count, 0);
  return { bytes: sink.take(), rows, failed: rows - byStatus[0]!, byStatus };
}

function taskOf(job: BulkJob, source: number): RowsTask {
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
    csv: job.csv,
  };
}

function convertText(
  kernel: Kernel,
  memory: TextMemory,
  job: BulkJob,
  block: Uint8Array,
  sink: ByteSink,
): void {
  if (block.length > memory.blockBytes)
    throw new RangeError(`A block has at most ${memory.blockBytes} bytes, not ${block.length}`);
  const { exports, blockAt } = memory;
  const isDecode = job.operation === 'decode';
  const isCsv = job.input === 'csv';
  const task = taskOf(job, isCsv ? FROM_CSV : FROM_JSON);
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
  memory.block.set(block);
  const end = blockAt + block.length;
  for (let at = blockAt; at < end; ) {
    const scan = isCsv ? exports.scanCsv : exports.scanNdjson;
    const count = scan(at, end, kernel.capacity, isDecode, job.resolution);
    at = (isCsv ? exports.csvEnd : exports.jsonEnd).value as number;
    if (count === 0) continue;
    answerRows(kernel, task, count, !isCsv || (shape?.resolution ?? -1) >= 0, sink);
    if (task.output === 'records') addRecords(kernel, memory, job, count, sink);
  }
}

/** Rows of text as one answer frame. They have no seq. */
function addRecords(kernel: Kernel, memory: TextMemory, job: BulkJob, count: number, sink: ByteSink): void {
  if (job.refusal !== undefined) {
    const header = openAnswer(job.operation, 0, false, 0);
    sink.add(refuseFrame(header, frameStatusOf(job.refusal)));
    memory.statusCounts[ROW_STATUSES.indexOf(job.refusal)]! += count;
    return;
  }
  const answer = openAnswer(job.operation, 0, false, count);
  answer.set(kernel.output.subarray(0, answer.length - FRAME_HEADER_BYTES), FRAME_HEADER_BYTES);
  setFailed(
    answer,
    countStatuses(memory, answer, FRAME_HEADER_BYTES, job.operation === 'decode', count, false),
  );
  sink.add(answer);
}

/** Counts the point statuses of an answer frame at `at` as row statuses; returns how many failed. */
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
    const place = isDecode ? 17 * count + i : isCells ? 9 * count + i : i * RECORD_BYTES + RECORD_BYTES - 1;
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
  sink: ByteSink,
): void {
  const task = taskOf(job, FROM_FRAMES);
  for (let at = 0; at < block.length; ) {
    const header = readFrameHeader(block, at);
    if (header === undefined || at + header.sizeBytes > block.length || header.operation !== job.operation) {
      addBadFrame(memory, job, block.subarray(at), sink);
      // What follows a frame of another operation can still be read; behind a broken one there is no start.
      if (header === undefined || at + header.sizeBytes > block.length) return;
      at += header.sizeBytes;
      continue;
    }
    const frame = block.subarray(at, at + header.sizeBytes);
    at += header.sizeBytes;
    if (job.output !== 'frames') {
      addFrameAsText(kernel, memory, task, frame, header, sink);
    } else if (job.refusal !== undefined) {
      sink.add(refuseFrame(frame, frameStatusOf(job.refusal)));
      memory.statusCounts[ROW_STATUSES.indexOf(job.refusal)]! += header.count;
    } else {
      const answer = answerFrame(kernel, frame);
      const isDecode = job.operation === 'decode';
      countStatuses(memory, answer, FRAME_HEADER_BYTES, isDecode, header.count, header.isCells);
      sink.add(answer);
    }
  }
}

function addBadFrame(memory: TextMemory, job: BulkJob, rest: Uint8Array, sink: ByteSink): void {
  if (job.output === 'frames') {
    sink.add(refuseFrame(rest, FRAME_BAD));
    return;
  }
  memory.statusCounts[INVALID_REQUEST]!++;
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
  sink: ByteSink,
): void {
  const isDecode = header.operation === 'decode';
  for (let from = 0; from < header.count; from += kernel.capacity) {
    const count = Math.min(kernel.capacity, header.count - from);
    memory.openRows(count, isDecode ? NO_RESOLUTION : header.resolution);
    if (isDecode) putRecords(kernel, frame, from, count);
    else putPoints(kernel, frame, from, count);
    answerRows(kernel, { ...task, resolution: header.resolution }, count, false, sink);
  }
}
