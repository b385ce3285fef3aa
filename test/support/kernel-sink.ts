// What a bulk body becomes by way of the kernel's own memory, as the service answers it.
import type { Kernel } from '#dist/kernel/kernel.js';
import { convertInto } from '#dist/wire/bulk/convert-block.js';
import { KernelSink } from '#dist/wire/bytes/kernel-sink.js';
import type { BulkJob } from '#dist/wire/job.js';

/** The answers to all blocks, put together before they are handed on: the pieces, copied. */
export function piecesByKernelSink(kernel: Kernel, job: BulkJob, blocks: readonly Uint8Array[]): Buffer[] {
  const sink = new KernelSink(kernel);
  const pieces: Buffer[] = [];
  sink.start((bytes) => pieces.push(Buffer.from(bytes)));
  for (const block of blocks) convertInto(kernel, job, block, sink);
  sink.end();
  return pieces;
}
