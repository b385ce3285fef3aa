// Converts one block of a bulk body: whole rows or frames come in, as many leave, in the same order. A job and a
// block give the same bytes in every thread.
import { EACH_ITS_OWN, type Kernel } from '../../kernel/kernel.js';
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
  answerCounts,
  answerFrame,
  answerOfRecords,
  type FrameHeader,
  isWellFormed,
  readFrameHeader,
  refusedFrame,
} from '../frames/answer-frame.js';
import {
  BLOCK_BYTES,
  BulkInputError,
  type BulkJob,
  type ConvertedBlock,
  type ConvertedRows,
  MAX_NDJSON_ROW_BYTES,
  ROW_STATUSES,
} from '../job.js';
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
} from '../limits.js';
import { preparedMemoryOf, RowAnswers, type RowsTask } from '../rows/convert-rows.js';
import { type RowAllowance, RowReport } from '../rows/row-report.js';

/** Cost of a frame in rows, however few points it has. */
const ROWS_PER_FRAME = 32;
const INVALID_REQUEST = ROW_STATUSES.indexOf('INVALID_REQUEST');
const INVALID_HEXCODES = ROW_STATUSES.indexOf('INVALID_HEXCODES');

/**
 * Adds the answers to one block to a sink. Every frame is converted on its own, as a frame or as rows of text. A
 * frame that is answered in part leaves its other points as a frame with a header of its own.
 */
class BlockAnswers {
  readonly #kernel: Kernel;
  readonly #memory: TextMemory;
  readonly #job: BulkJob;
  readonly #task: RowsTask;
  readonly #sink: AnswerSink;
  readonly #allowance: RowAllowance | undefined;
  readonly #rows: RowAnswers;

  constructor(kernel: Kernel, job: BulkJob, sink: AnswerSink, { report, allowance }: Conversion) {
    this.#kernel = kernel;
    this.#memory = preparedMemoryOf(kernel);
    this.#job = job;
    this.#task = taskOf(job, report);
    this.#sink = sink;
    this.#allowance = allowance;
    this.#rows = new RowAnswers(kernel, this.#task, sink, allowance);
  }

  /** Adds the answers to a block of frames; returns the offset of those that the allowance does not cover. */
  frames(block: Uint8Array): number {
    const [job, allowance] = [this.#job, this.#allowance];
    for (let at = 0; at < block.length; ) {
      if (allowance?.rows === 0) return at;
      allowance?.takeRows(ROWS_PER_FRAME);
      const header = readFrameHeader(block, at);
      if (header === undefined || at + header.sizeBytes > block.length) {
        // The start of the next frame is unknown, so the rest of the block is answered as one bad frame.
        this.#addBadFrame(block.subarray(at));
        return block.length;
      }
      const frame = block.subarray(at, at + header.sizeBytes);
      if (header.operation !== job.operation || (job.output !== 'frames' && !isWellFormed(frame))) {
        this.#addBadFrame(frame);
      } else if (job.output === 'frames') {
        this.#addFrame(frame, header);
        allowance?.takeRows(header.count);
      } else {
        const answered = this.#addFrameAsText(frame, header);
        if (answered < header.count) return at + beginFrameAt(frame, header, answered);
      }
      at += header.sizeBytes;
    }
    return block.length;
  }

  #addFrame(frame: Uint8Array, { count, isCells }: FrameHeader): void {
    const sink = this.#sink;
    const { refusal } = this.#job;
    const { statusCounts } = this.#memory;
    if (refusal !== undefined) {
      sink.add(refusedFrame(frame, frameStatusOf(refusal)));
      statusCounts[ROW_STATUSES.indexOf(refusal)]! += count;
      return;
    }
    // An answer with a record for each point is the longest.
    const target = sink.reserve(FRAME_HEADER_BYTES + count * RECORD_BYTES);
    const answer = answerFrame(this.#kernel, frame, target);
    if (answer[2] !== FRAME_OK) {
      statusCounts[INVALID_REQUEST]!++;
      sink.add(answer);
      return;
    }
    sink.commit(answer.length);
    if (answerCounts(answer).failed === 0) statusCounts[0]! += count;
    else this.#countStatuses(answer, FRAME_HEADER_BYTES, count, isCells);
  }

  #addBadFrame(rest: Uint8Array): void {
    const [job, sink] = [this.#job, this.#sink];
    this.#memory.statusCounts[INVALID_REQUEST]!++;
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

  /** @returns the number of points answered */
  #addFrameAsText(frame: Uint8Array, header: FrameHeader): number {
    const [kernel, allowance] = [this.#kernel, this.#allowance];
    const itemBytes = itemBytesOf(header);
    for (let from = 0; from < header.count; ) {
      const limit = Math.min(kernel.capacity, allowance?.rows ?? kernel.capacity);
      const count = Math.min(limit, header.count - from);
      if (count === 0) return from;
      this.#memory.openRows(count, header.operation === 'decode' ? NO_RESOLUTION : header.resolution);
      const start = FRAME_HEADER_BYTES + from * itemBytes;
      kernel.inputBytes.set(frame.subarray(start, start + count * itemBytes));
      const answered = this.#rows.add(count, header.resolution);
      from += answered;
      if (answered < count) return from;
    }
    return header.count;
  }

  /** Counts the point statuses of records that start at `body` as row statuses; returns how many failed. */
  #countStatuses(answer: Uint8Array, body: number, count: number, isCells: boolean): number {
    const { statusCounts } = this.#memory;
    const isDecode = this.#job.operation === 'decode';
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

  /**
   * Adds the answers to a block of text.
   * @returns as frames()
   */
  text(block: Uint8Array): number {
    const [kernel, memory, job] = [this.#kernel, this.#memory, this.#job];
    const [task, allowance] = [this.#task, this.#allowance];
    if (block.length > memory.blockBytes)
      throw new RangeError(`A block has at most ${memory.blockBytes} bytes, not ${block.length}`);
    const { exports, blockAt } = memory;
    const isDecode = job.operation === 'decode';
    const isCsv = job.input === 'csv';
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
      const answered = this.#rows.add(count, isMixed ? EACH_ITS_OWN : job.resolution);
      if (task.output === 'records' && answered > 0) this.#addRecords(answered);
      if (answered < count) return memory.rowBounds(answered)[0];
    }
    return block.length;
  }

  /** Adds the answers to rows of text as one answer frame. */
  #addRecords(count: number): void {
    const [{ output }, sink, { operation, refusal }] = [this.#kernel, this.#sink, this.#job];
    if (refusal !== undefined) {
      const empty = answerOfRecords(operation, output, 0, 0);
      sink.add(refusedFrame(empty, frameStatusOf(refusal)));
      this.#memory.statusCounts[ROW_STATUSES.indexOf(refusal)]! += count;
      return;
    }
    const failed = this.#countStatuses(output, 0, count, false);
    sink.add(answerOfRecords(operation, output, count, failed));
  }
}

/** Makes a frame of the points from `point` on, whose header overwrites the points before. Returns its offset. */
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

function frameStatusOf(refusal: 'OVER_QUERY_LIMIT' | 'UNAVAILABLE'): number {
  return refusal === 'OVER_QUERY_LIMIT' ? FRAME_OVER_LIMIT : FRAME_OVERLOADED;
}

/** Most empty fields that short rows of a block are padded with: below a wide header they may outweigh the body. */
const MAX_PADDING = 16 * BLOCK_BYTES;

/**
 * Answers a block with one array.
 * @param buffer holds the answer if it fits
 * @param sink passed by callers that convert many blocks: its memory is reused
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

/** The rows that convertInto has answered, and the offset in the block of those that it has not. */
export interface ConvertedPart extends ConvertedRows {
  /** The length of the block if all rows are answered; otherwise the rest is a block to be answered next. */
  readonly restAt: number;
}

export interface Conversion {
  /** Follows the conversion; the sink must then be an empty ByteSink. */
  readonly report?: RowReport | undefined;
  /** Ends the conversion before the row that it does not cover. */
  readonly allowance?: RowAllowance;
}

/**
 * Adds the answer to a block to a sink.
 * @param block a frame that is answered in part has bytes before its rest overwritten by the header of the rest
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
  const answers = new BlockAnswers(kernel, job, sink, conversion);
  const restAt = job.input === 'frames' ? answers.frames(block) : answers.text(block);
  const byStatus = memory.statusCounts.slice();
  const rows = byStatus.reduce((sum, count) => sum + count, 0);
  return { rows, failed: rows - byStatus[0]!, byStatus, restAt };
}

function taskOf(job: BulkJob, report: RowReport | undefined): RowsTask {
  const source = job.input === 'frames' ? FROM_FRAMES : job.input === 'csv' ? FROM_CSV : FROM_JSON;
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
