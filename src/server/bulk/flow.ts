// One /bulk body on its way: chunks in, blocks through the kernel or the pool, answers out in the order of the rows.
//
//   peer ─► BulkIntake ─► blocks ─► kernel or pool ─► in order ─► [gzip] ─► BulkOutlet ─► peer
//
// Blocks are converted in turns of the event loop of their own, where the binary lends no cork and what the kernel makes can
// leave from where it stands (chunked.ts).
//
// Each part holds a bounded number of blocks. When one is full, the parts before it stop, and at last the reading of
// this body; nobody else's. Whatever goes wrong before the first byte of the answer is an ordinary error answer; after
// it the connection ends without the final chunk or short of the length, so that no part of an answer passes for the whole.
import { type Block, giveBackBlock } from '../../wire/bulk/block-buffers.js';
import { convertInto } from '../../wire/bulk/convert-block.js';
import { framesAnswerBytes } from '../../wire/frames/frame-sequence.js';
import { BulkInputError, type BulkJob, type ConvertedBlock } from '../../wire/job.js';
import { inlineBlockBytes } from '../offload.js';
import type { Exchange } from '../transport/exchange.js';
import type { BulkRoom } from './context.js';
import { GzipBodyError, gzipStage, type Stage } from './gzip.js';
import { BulkIntake } from './intake.js';
import { BulkOutlet } from './outlet.js';
import { type BulkAsk, CONTENT_TYPES } from './request.js';

/**
 * Bytes of one body's blocks that may be at work at once in the pool, and whose answers may therefore wait for their reader:
 * enough for a block on each of a few cores. One block, a frame of 1.3 MB at most, is always allowed.
 */
const AT_WORK_BYTES = 1024 * 1024;

/**
 * Bytes of blocks that one turn of the event loop answers here: a millisecond of text, half of one of frames. Whoever asks
 * for a single code waits so long for each body under way.
 */
const TURN_BYTES = 512 * 1024;

/** Answers leave once they are so many bytes, while they are in the second-level cache: a write has its price too. */
const WRITE_BYTES = 512 * 1024;

/**
 * A body that comes in one piece of at most this many bytes is answered whole, before the binary looks at the next
 * request: had it to close the connection because of a pending answer, those in its cork would be lost.
 */
const WHOLE_BODY_BYTES = 8 * 1024;

/** Looking at more headers of frames than these would hold up others; the answer leaves in chunks then. */
const MOST_SIZED_FRAMES = 4096;

const VARY = '\r\nVary: Accept, Accept-Encoding';

interface Slot {
  readonly blockBytes: number;
  answer: ConvertedBlock | undefined;
}

export class BulkFlow {
  readonly #x: Exchange;
  readonly #room: BulkRoom;
  readonly #ask: BulkAsk;
  readonly #intake: BulkIntake;
  #gzip: Stage | undefined;
  #gzipIsFull = false;
  #outlet: BulkOutlet | undefined;
  /** Of the whole answer, where it is known before the answer begins. */
  #sizeBytes: number | undefined;
  /** The answer so far, where it goes out whole; none of it is given back before. */
  #whole: Uint8Array[] | undefined;

  #hasTurn = false;
  /** Blocks at work, in the order of the body. */
  #slots: Slot[] = [];
  #isWaitingForPool = false;
  /** Everything is handed over; the outlet finishes on its own. */
  #ended = false;
  #over = false;

  constructor(x: Exchange, ask: BulkAsk, room: BulkRoom) {
    this.#x = x;
    this.#ask = ask;
    this.#room = room;
    x.onOver = () => this.#close();
    this.#intake = new BulkIntake(x, ask, {
      came: (onePieceBytes) => {
        if (onePieceBytes === undefined || onePieceBytes > WHOLE_BODY_BYTES || ask.gzipOut) {
          this.#pumpSoon();
        } else {
          this.#whole = [];
          // Without a turn: before the binary looks at the next request.
          this.#pump();
        }
      },
      failed: (error) => this.#fail(error),
      guard: (work) => this.#guard(work),
    });
  }

  /** Called now and then. */
  sweep(nowMs: number): void {
    if (this.#over) return;
    if (this.#x.state === 'over') {
      this.#close();
      return;
    }
    const { times } = this.#room;
    this.#guard(() => {
      if (!this.#intake.isBodyHere && this.#outlet?.sweep(nowMs, times)) this.#room.spooling(this.#x);
    });
    // Until the body is complete the transport's own clock watches the reading, unless we stopped it.
    const { isBodyHere, isStopped, lastChunkMs } = this.#intake;
    const lastMs = Math.max(lastChunkMs, this.#outlet?.progressMs ?? 0);
    const isOurs = this.#isWaitingForPool || this.#slots.some((slot) => slot.answer === undefined);
    if ((isBodyHere || isStopped) && !isOurs && nowMs - lastMs >= times.noProgressMs) {
      this.#fail(new Error('the peer takes no more of its answer'));
    }
  }

  #pumpSoon(): void {
    if (this.#hasTurn || this.#over) return;
    this.#hasTurn = true;
    setImmediate(() =>
      this.#guard(() => {
        this.#hasTurn = false;
        this.#pump();
      }),
    );
  }

  /** One turn: answers what it can, here or in the pool, and sends what is answered. */
  #pump(): void {
    const intake = this.#intake;
    const { kernel, pool, sink } = this.#room;
    const { job } = intake;
    this.#deliver();
    // A body that comes slowly is answered as it comes; one that comes fast, in full blocks.
    if (intake.blocks.length === 0 && this.#slots.length === 0) intake.flush();
    this.#sizeBytes ??= this.#sizeOfFrames();
    sink.start((bytes, isLast) => this.#writeNow(bytes, isLast && this.#isAllConverted));
    let answeredBytes = 0;
    while (intake.blocks.length > 0 && job !== undefined && !this.#isFull && !this.#isWaitingForPool) {
      // Others have their turn.
      if (answeredBytes >= TURN_BYTES) break;
      const block = intake.blocks[0]!;
      if (this.#slots.length === 0 && block.length <= inlineBlockBytes(job.input)) {
        intake.shift();
        convertInto(kernel, job, block, sink);
        answeredBytes += block.length;
        giveBackBlock(block);
        // Without the heads of chunks a write costs little. What comes last is told apart.
        const isEnough = this.#sizeBytes !== undefined || sink.sizeBytes >= WRITE_BYTES;
        if (isEnough && !this.#isAllConverted) sink.flush();
      } else if (!this.#mayWorkOn(block)) {
        break;
      } else if (pool.mayTakeBodyBlock) {
        intake.shift();
        this.#convertInPool(job, block);
      } else {
        this.#waitForPool();
      }
    }
    sink.end();
    const isDone = intake.blocks.length === 0 && this.#slots.length === 0;
    if (isDone && intake.error !== undefined) {
      this.#fail(intake.error);
    } else if (isDone && intake.hasEnded) {
      this.#end();
    } else {
      intake.setStopped(!intake.hasEnded && (intake.blocks.length > 0 || this.#isFull));
      // For the rest, or for what the reader still keeps if nothing comes before that.
      if (answeredBytes > 0 && !this.#isFull) this.#pumpSoon();
    }
  }

  get #isAllConverted(): boolean {
    return this.#intake.hasEnded && this.#intake.blocks.length === 0 && this.#slots.length === 0;
  }

  #convertInPool(job: BulkJob, block: Block): void {
    const slot: Slot = { blockBytes: block.length, answer: undefined };
    this.#slots.push(slot);
    this.#room.pool.convert(job, block).then(
      (answer) => {
        slot.answer = answer;
        this.#pumpSoon();
      },
      (error: Error) => this.#fail(error),
    );
    // The pool has copied it.
    giveBackBlock(block);
  }

  #waitForPool(): void {
    this.#isWaitingForPool = true;
    this.#room.pool.whenBodyMayContinue().then(
      () => {
        this.#isWaitingForPool = false;
        this.#pumpSoon();
      },
      (error: Error) => this.#fail(error),
    );
  }

  #mayWorkOn(block: Uint8Array): boolean {
    const atWorkBytes = this.#slots.reduce((sum, slot) => sum + slot.blockBytes, 0);
    return this.#slots.length === 0 || atWorkBytes + block.length <= AT_WORK_BYTES;
  }

  /** Hands over what is answered, as far as nothing before it is still at work. */
  #deliver(): void {
    if (this.#slots.length > 0) this.#sizeBytes ??= this.#sizeOfAnswers(0);
    while (this.#slots[0]?.answer !== undefined && !this.#isFull) {
      const { bytes } = this.#slots.shift()!.answer!;
      this.#write(bytes, () => this.#room.pool.giveBack(bytes));
    }
  }

  get #isFull(): boolean {
    return this.#gzipIsFull || this.#outlet?.isFull === true;
  }

  #write(bytes: Uint8Array, taken?: () => void): void {
    // Blank lines have no answer: as long as there is none, the request can still be refused.
    if (bytes.length === 0) return;
    if (this.#whole !== undefined) {
      this.#whole.push(bytes);
      return;
    }
    this.#begin();
    if (this.#gzip === undefined) this.#outlet!.write(bytes, taken);
    else if (!this.#gzip.write(bytes, taken)) this.#gzipIsFull = true;
  }

  /** The same with bytes that hold during the call only; `isLast`: they are the last of all. */
  #writeNow(bytes: Uint8Array, isLast: boolean): void {
    let wentBytes = 0;
    if (this.#whole === undefined && !this.#ask.gzipOut && bytes.length > 0) {
      if (isLast) this.#sizeBytes ??= this.#sizeOfAnswers(bytes.length);
      this.#begin();
      wentBytes = this.#outlet!.writeNow(bytes, isLast);
    }
    if (wentBytes === bytes.length) return;
    const { pool } = this.#room;
    const rest = pool.copyOf(bytes.subarray(wentBytes));
    this.#write(rest, () => pool.giveBack(rest));
  }

  /** The whole body is here and can be answered, and its answer has not begun. */
  get #isSizeable(): boolean {
    const hasBegun = this.#outlet !== undefined || this.#whole !== undefined;
    const { hasEnded, error } = this.#intake;
    return !hasBegun && hasEnded && error === undefined && !this.#ask.gzipOut;
  }

  /** Before anything is answered: frames say in their headers how long their answers will be. */
  #sizeOfFrames(): number | undefined {
    const { job, blocks } = this.#intake;
    if (!this.#isSizeable || this.#slots.length > 0 || blocks.length === 0) return undefined;
    if (job?.input !== 'frames' || job.output !== 'frames') return undefined;
    return framesAnswerBytes(job, blocks, MOST_SIZED_FRAMES);
  }

  /** When the last of it is answered. */
  #sizeOfAnswers(lastBytes: number): number | undefined {
    if (!this.#isSizeable || this.#intake.blocks.length > 0) return undefined;
    let sizeBytes = this.#intake.head.length + lastBytes;
    for (const { answer } of this.#slots) {
      if (answer === undefined) return undefined;
      sizeBytes += answer.bytes.length;
    }
    // Blank lines have no answer.
    return sizeBytes === 0 ? undefined : sizeBytes;
  }

  /** Status line and head of the answer: from here on nothing can be taken back. */
  #begin(): void {
    if (this.#outlet !== undefined) return;
    const { request, gzipIn, gzipOut } = this.#ask;
    const lines = gzipOut ? `\r\nContent-Encoding: gzip${VARY}` : VARY;
    // Only the last chunk of a body of known length says that it is the last; other ends come by themselves.
    const isEndApart = gzipIn || gzipOut || this.#x.bodySizeBytes < 0;
    const type = CONTENT_TYPES[request.output];
    const answer =
      this.#sizeBytes === undefined
        ? this.#x.startChunked(200, type, lines, isEndApart)
        : this.#x.startSized(200, type, lines, this.#sizeBytes);
    // Something else was answered meanwhile: the deadline of a body that waited too long for the pool.
    if (answer === undefined) throw new Error('the answer came too late');
    const outlet = new BulkOutlet(
      answer,
      this.#room.spools,
      () => {
        this.#gzip?.resume();
        this.#pumpSoon();
      },
      (error) => this.#fail(error),
    );
    this.#outlet = outlet;
    if (gzipOut) {
      const gzip = gzipStage({
        data: (bytes) =>
          this.#guard(() => {
            outlet.write(bytes);
            if (outlet.isFull) gzip.pause();
          }),
        end: () => outlet.end(),
        failed: (error) => this.#fail(error),
        room: () => {
          this.#gzipIsFull = false;
          this.#pumpSoon();
        },
      });
      this.#gzip = gzip;
    }
    this.#write(this.#intake.head);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#whole !== undefined) {
      const body = Buffer.concat([this.#intake.head, ...this.#whole]);
      this.#x.send(200, CONTENT_TYPES[this.#ask.request.output], body, VARY);
      this.#close();
      return;
    }
    this.#begin();
    if (this.#gzip === undefined) this.#outlet!.end();
    else this.#gzip.end();
  }

  /** Lets go of everything. */
  #close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#intake.close();
    this.#gzip?.close();
    this.#outlet?.close();
    this.#slots = [];
    this.#room.over(this);
  }

  #guard(work: () => void): void {
    if (this.#over) return;
    try {
      work();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #fail(error: Error): void {
    if (this.#over) return;
    const isTheirs = error instanceof BulkInputError || error instanceof GzipBodyError;
    this.#close();
    if (isTheirs && this.#outlet === undefined) {
      this.#room.refuse(this.#x, error.message);
    } else {
      this.#room.cutOff(this.#x, error);
    }
  }
}
