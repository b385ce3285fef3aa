// A pool worker: one kernel, made once from what the thread was given, and nothing else. Loaded by piscina.
import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { Kernel } from '../kernel/kernel.js';
import { convertBlock } from '../wire/convert.js';
import type { BulkJob, ConvertedBlock } from '../wire/job.js';
import { answerFrame } from '../wire/stream-frames.js';

/** What a worker makes its kernel of. The module is shared by all threads; so are the other two if they may be. */
export interface WorkerKernel {
  readonly module: WebAssembly.Module;
  readonly index: Uint8Array;
  readonly reach: Uint8Array;
}

export type WorkOrder =
  | { readonly kind: 'block'; readonly job: BulkJob; readonly bytes: Uint8Array }
  | { readonly kind: 'frame'; readonly bytes: Uint8Array };

/** `fault`: the work itself failed, and would fail again; anything else that goes wrong is the worker's end. */
export type WorkAnswer = { readonly done: ConvertedBlock | Uint8Array } | { readonly fault: Error };

const { module, index, reach } = workerData as WorkerKernel;
const kernel = Kernel.create(module, index, reach);

export default function work(order: WorkOrder): WorkAnswer {
  try {
    const done =
      order.kind === 'frame'
        ? answerFrame(kernel, order.bytes)
        : convertBlock(kernel, order.job, order.bytes);
    // An answer owns its buffer, which changes hands instead of being copied.
    const { buffer } = done instanceof Uint8Array ? done : done.bytes;
    return move({ [transferableSymbol]: buffer, [valueSymbol]: { done } }) as unknown as WorkAnswer;
  } catch (error) {
    return { fault: error instanceof Error ? error : new Error(String(error)) };
  }
}
