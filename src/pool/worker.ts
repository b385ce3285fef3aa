// A pool worker, loaded by piscina: one kernel, made once from the thread's workerData.
import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { Kernel } from '../hexcodes/kernel/kernel.js';
import { convertBlock } from '../hexcodes/wire/bulk/convert-block.js';
import { ByteSink } from '../hexcodes/wire/bytes/byte-sink.js';
import { answerFrame } from '../hexcodes/wire/frames/answer-frame.js';
import {
  BLOCK_BYTES,
  BulkInputError,
  type BulkJob,
  type ConvertedBlock,
  type Operation,
} from '../hexcodes/wire/job.js';
import type { ParameterFault } from '../hexcodes/wire/params/parameters.js';
import {
  BrokenBatchError,
  batchBody,
  type CountedAnswer,
  convertBatch,
  openBatch,
  TooManyItemsError,
  uncounted,
} from '../hexcodes/wire/rows/batch.js';
import { answerJsonFrame } from '../hexcodes/wire/rows/json-frame.js';
import { takeSlowRows } from '../hexcodes/wire/rows/row-report.js';
import {
  ANSWER_BUFFER_BYTES,
  answerSlice,
  type FileSlice,
  type SliceAnswer,
  type SliceWork,
} from './slices.js';

/** The parts of a worker's kernel. All threads share the module, and the bytes too where their buffers are shared. */
export interface WorkerKernel {
  readonly module: WebAssembly.Module;
  readonly index: Uint8Array;
  readonly reach: Uint8Array;
}

export type WorkOrder =
  | {
      readonly kind: 'block';
      readonly job: BulkJob;
      readonly bytes: Uint8Array;
      /** The buffer of an earlier answer, for reuse. */
      readonly answerBuffer: ArrayBuffer | undefined;
    }
  | {
      readonly kind: 'batch';
      readonly operation: Operation;
      readonly bytes: Uint8Array;
      /** A batch of more is not converted. */
      readonly maxPoints: number;
    }
  | {
      readonly kind: 'slice';
      readonly work: SliceWork;
      readonly slice: FileSlice;
      readonly answerBuffer: ArrayBuffer | undefined;
    }
  | { readonly kind: 'frame'; readonly bytes: Uint8Array; readonly answerBuffer: ArrayBuffer | undefined }
  | { readonly kind: 'json'; readonly bytes: Uint8Array; readonly maxPoints: number };

/** With the slow rows of the thread since its last answer. */
export interface CountedWork {
  readonly answer: WorkAnswer;
  readonly slow: Float64Array | undefined;
}

/** Failures of the work itself are returned as values; a rejected task therefore means that the worker has died. */
export type WorkAnswer =
  | { readonly done: ConvertedBlock | CountedAnswer | SliceAnswer | Uint8Array }
  /** A slice that the caller must convert. */
  | { readonly left: true }
  /** The faults of a batch that is not JSON. */
  | { readonly broken: readonly ParameterFault[] }
  /** The number of items of a batch that has too many. */
  | { readonly tooMany: number }
  /** Why the rest of a body cannot be read. */
  | { readonly unreadable: string }
  /** The work would fail again in the same way. */
  | { readonly fault: Error };

const { module, index, reach } = workerData as WorkerKernel;
const kernel = Kernel.create(module, index, reach);
const sink = new ByteSink();

export default function work(order: WorkOrder): CountedWork {
  const { answer, buffer } = answerTo(order);
  const counted: CountedWork = { answer, slow: takeSlowRows() };
  // The answer owns its buffer, which is transferred instead of copied.
  if (buffer === undefined) return counted;
  return move({ [transferableSymbol]: buffer, [valueSymbol]: counted }) as unknown as CountedWork;
}

function answerTo(order: WorkOrder): { answer: WorkAnswer; buffer?: ArrayBufferLike } {
  try {
    const done = order.kind === 'slice' ? answerSliceOf(order) : workOn(order);
    if (done === null) return { answer: { left: true } };
    const { buffer } = done instanceof Uint8Array ? done : done.bytes;
    return { answer: { done }, buffer };
  } catch (error) {
    if (error instanceof BrokenBatchError) return { answer: { broken: error.faults } };
    if (error instanceof TooManyItemsError) return { answer: { tooMany: error.count } };
    if (error instanceof BulkInputError) return { answer: { unreadable: error.message } };
    return { answer: { fault: error instanceof Error ? error : new Error(String(error)) } };
  }
}

function answerSliceOf({ work, slice, answerBuffer }: WorkOrder & { kind: 'slice' }): SliceAnswer | null {
  const buffer = new Uint8Array(answerBuffer ?? new ArrayBuffer(ANSWER_BUFFER_BYTES));
  return answerSlice(kernel, work, slice, sink, buffer);
}

function workOn(order: Exclude<WorkOrder, { kind: 'slice' }>): ConvertedBlock | CountedAnswer | Uint8Array {
  if (order.kind === 'block') return answerBlock(order);
  if (order.kind === 'batch') return answerBatch(order);
  if (order.kind === 'json') {
    const answer = answerJsonFrame(kernel, order.bytes, sink, order.maxPoints);
    return { ...answer, bytes: answer.bytes.slice() };
  }
  return answerFrame(
    kernel,
    order.bytes,
    new Uint8Array(order.answerBuffer ?? new ArrayBuffer(ANSWER_BUFFER_BYTES)),
  );
}

function answerBatch({ operation, bytes, maxPoints }: WorkOrder & { kind: 'batch' }): CountedAnswer {
  const batch = openBatch(operation, bytes, kernel);
  const { count } = batch.items;
  if (count > maxPoints) return uncounted(new Uint8Array(0), count);
  const converted = convertBatch(kernel, batch, sink);
  const { total, failed } = converted;
  return { bytes: batchBody(converted).slice(), total, failed, refused: 0, hint: batch.hint };
}

function answerBlock({ job, bytes, answerBuffer }: WorkOrder & { kind: 'block' }): ConvertedBlock {
  // A new answer buffer has the size that the pool can use again; the answer of a small block gets one of its own size.
  const buffer =
    answerBuffer ?? (bytes.length > BLOCK_BYTES / 4 ? new ArrayBuffer(ANSWER_BUFFER_BYTES) : undefined);
  return convertBlock(kernel, job, bytes, buffer && new Uint8Array(buffer), sink);
}
