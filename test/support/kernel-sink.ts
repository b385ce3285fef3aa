// Answers to bulk bodies by way of KernelSink, as the service makes them.

import { convertInto } from '#dist/hexcodes/wire/bulk/convert-block.js';
import { KernelSink } from '#dist/hexcodes/wire/bytes/kernel-sink.js';
import type { BulkJob } from '#dist/hexcodes/wire/job.js';
import type { Kernel } from '#hexcodes';

/** Copies of the pieces in which the sink passes on the answers to all blocks. */
export function piecesByKernelSink(kernel: Kernel, job: BulkJob, blocks: readonly Uint8Array[]): Buffer[] {
  const sink = new KernelSink(kernel);
  const pieces: Buffer[] = [];
  sink.start((bytes) => pieces.push(Buffer.from(bytes)));
  for (const block of blocks) convertInto(kernel, job, block, sink);
  sink.end();
  return pieces;
}
