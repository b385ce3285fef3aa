// Answers one block of a bulk body: whole rows or frames come in, as many leave, in the same order. The same job and
// block give the same bytes in every thread.
import type { Kernel } from '../../kernel/kernel.js';
import {
  FROM_CSV,
  FROM_FRAMES,
  FROM_JSON,
  type TextMemory,
  WITH_CERTAINTY,
  WITH_FORMER,
  WITH_ID,
  WITH_RESOLUTION,
  WITH_ROW,
} from '../../kernel/text-memory.js';
import type { AnswerSink } from '../bytes/answer-sink.js';
import { ByteSink } from '../bytes/byte-sink.js';
import { copyBytes } from '../bytes/copy-bytes.js';
import { refusedFrame } from '../frames/answer-frame.js';
import { answerOfRecords } from '../frames/frame-sequence.js';
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
import { convertFrames, countStatuses, frameStatusOf } from './convert-frames.js';

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
    (job.former === true ? WITH_FORMER : 0) |
    (job.certainty === true ? WITH_CERTAINTY : 0);
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
      if (padding > MOST_PADDING)
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
