// A pool worker: one kernel, made once from what the thread was given, and nothing else. Loaded by piscina.
import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { Kernel } from '../kernel/kernel.js';
import { convertBlock } from '../wire/bulk/convert-block.js';
import { ByteSink } from '../wire/bytes/byte-sink.js';
import { answerFrame } from '../wire/frames/answer-frame.js';
import { BLOCK_BYTES, type BulkJob, type ConvertedBlock, type Operation } from '../wire/job.js';
import type { ParameterFault } from '../wire/params/parameters.js';
import { BrokenBatchError, batchBody, convertBatch, openBatch } from '../wire/rows/batch.js';
import { answerJsonFrame } from '../wire/rows/json-frame.js';
import { ROOM_BYTES } from './block-shelf.js';

/** What a worker makes its kernel of. The module is shared by all threads; so are the other two if they may be. */
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
      /** Where the answer may be put: the buffer of an earlier one. */
      readonly room: ArrayBuffer | undefined;
    }
  | { readonly kind: 'batch'; readonly operation: Operation; readonly bytes: Uint8Array }
  | { readonly kind: 'frame'; readonly bytes: Uint8Array; readonly room: ArrayBuffer | undefined }
  | { readonly kind: 'json'; readonly bytes: Uint8Array };

/** `fault`: the work itself failed, and would fail again; anything else that goes wrong is the worker's end. */
export type WorkAnswer =
  | { readonly done: ConvertedBlock | Uint8Array }
  /** What is wrong with a batch. */
  | { readonly broken: readonly ParameterFault[] }
  | { readonly fault: Error };

const { module, index, reach } = workerData as WorkerKernel;
const kernel = Kernel.create(module, index, reach);
const sink = new ByteSink();

export default function work(order: WorkOrder): WorkAnswer {
  try {
    const done = workOn(order);
    // An answer owns its buffer, which changes hands instead of being copied.
    const { buffer } = done instanceof Uint8Array ? done : done.bytes;
    return move({ [transferableSymbol]: buffer, [valueSymbol]: { done } }) as unknown as WorkAnswer;
  } catch (error) {
    if (error instanceof BrokenBatchError) return { broken: error.faults };
    return { fault: error instanceof Error ? error : new Error(String(error)) };
  }
}

function workOn(order: WorkOrder): ConvertedBlock | Uint8Array {
  if (order.kind === 'block') return answerBlock(order);
  if (order.kind === 'batch') return batchBody(convertBatch(kernel, openBatch(order.operation, order.bytes)));
  if (order.kind === 'json') return answerJsonFrame(kernel, order.bytes);
  return answerFrame(kernel, order.bytes, new Uint8Array(order.room ?? new ArrayBuffer(ROOM_BYTES)));
}

function answerBlock({ job, bytes, room }: WorkOrder & { kind: 'block' }): ConvertedBlock {
  // A new buffer for an answer is made so that it can be used again for others; small blocks are not worth one.
  const buffer = room ?? (bytes.length > BLOCK_BYTES / 4 ? new ArrayBuffer(ROOM_BYTES) : undefined);
  return convertBlock(kernel, job, bytes, buffer && new Uint8Array(buffer), sink);
}
