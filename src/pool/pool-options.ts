// Options and figures of a pool.
import type { WorkerKernel } from './worker.js';

export interface PoolOptions {
  readonly kernel: WorkerKernel;
  /** Most worker threads; default: one for each core, up to four. */
  readonly threads?: number;
  /**
   * Idle time after which a thread ends; threads are made when work comes. Undefined: all are made at once, and stay.
   */
  readonly threadIdleMs?: number;
  /** Most blocks that wait for a worker; default 32 a thread. */
  readonly maxQueued?: number;
  /** Most bytes of all blocks in the pool, waiting or being answered; default 64 MiB. */
  readonly maxBytes?: number;
  /** Called when a block is answered: how long it has waited for its turn, and then for its answer. */
  readonly timed?: (waitedMs: number, ranMs: number) => void;
}

/** Present and total counts. */
export interface PoolFigures {
  /** Blocks in the pool now, and their bytes. */
  readonly blocks: number;
  readonly bytes: number;
  /** Those among them that wait for their turn. */
  readonly queued: number;
  /** Bodies that wait until they may hand in their next block. */
  readonly waitingBodies: number;
  /** Blocks answered, or given up, since the start. */
  readonly completed: number;
  readonly lostWorkers: number;
}
