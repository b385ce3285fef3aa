// An answer of unknown length, written in pieces of any size. Every callback of the binary (request, body chunk) runs
// within its 16 KiB cork, and what does not fit that can be lost (cork-holder.ts). So nothing is ever written from a
// callback: pieces queue here, and a turn of the event loop of its own hands them over, small ones packed into one write
// that fits a cork of its own, large ones as they are past the cork (`npm run proof -- bulk --part chunked` hashes a
// gigabyte at slow readers; bound to one core it is the one that finds bytes lost). A piece that leaves whole saves a
// dozen calls of the system, a sixth of what frames cost. Who writes in such a turn already need not queue (`writeNow`).
//
// What the socket does not take of a write the binary keeps, and watches the socket for room. When there is some it says
// so, once, and does nothing else: what it keeps it sends when it is given the next write or an empty cork, and then
// watches again if not all goes. So at its word we give it an empty cork; and as that does not say whether all went, what
// is queued goes on with a small write, which does. Then writes are large again, by and by: the slower the reader, the
// smaller the pieces that the binary keeps, and the sooner we hear of each.
//
// A write that pushes back sets the clock of the transport, which ends the connection ten seconds later if nothing moves.
// While the body comes that is as it should be; then the peer's patience is our business: the reading is stopped and
// goes on in one go every few seconds, which sets that clock back.
//
// While the flow has stopped the reading of the body the binary watches the socket for nothing at all: a write that
// pushes back would set it reading again. So then we stop it after each such write and ask with a small write every
// few milliseconds.
import type { CorkHolder } from './cork-holder.js';
import {
  type AnswerHooks,
  CLOCK_MS,
  HIGH_WATER_BYTES,
  type Piece,
  type StreamedAnswer,
} from './streamed-answer.js';
import type { UwsResponse } from './uws.js';

/** One write of one cork; smaller pieces are put together. With the headers it stays inside the binary's cork buffer. */
const PACKED_BYTES = 15_000;
/** One write past the cork, halved and doubled between these by what the socket takes; at first the most. */
const LEAST_LARGE_BYTES = 32 * 1024;
const MOST_LARGE_BYTES = 1024 * 1024;

/** A write that asks whether there is room; what it finds none for stays in the binary's own buffer. */
const ASKING_WRITE_BYTES = 256;
/**
 * The end of an answer stays back until the binary keeps nothing, and asks for that a few bytes at a time: once the answer
 * has ended, the transport's clock is all the patience its reader has.
 */
const LAST_BYTES = 256;
const LAST_ASKING_BYTES = 4;
const SHORTEST_ASK_MS = 4;
const LONGEST_ASK_MS = 128;

const packed = Buffer.allocUnsafeSlow(PACKED_BYTES);

export class ChunkedAnswer implements StreamedAnswer {
  onDrain: (() => void) | undefined;
  progressMs = performance.now();

  #queue: Piece[] = [];
  /** Of pieces that are in the write under way to their end. */
  #sent: (() => void)[] = [];
  #headOffset = 0;
  #queuedBytes = 0;
  #scheduled = false;
  #hasBegun = false;
  /** False from a write that pushed back until there is room again. */
  #writable = true;
  /** The binary may still keep bytes of before it told of room. */
  #mayKeep = false;
  /** The last write was within a cork: the binary may have kept it without a word. */
  #wasCorked = false;
  #largeBytes = MOST_LARGE_BYTES;
  #asked = false;
  #state: 'open' | 'ending' | 'over' = 'open';
  #bodyEnded = false;
  #readingStopped = false;
  #askTimer: NodeJS.Timeout | undefined;
  #askMs = SHORTEST_ASK_MS;
  #clockTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly res: UwsResponse,
    private readonly hooks: AnswerHooks,
    /** While it is not open, all writes fit the cork. */
    private readonly corkHolder: Pick<CorkHolder, 'isOpen' | 'run'>,
    /** The end may come when all else is written: as long as the binary may keep bytes, a few stay here to ask with. */
    private readonly isEndApart = false,
  ) {
    res.onWritable(() => {
      if (this.#state === 'over') return true;
      this.progressMs = performance.now();
      this.#tryAgain();
      if (this.#bodyEnded && this.#clockTimer === undefined) this.#setClockBack();
      return true;
    });
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** `sent` is called when the binary has its own copy of what it could not send. */
  write(bytes: Uint8Array, sent?: () => void): boolean {
    if (this.#state !== 'open') return false;
    if (bytes.length > 0) {
      this.#queue.push({ bytes, sent });
      this.#queuedBytes += bytes.length;
      this.#schedule();
    }
    if (this.#queuedBytes < HIGH_WATER_BYTES) return true;
    this.#asked = true;
    return false;
  }

  writeNow(bytes: Uint8Array, isLast: boolean): number {
    if (this.#state !== 'open' || !this.#writable) return 0;
    const piece = { bytes: bytes.subarray(0, isLast ? -LAST_BYTES : bytes.length), sent: undefined };
    if (piece.bytes.length === 0) return 0;
    this.#queue.push(piece);
    this.#queuedBytes += piece.bytes.length;
    this.#writeQueued();
    if (this.#queue.at(-1) !== piece) return piece.bytes.length;
    this.#queue.pop();
    const wentBytes = this.#queue.length === 0 ? this.#headOffset : 0;
    if (this.#queue.length === 0) this.#headOffset = 0;
    this.#queuedBytes -= piece.bytes.length - wentBytes;
    return wentBytes;
  }

  end(): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    this.hooks.ending();
    this.#schedule();
  }

  setBodyEnded(): void {
    this.#bodyEnded = true;
    if (!this.#writable || this.#mayKeep) this.#setClockBack();
  }

  setReadingStopped(stopped: boolean): void {
    this.#readingStopped = stopped;
    if (this.#state === 'over') return;
    clearTimeout(this.#askTimer);
    if (!stopped) this.#tryAgain();
    else if (!this.#writable) this.#askLater();
  }

  drop(): void {
    this.#over();
    this.#queue = [];
    this.#queuedBytes = 0;
    this.onDrain = undefined;
  }

  #schedule(): void {
    if (this.#scheduled || !this.#writable || this.#state === 'over') return;
    this.#scheduled = true;
    setImmediate(() => this.hooks.guard(() => this.#flush()));
  }

  /** Has the binary send what it keeps; it watches for room again if not all goes, but does not say so. */
  #tryAgain(): void {
    this.res.cork(() => {});
    if (this.#writable) return;
    this.#writable = true;
    this.#mayKeep = true;
    this.#schedule();
  }

  #pushedBack(): void {
    this.#largeBytes = Math.max(LEAST_LARGE_BYTES, this.#largeBytes / 2);
    if (this.#readingStopped) this.#askLater();
    else if (this.#bodyEnded && this.#clockTimer === undefined) this.#setClockBack();
  }

  /** Now and every few seconds, as long as the answer lasts. What the socket is watched for stays. */
  #setClockBack(): void {
    if (this.#state === 'over') return;
    if (!this.#readingStopped) {
      this.res.pause();
      this.res.resume();
    }
    clearTimeout(this.#clockTimer);
    this.#clockTimer = setTimeout(() => this.hooks.guard(() => this.#setClockBack()), CLOCK_MS);
  }

  #askLater(): void {
    this.res.pause();
    clearTimeout(this.#askTimer);
    this.#askTimer = setTimeout(() => this.hooks.guard(() => this.#ask()), this.#askMs);
    this.#askMs = Math.min(LONGEST_ASK_MS, this.#askMs * 2);
  }

  #ask(): void {
    if (this.#writable || this.#state === 'over') return;
    const isLittle = this.isEndApart && this.#queuedBytes <= LAST_BYTES;
    if (this.#queuedBytes > 0) this.#write(isLittle ? LAST_ASKING_BYTES : ASKING_WRITE_BYTES);
    else this.res.cork(() => {});
    if (this.#writable) {
      this.#mayKeep = false;
      this.#askMs = SHORTEST_ASK_MS;
      this.progressMs = performance.now();
      this.#schedule();
    } else {
      this.#askLater();
      this.#tellOfRoom();
    }
  }

  #flush(): void {
    this.#scheduled = false;
    this.#writeQueued();
    if (this.#state === 'ending' && this.#writable && this.#nextBytes() === 0) this.#finish();
    else this.#tellOfRoom();
  }

  #writeQueued(): void {
    while (this.#writable && this.#state !== 'over') {
      const mostBytes = this.#nextBytes();
      if (mostBytes === 0) return;
      this.#write(mostBytes);
      if (this.#writable) {
        this.#mayKeep = false;
        this.progressMs = performance.now();
      } else {
        this.#pushedBack();
      }
    }
  }

  /** How large the next write may be; 0 where there is none, or what there is goes out with the end. */
  #nextBytes(): number {
    const mayBeLarge = this.#hasBegun && this.corkHolder.isOpen;
    const mostBytes = this.#mayKeep ? ASKING_WRITE_BYTES : mayBeLarge ? this.#largeBytes : PACKED_BYTES;
    const isOpen = this.#state === 'open';
    if (isOpen && !this.isEndApart) return Math.min(mostBytes, this.#queuedBytes);
    if (this.#queuedBytes > LAST_BYTES) return Math.min(mostBytes, this.#queuedBytes - LAST_BYTES);
    if (isOpen) return Math.min(this.#mayKeep ? LAST_ASKING_BYTES : LAST_BYTES, this.#queuedBytes);
    const isUnsure = this.#mayKeep || (this.#wasCorked && this.corkHolder.isOpen);
    return isUnsure ? Math.min(LAST_ASKING_BYTES, this.#queuedBytes) : 0;
  }

  /** Also where the socket has no room, if nothing is queued: there would be nothing to ask for room with. */
  #tellOfRoom(): void {
    if (!this.#asked || this.#queuedBytes > (this.isEndApart ? LAST_BYTES : 0)) return;
    this.#asked = false;
    this.onDrain?.();
  }

  #finish(): void {
    const last = this.#queuedBytes > 0 ? this.#take(LAST_BYTES) : undefined;
    this.#over();
    this.res.cork(() => {
      if (!this.#hasBegun) this.hooks.head();
      if (last !== undefined) this.res.write(last);
      this.res.end();
    });
    for (const sent of this.#sent.splice(0)) sent();
    this.hooks.finished();
  }

  #over(): void {
    this.#state = 'over';
    clearTimeout(this.#askTimer);
    clearTimeout(this.#clockTimer);
  }

  /** The next bytes: a part of a large piece as it is, or small pieces packed together. */
  #take(mostBytes: number): Uint8Array {
    const { bytes } = this.#queue[0] as Piece;
    const packedBytes = Math.min(mostBytes, PACKED_BYTES);
    const left = bytes.length - this.#headOffset;
    if (left >= packedBytes) {
      const part = bytes.subarray(this.#headOffset, this.#headOffset + Math.min(left, mostBytes));
      this.#advance(part.length);
      return part;
    }
    let size = 0;
    while (this.#queue.length > 0 && size < packedBytes) {
      const next = (this.#queue[0] as Piece).bytes;
      const count = Math.min(next.length - this.#headOffset, packedBytes - size);
      packed.set(next.subarray(this.#headOffset, this.#headOffset + count), size);
      size += count;
      this.#advance(count);
    }
    return packed.subarray(0, size);
  }

  #advance(count: number): void {
    const head = this.#queue[0] as Piece;
    this.#queuedBytes -= count;
    this.#headOffset += count;
    if (this.#headOffset < head.bytes.length) return;
    this.#queue.shift();
    this.#headOffset = 0;
    if (head.sent !== undefined) this.#sent.push(head.sent);
  }

  /** One write, in a cork of its own if it fits one; past the cork also where it must be known whether it went. */
  #write(mostBytes: number): void {
    const isLastAsking =
      this.#hasBegun && this.#state === 'ending' && this.#queuedBytes <= LAST_BYTES && this.corkHolder.isOpen;
    const part = this.#take(mostBytes);
    const write = (): void => {
      if (!this.#hasBegun) this.hooks.head();
      this.#writable = this.res.write(part);
    };
    const isLarge = part.length > PACKED_BYTES;
    this.#wasCorked = !isLarge && !isLastAsking;
    if (this.#wasCorked) this.res.cork(write);
    else this.corkHolder.run(write);
    this.#hasBegun = true;
    if (isLarge && this.#writable) this.#largeBytes = Math.min(MOST_LARGE_BYTES, this.#largeBytes * 2);
    for (const sent of this.#sent.splice(0)) sent();
  }
}
