// The blocks of one body that are in the pool. Answers arrive in any order and are taken in the order of the body.

import type { BulkJob, ConvertedBlock } from '../../hexcodes/wire/job.js';
import type { Pool } from '../../pool/pool.js';
import type { Exchange } from '../http/exchange.js';

/**
 * Bytes of one body's blocks that may be in the pool: enough for a block on each of a few cores, and little enough to
 * hold their answers for a slow reader. One block, a frame of 1.3 MB at most, is always allowed.
 */
const MAX_POOLED_BYTES = 1024 * 1024;

type RowCounts = Pick<ConvertedBlock, 'rows' | 'failed'>;
const NOTHING_CONVERTED: RowCounts = { rows: 0, failed: 0 };

interface PendingAnswer {
  readonly blockBytes: number;
  answer: ConvertedBlock | undefined;
}

export class PooledBlocks {
  readonly #x: Exchange;
  readonly #pool: Pool;
  readonly #onProgress: () => void;
  #pending: PendingAnswer[] = [];
  #isWaitingForPool = false;

  /** @param onProgress called when an answer has arrived, and when the pool takes blocks again */
  constructor(x: Exchange, pool: Pool, onProgress: () => void) {
    this.#x = x;
    this.#pool = pool;
    this.#onProgress = onProgress;
  }

  /** No block is in the pool, and no answer waits to be taken. */
  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** The body waits for the pool, not for its peer. */
  get isWorking(): boolean {
    return this.#isWaitingForPool || this.#pending.some(({ answer }) => answer === undefined);
  }

  /** Bytes of all answers, if all have arrived. */
  get answeredBytes(): number | undefined {
    let sizeBytes = 0;
    for (const { answer } of this.#pending) {
      if (answer === undefined) return undefined;
      sizeBytes += answer.bytes.length;
    }
    return sizeBytes;
  }

  /** Bytes of memory that the answers hold which wait to be taken. The pool bounds those of its blocks. */
  get heldBytes(): number {
    return this.#pending.reduce((sum, { answer }) => sum + (answer?.bytes.buffer.byteLength ?? 0), 0);
  }

  /** Whether the pool takes the block now; otherwise `onProgress` is called when it may. */
  mayConvert(block: Uint8Array): boolean {
    if (this.#isWaitingForPool) return false;
    const pooledBytes = this.#pending.reduce((sum, { blockBytes }) => sum + blockBytes, 0);
    if (!this.isEmpty && pooledBytes + block.length > MAX_POOLED_BYTES) return false;
    if (!this.#pool.mayTakeBodyBlock(this.#x.keyId)) {
      this.#isWaitingForPool = true;
      this.#x.after(this.#pool.whenBodyMayContinue(this.#x.keyId), () => {
        this.#isWaitingForPool = false;
        this.#onProgress();
      });
      return false;
    }
    return true;
  }

  /**
   * Copies a block to the pool, which takes it now.
   * @param settle called with what became of the rows, whether or not the body is still there
   */
  convert(job: BulkJob, block: Uint8Array, settle: (converted: RowCounts) => void): void {
    const pending: PendingAnswer = { blockBytes: block.length, answer: undefined };
    this.#pending.push(pending);
    const answered = this.#pool.convert(job, block, this.#x.keyId);
    answered.then(settle, () => settle(NOTHING_CONVERTED));
    this.#x.after(answered, (answer) => {
      pending.answer = answer;
      this.#onProgress();
    });
  }

  /** Takes the next answer of the body, if it has arrived. */
  shift(): ConvertedBlock | undefined {
    const answer = this.#pending[0]?.answer;
    if (answer !== undefined) this.#pending.shift();
    return answer;
  }

  clear(): void {
    this.#pending = [];
  }
}
