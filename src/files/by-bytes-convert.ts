// Where the blocks of a file are converted: by the kernel of this thread, or by the workers of a pool. Both use the
// buffers of written answers again.

import type { Kernel } from '../hexcodes/kernel/kernel.js';
import { convertBlock } from '../hexcodes/wire/bulk/convert-block.js';
import { ByteSink } from '../hexcodes/wire/bytes/byte-sink.js';
import type { BulkJob, ConvertedBlock } from '../hexcodes/wire/job.js';
import { ANSWER_BUFFER_BYTES } from '../pool/block-shelf.js';
import type { PoolOptions } from '../pool/pool-options.js';

export interface BlockConverter {
  /** Most blocks that are handed in before the answer to the first of them is written. */
  readonly mostPending: number;
  convert(job: BulkJob, block: Uint8Array): Promise<ConvertedBlock>;
  /** Takes back an answer that nobody reads any more. */
  giveBack(answer: ConvertedBlock): void;
  close(): Promise<void>;
}

/** Blocks in the pool or answered and not yet written, for each thread. */
const BLOCKS_PER_THREAD = 4;

/** Converts in this thread, a block at a time. */
export function inlineConverter(kernel: Kernel): BlockConverter {
  const sink = new ByteSink();
  const free: Uint8Array<ArrayBuffer>[] = [];
  return {
    mostPending: 1,
    async convert(job, block) {
      const buffer = free.pop() ?? new Uint8Array(ANSWER_BUFFER_BYTES);
      return convertBlock(kernel, job, block, buffer, sink);
    },
    giveBack({ bytes: { buffer } }) {
      if (buffer.byteLength === ANSWER_BUFFER_BYTES) free.push(new Uint8Array(buffer));
    },
    async close() {},
  };
}

/** Starts the workers of a pool, which is loaded only here: most runs need none. */
export async function poolConverter(options: PoolOptions): Promise<BlockConverter> {
  const { Pool } = await import('../pool/pool.js');
  const pool = new Pool(options);
  return {
    mostPending: BLOCKS_PER_THREAD * pool.threads,
    async convert(job, block) {
      await pool.whenBodyMayContinue();
      return pool.convert(job, block);
    },
    giveBack: ({ bytes }) => pool.giveBack(bytes),
    close: () => pool.close(),
  };
}
