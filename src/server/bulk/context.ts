// What all /bulk bodies share, and what they tell the one who keeps them.
import type { Kernel } from '../../kernel/kernel.js';
import type { Pool } from '../../pool/pool.js';
import type { KernelSink } from '../../wire/bytes/kernel-sink.js';
import type { Exchange } from '../transport/exchange.js';
import type { BulkFlow } from './flow.js';
import type { BulkTimes } from './outlet.js';
import type { Spools } from './spool.js';

export interface BulkRoom {
  readonly kernel: Kernel;
  readonly pool: Pool;
  /** Of the kernel, for what is answered in this thread; nothing stays in it from one turn to the next. */
  readonly sink: KernelSink;
  readonly spools: Spools;
  readonly times: BulkTimes;
  /** The body cannot be used: answers 400 and closes. */
  refuse(x: Exchange, message: string): void;
  /** An answer goes by way of the spool from now on. */
  spooling(x: Exchange): void;
  /** An answer was cut off; says why. */
  cutOff(x: Exchange, error: Error): void;
  /** The flow is over, in whatever way. */
  over(flow: BulkFlow): void;
}
