// Shared by all /bulk bodies of a server.
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import type { BlockBuffers } from '../../hexcodes/wire/bulk/block-buffers.js';
import type { KernelSink } from '../../hexcodes/wire/bytes/kernel-sink.js';
import type { Pool } from '../../pool/pool.js';
import type { Logger } from '../log.js';
import type { BulkTimes } from './outlet.js';
import type { Spools } from './spool.js';

export interface BulkContext {
  readonly kernel: Kernel;
  readonly pool: Pool;
  /** Holds the answers of blocks that this thread converts; empty between two turns of the event loop. */
  readonly sink: KernelSink;
  /** Buffers for the blocks of all bodies. */
  readonly buffers: BlockBuffers;
  readonly spools: Spools;
  readonly times: BulkTimes;
  readonly logger: Logger;
}
