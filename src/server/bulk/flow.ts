// One /bulk body under way: blocks come from the intake, are converted here or in the pool, and leave in order. peer
// ─► BulkIntake ─► kernel or PooledBlocks ─► BulkResponse ─► peer

import { convertInto } from '../../hexcodes/wire/bulk/convert-block.js';
import type { Block } from '../../hexcodes/wire/bulk/splitters.js';
import { framesAnswerBytes } from '../../hexcodes/wire/frames/answer-frame.js';
import type { BulkJob, ConvertedBlock, ConvertedRows } from '../../hexcodes/wire/job.js';
import type { Pool } from '../../pool/pool.js';
import type { Exchange } from '../http/exchange.js';
import { blockAllowance, inlineBlockBytes, partAllowance, type WorkAllowance } from '../http/offload.js';
import type { KeyFault, OpenWork } from '../keys/key-ring.js';
import { AnsweredError, CUT_OFF } from '../transport/limits.js';
import { BulkIntake } from './intake.js';
import { type Admission, BulkLimit } from './limit.js';
import type { ParsedBulkRequest } from './request.js';
import { type BulkContext, BulkResponse } from './response.js';

// Computes the length of an answer that is known before its first byte: then it has a Content-Length and no chunk
// headers. The whole body must have been received, without an error in it.

/** A body with more frames gets a chunked answer: reading all their headers at once would hold up other requests. */
const MAX_SIZED_FRAMES = 4096;

/** Before the conversion: the headers of frames determine the length of their answers. */
function sizeFromFrameHeaders({ hasEnded, error, job, blocks }: BulkIntake): number | undefined {
  if (!hasEnded || error !== undefined || blocks.length === 0) return undefined;
  if (job?.input !== 'frames' || job.output !== 'frames') return undefined;
  return framesAnswerBytes(job, blocks, MAX_SIZED_FRAMES);
}

/** After the conversion, into `answeredBytes`. An answer without a byte has no size: it is sent in chunks. */
function sizeFromAnswers(intake: BulkIntake, answeredBytes: number): number | undefined {
  const { hasEnded, error, blocks, head } = intake;
  if (!hasEnded || error !== undefined || blocks.length > 0) return undefined;
  const sizeBytes = head.length + answeredBytes;
  return sizeBytes === 0 ? undefined : sizeBytes;
}

/**
 * Lower bound of the answer's size before any byte of the body; 0 where the head does not tell. A row of CSV that is
 * answered as CSV comes back whole.
 * @param bodySizeBytes -1 for a body in chunks
 */
export function minAnswerBytes(
  { conversion, gzipIn, gzipOut }: ParsedBulkRequest,
  bodySizeBytes: number,
): number {
  const { input, output } = conversion?.request ?? {};
  const isEchoed = input === 'csv' && output === 'csv' && !gzipIn && !gzipOut;
  return isEchoed ? Math.max(0, bodySizeBytes) : 0;
}

/**
 * Most bytes of one body's blocks in the pool: enough for a block on each of a few cores, and few enough to hold
 * their answers for a slow reader. One block, a frame of 1.3 MB at most, is always allowed.
 */
const MAX_POOLED_BYTES = 1024 * 1024;

type RowCounts = Pick<ConvertedRows, 'rows' | 'failed'>;
const NOTHING_CONVERTED: RowCounts = { rows: 0, failed: 0 };

interface PendingAnswer {
  readonly blockBytes: number;
  answer: ConvertedBlock | undefined;
}

/** The blocks of one body that are in the pool. Answers arrive in any order and are taken in the order of the body. */
class PooledBlocks {
  #pending: PendingAnswer[] = [];
  #isWaitingForPool = false;

  /** @param onProgress called when an answer has arrived, and when the pool takes blocks again */
  constructor(
    private readonly x: Exchange,
    private readonly pool: Pool,
    private readonly onProgress: () => void,
  ) {}

  /** No block is in the pool, and no answer waits to be taken. */
  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** Whether the body waits for the pool, not for its peer. */
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

  /** Bytes of memory of answers that have not been taken. The pool bounds those of its blocks. */
  get heldBytes(): number {
    return this.#pending.reduce((sum, { answer }) => sum + (answer?.bytes.buffer.byteLength ?? 0), 0);
  }

  /** Whether the pool takes the block now; otherwise `onProgress` is called when it may. */
  mayConvert(block: Uint8Array): boolean {
    if (this.#isWaitingForPool) return false;
    const pooledBytes = this.#pending.reduce((sum, { blockBytes }) => sum + blockBytes, 0);
    if (!this.isEmpty && pooledBytes + block.length > MAX_POOLED_BYTES) return false;
    if (!this.pool.mayTakeBodyBlock(this.x.keyId)) {
      this.#isWaitingForPool = true;
      this.x.after(this.pool.whenBodyMayContinue(this.x.keyId), () => {
        this.#isWaitingForPool = false;
        this.onProgress();
      });
      return false;
    }
    return true;
  }

  /**
   * Copies a block to the pool, which accepts it now.
   * @param settle called with the outcome of the rows, even if the body is gone
   */
  convert(job: BulkJob, block: Uint8Array, settle: (converted: RowCounts) => void): void {
    const pending: PendingAnswer = { blockBytes: block.length, answer: undefined };
    this.#pending.push(pending);
    const answered = this.pool.convert(job, block, this.x.keyId);
    answered.then(settle, () => settle(NOTHING_CONVERTED));
    this.x.after(answered, (answer) => {
      pending.answer = answer;
      this.onProgress();
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

/**
 * Bytes of blocks that one turn of the event loop converts here: a millisecond of text, half a millisecond of frames. A
 * single request waits that long for each body under way.
 */
const TURN_BYTES = 512 * 1024;

/** Bytes of one write, which fit the second-level cache: each write costs a system call. */
const WRITE_BYTES = 512 * 1024;

/**
 * Largest body that is answered in the callback that brings it in one chunk. With a pending answer uWS would close
 * the connection at the next pipelined request and lose the answers in its cork (transport/README U12, U13).
 */
const MAX_IMMEDIATE_BYTES = 8 * 1024;

/** Most memory of zlib for one stream. */
const GZIP_BYTES = 320 * 1024;

/** The peer has neither sent nor read anything for too long. */
export class StalledPeerError extends AnsweredError {
  override readonly name = 'StalledPeerError';

  constructor(message: string) {
    super(message, { status: 408, message: 'the body took too long', close: true, logged: CUT_OFF });
  }
}

/** The key of the body is no longer accepted. */
export class RevokedKeyError extends AnsweredError {
  override readonly name = 'RevokedKeyError';

  constructor({ status, message }: KeyFault) {
    super(message, { status, close: true, logged: CUT_OFF });
  }
}

/**
 * Every part holds a bounded number of bytes. A full part stops the parts before it, and finally the reading of this
 * body. The exchange runs all callbacks (`guard`, `nextTurn`, `after`) and handles everything thrown in this folder.
 */
export class BulkFlow {
  readonly #intake: BulkIntake;
  readonly #pooled: PooledBlocks;
  readonly #response: BulkResponse;
  readonly #limit: BulkLimit;
  #isTurnDue = false;
  /** Time when the body last waited for its key. */
  #waitedMs = 0;
  /** The rest of a block that has too many slow rows for this thread: it goes to the pool. */
  #slowBlock: Block | undefined;

  /** @param onOver called once when the exchange is over */
  constructor(
    private readonly x: Exchange,
    readonly work: OpenWork,
    private readonly request: ParsedBulkRequest,
    private readonly context: BulkContext,
    onOver: () => void,
  ) {
    const moreToDo = (): void => this.#scheduleTurn();
    this.#pooled = new PooledBlocks(x, context.pool, moreToDo);
    this.#limit = new BulkLimit(x.notes.entry, moreToDo);
    this.#response = new BulkResponse(x, request, context, {
      head: () => this.#intake.head,
      drain: moreToDo,
    });
    this.#intake = new BulkIntake(x, request, context, () => this.#onInput());
    x.onOver = () => {
      this.#intake.close();
      this.#response.close();
      this.#pooled.clear();
      this.#limit.close();
      onOver();
    };
  }

  /** Called periodically: spools the answer of a peer that does not read, and ends that of a stalled peer. */
  sweep(nowMs: number): void {
    this.x.guard(() => {
      const { isReceived, lastChunkMs } = this.#intake;
      this.#response.sweep(nowMs, !isReceived);
      this.#hold();
      if (this.#pooled.isWorking) return;
      if (this.#limit.isWaiting) {
        this.#waitedMs = nowMs;
        // A request without an answer has a deadline once its body has come.
        if (isReceived) this.#response.begin();
        return;
      }
      const lastMs = Math.max(lastChunkMs, this.#response.progressMs, this.#waitedMs);
      if (nowMs - lastMs < this.context.times.noProgressMs) return;
      throw new StalledPeerError(
        isReceived ? 'the peer takes no more of its answer' : 'the peer neither sends nor reads',
      );
    });
  }

  /** Ends the body, because its key was changed. */
  revoke(fault: KeyFault): void {
    this.x.reject(new RevokedKeyError(fault));
  }

  /**
   * Reports the memory that this body holds.
   * @throws OverBudgetError
   */
  #hold(): void {
    const { gzipIn, gzipOut } = this.request;
    const gzipBytes = (gzipIn ? GZIP_BYTES : 0) + (gzipOut ? GZIP_BYTES : 0);
    this.x.hold(gzipBytes + this.#intake.heldBytes + this.#pooled.heldBytes + this.#response.heldBytes);
  }

  #onInput(): void {
    this.#hold();
    const { onePieceBytes = Number.POSITIVE_INFINITY } = this.#intake;
    if (onePieceBytes > MAX_IMMEDIATE_BYTES || this.request.gzipOut) {
      this.#scheduleTurn();
    } else {
      this.#response.collect();
      this.#takeTurn();
    }
  }

  /** In a turn of the event loop of its own, where writes are not corked and so may be large (ChunkedAnswer). */
  #scheduleTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    this.x.nextTurn(() => {
      this.#isTurnDue = false;
      this.#takeTurn();
    });
  }

  /** Sends the answers that have arrived, converts blocks, and stops or resumes the intake. */
  #takeTurn(): void {
    const intake = this.#intake;
    // Before the first byte of the answer the peer can still be told what is wrong.
    if (intake.error !== undefined && !this.#response.hasBegun) throw intake.error;
    this.#sendPooled();
    // With nothing else to do, answer the rows of a partial block: a slow body is answered as it comes.
    if (intake.blocks.length === 0 && this.#pooled.isEmpty) intake.flush();
    if (this.#response.isSizeable && this.#pooled.isEmpty && !this.#limit.mayRefuse) {
      this.#response.setSize(sizeFromFrameHeaders(intake));
    }
    const convertedBytes = intake.job === undefined ? 0 : this.#convert(intake.job);
    if (this.x.state === 'over') return;
    const isIdle = intake.blocks.length === 0 && this.#pooled.isEmpty;
    if (isIdle && intake.error !== undefined) throw intake.error;
    if (isIdle && intake.hasEnded) {
      this.#response.end();
      return;
    }
    this.#hold();
    intake.setStopped(!intake.hasEnded && (intake.blocks.length > 0 || this.#response.isFull));
    // Another turn for the remaining blocks, or to flush rows of a partial block.
    if (convertedBytes > 0 && !this.#response.isFull) this.#scheduleTurn();
  }

  /** Converts blocks as far as the turn, the pool and the response allow; returns how many bytes in this thread. */
  #convert(job: BulkJob): number {
    const { sink, buffers } = this.context;
    const intake = this.#intake;
    const allowance = blockAllowance(job);
    let convertedBytes = 0;
    sink.start((bytes, isLast) => this.#sendNow(bytes, isLast && this.#isAllConverted));
    const mayGoOn = (): boolean => convertedBytes < TURN_BYTES && allowance.rows > 0;
    while (intake.blocks.length > 0 && !this.#response.isFull && mayGoOn()) {
      const block = intake.blocks[0]!;
      const isInline = this.#isInline(job, block);
      if (!isInline && !this.#pooled.mayConvert(block)) break;
      const admission = this.#limit.admit(job, block, this.#pooled.isEmpty);
      if (admission === undefined) break;
      const { part, rows } = admission;
      if (isInline || rows !== undefined) {
        const allowed = rows === undefined ? allowance : partAllowance(rows);
        const restAt = this.#convertNow(admission, allowed);
        convertedBytes += restAt;
        if (restAt < block.length) {
          intake.keepRest(restAt);
          if (rows !== undefined) break;
          if (allowed.isSlowSpent) this.#slowBlock = intake.blocks[0];
          continue;
        }
        buffers.giveBack(intake.shift());
        // Without chunk headers small writes are cheap. The last bytes are left to `end`, which marks the end.
        const isEnough = this.#response.isSized || sink.sizeBytes >= WRITE_BYTES;
        if (isEnough && !this.#isAllConverted) sink.flush();
      } else {
        this.#pooled.convert(admission.job, part, (converted) => this.#settle(admission, converted));
        if (part.length < block.length) intake.keepRest(part.length);
        else buffers.giveBack(intake.shift());
      }
    }
    sink.end();
    return convertedBytes;
  }

  /**
   * Converts the admitted rows in this thread, as far as the allowance goes; returns the offset of the rest in the
   * block.
   */
  #convertNow(admission: Admission, allowance: WorkAllowance): number {
    const { kernel, sink } = this.context;
    let converted = NOTHING_CONVERTED;
    try {
      const answered = convertInto(kernel, admission.job, admission.part, sink, { allowance });
      converted = answered;
      return answered.restAt;
    } finally {
      this.#settle(admission, converted);
    }
  }

  #settle(admission: Admission, converted: RowCounts): void {
    this.#limit.settle(admission, converted);
  }

  #isInline(job: BulkJob, block: Block): boolean {
    return this.#pooled.isEmpty && block !== this.#slowBlock && block.length <= inlineBlockBytes(job.input);
  }

  get #isAllConverted(): boolean {
    return this.#intake.hasEnded && this.#intake.blocks.length === 0 && this.#pooled.isEmpty;
  }

  /** Sends what this thread has converted. The bytes are valid during this call only. */
  #sendNow(bytes: Uint8Array, isLast: boolean): void {
    if (isLast && this.#response.isSizeable) {
      this.#response.setSize(sizeFromAnswers(this.#intake, bytes.length));
    }
    this.#response.writeNow(bytes, isLast);
  }

  /** Sends what the pool has converted, as far as the order of the body allows. */
  #sendPooled(): void {
    const { answeredBytes } = this.#pooled;
    if (this.#response.isSizeable && !this.#pooled.isEmpty && answeredBytes !== undefined) {
      this.#response.setSize(sizeFromAnswers(this.#intake, answeredBytes));
    }
    while (!this.#response.isFull) {
      const answer = this.#pooled.shift();
      if (answer === undefined) return;
      const { bytes } = answer;
      this.#response.write(bytes, () => this.context.pool.giveBack(bytes));
    }
  }
}
