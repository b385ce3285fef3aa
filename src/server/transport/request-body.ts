// The body of a request and the ways to read it: whole or chunk by chunk, with pauses, held memory and deadlines; and
// the rest of the body of a rejected request.

import type { Turns } from './limits.js';
import type { UwsResponse } from './load-uws.js';
import type { RequestHead } from './request-head.js';

// Memory of waiting frames and of bodies in pieces, reused by later ones of any connection: new memory for each large
// one costs page faults and collections of the whole heap, more than its copy (npm run bench -- bulk).

/** Smaller pieces get memory of their own, which costs less than looking for it. */
const MIN_BYTES = 16 * 1024;
/** Free memory that is kept. */
const KEPT_BYTES = 8 * 1024 * 1024;

class KeptMemory {
  /** The free buffers of each size, a power of two. */
  readonly #free = new Map<number, ArrayBuffer[]>();
  #freeBytes = 0;

  /** Memory with arbitrary contents, to be returned once. */
  take(sizeBytes: number): Uint8Array<ArrayBuffer> {
    if (sizeBytes < MIN_BYTES) return new Uint8Array(sizeBytes);
    const wholeBytes = 2 ** Math.ceil(Math.log2(sizeBytes));
    let buffer = this.#free.get(wholeBytes)?.pop();
    if (buffer === undefined) buffer = new ArrayBuffer(wholeBytes);
    else this.#freeBytes -= wholeBytes;
    return new Uint8Array(buffer, 0, sizeBytes);
  }

  /** A copy of bytes, to be returned once. */
  copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const copy = this.take(bytes.length);
    copy.set(bytes);
    return copy;
  }

  /** Takes back memory, by the original view or by a part of it. It must no longer be used. */
  giveBack({ buffer }: Uint8Array): void {
    const wholeBytes = buffer.byteLength;
    if (wholeBytes < MIN_BYTES || this.#freeBytes + wholeBytes > KEPT_BYTES) return;
    const sameSize = this.#free.get(wholeBytes) ?? [];
    sameSize.push(buffer as ArrayBuffer);
    this.#free.set(wholeBytes, sameSize);
    this.#freeBytes += wholeBytes;
  }
}

/** One for all connections. */
export const keptMemory = new KeptMemory();

// Bodies of requests that are rejected while most of the body is still to come. If the connection were closed at
// once, the incoming bytes would reset it, and the client would see the reset instead of the reason (README U37). So
// the rest is read and discarded, within limits, before the connection is closed, or before the answer for a client
// that wants it after its body.

/** Limit of discarded bytes, more than a body of 1 GB. Discarding costs less than any request with as many bytes. */
const MAX_BYTES = 2 ** 30;
/** As long as a peer that neither sends nor reads is waited for elsewhere (bulk/response.ts). */
const MAX_MS = 60_000;
/**
 * Time without a byte after which the peer has stopped sending: most do when they see the answer, and some proxies
 * then wait for the server.
 */
const QUIET_MS = 3000;
/**
 * Most bodies discarded at once, of all peers and of one key; those without a key count as one. Beyond this,
 * connections are closed at once.
 */
const MAX_BODIES = 256;
const MAX_BODIES_PER_KEY = 64;
/**
 * Largest body that costs no more to discard than to accept, so any number of them is read. uWS ends one that stalls
 * (README U25).
 */
export const MAX_SMALL_BYTES = 64 * 1024;
/** The end of a body in chunks is reported before its last two bytes have come (README U36). */
const LAST_BYTES_MS = 200;

/** Counts the bodies being discarded, for all exchanges of an adapter. */
export class RefusedBodies {
  readonly #byKey = new Map<string, number>();
  #count = 0;
  #small = 0;

  /** Bodies that are read on now. */
  get count(): number {
    return this.#count + this.#small;
  }

  /** Counts another body of a key, '' for none; false if the limit is reached. */
  take(keyId: string, isSmall: boolean): boolean {
    if (isSmall) {
      this.#small++;
      return true;
    }
    const ofKey = this.#byKey.get(keyId) ?? 0;
    if (this.#count >= MAX_BODIES || ofKey >= MAX_BODIES_PER_KEY) return false;
    this.#byKey.set(keyId, ofKey + 1);
    this.#count++;
    return true;
  }

  /** To be called once for each counted body. */
  giveBack(keyId: string, isSmall: boolean): void {
    if (isSmall) {
      this.#small--;
      return;
    }
    const ofKey = (this.#byKey.get(keyId) ?? 0) - 1;
    if (ofKey > 0) this.#byKey.set(keyId, ofKey);
    else this.#byKey.delete(keyId);
    this.#count--;
  }
}

/** One body being discarded. */
class RefusedBody {
  /** The body has ended, a bound was reached, or the connection is gone. */
  isOver = false;
  #bytes = 0;
  #timer: NodeJS.Timeout;
  readonly #endMs = performance.now() + MAX_MS;

  /**
   * @param ended called when the body has ended, or a bound is reached, unless the connection is gone by then
   * @param over called once, before `ended` or when the connection is gone
   */
  constructor(
    private readonly ended: () => void,
    private readonly over: () => void,
    /** The body comes in chunks. */
    private readonly isChunked: boolean,
    quietMs: number,
  ) {
    this.#timer = setTimeout(() => this.#end(), quietMs);
  }

  /** Discards bytes. Called in callbacks of uWS, where nothing is closed: corked bytes would be lost. */
  take(sizeBytes: number, isLast: boolean): void {
    if (this.isOver) return;
    this.#bytes += sizeBytes;
    if (!isLast && this.#bytes <= MAX_BYTES && performance.now() < this.#endMs) {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), isLast && this.isChunked ? LAST_BYTES_MS : 0);
  }

  /** The connection is closed. */
  gone(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.#timer);
    this.over();
  }

  #end(): void {
    if (this.isOver) return;
    this.gone();
    this.ended();
  }
}

/** The exchange, as far as its body needs it. */
export interface BodyOwner {
  readonly head: RequestHead;
  readonly state: 'open' | 'answering' | 'over';
  readonly keyId: string;
  readonly hasDeadline: boolean;
  guard(work: () => void): void;
  nextTurn(work: () => void): void;
  hold(bytes: number): void;
  deadline(timeoutMs: number): void;
  /** Closes the connection of a peer that sends in a way that harms others. */
  cut(reason: string): void;
  setReadingStopped(isStopped: boolean): void;
  /** The last chunk has come, later than in the turn of the head or not: `work` takes it. */
  endBody(isLate: boolean, work: () => void): void;
}

export interface BodyBounds {
  /** Most bytes of a body that may still come after `pause` and before `resume`; a peer that brings more is cut off. */
  readonly maxPastStopBytes: number;
  /** How long a body may take that is collected. */
  readonly bodyTimeoutMs: number;
}

interface BodyContext extends BodyBounds {
  readonly turns: Turns;
  readonly refusedBodies: RefusedBodies;
}

type ChunkReceiver = (chunk: Uint8Array, isLast: boolean) => void;

export class RequestBody {
  /** Bytes that have come. */
  bytesIn = 0;
  /** When bytes came last, by performance.now(). */
  progressMs = 0;
  /** Whether the handler has requested it. */
  isWanted = false;
  /** The last chunk was handed on. */
  hasEnded = false;
  /** The reading is stopped. */
  isPaused = false;
  /** The last chunk has come. */
  isReceived = false;
  /** Whether uWS passes on its chunks. */
  #isHeard = false;
  /** The turn of the event loop in which it was requested. */
  #headTurn = 0;
  #refused: RefusedBody | undefined;
  #collected: BodyCollector | undefined;

  constructor(
    private readonly x: BodyOwner,
    private readonly res: UwsResponse,
    private readonly context: BodyContext,
  ) {}

  /**
   * Calls `work` once with the whole body, valid during the call. If the body is longer than the limit, `tooLarge` is
   * called instead, before more than the limit is buffered; it must answer and close the connection. A body in
   * several chunks has a deadline, and its bytes are held.
   */
  read(limitBytes: number, tooLarge: () => void, work: (body: Uint8Array) => void): void {
    const hold = (bytes: number): void => {
      if (!this.x.hasDeadline) this.x.deadline(this.context.bodyTimeoutMs);
      this.x.hold(bytes);
    };
    const { bodySizeBytes } = this.x.head;
    if (bodySizeBytes > limitBytes) {
      tooLarge();
      return;
    }
    const knownBytes = bodySizeBytes < 0 ? limitBytes : bodySizeBytes;
    const collected = new BodyCollector({ limitBytes, knownBytes }, { tooLarge, hold, work });
    this.#collected = collected;
    this.stream((chunk, isLast) => collected.take(chunk, isLast));
  }

  /**
   * Called in the work of `read`: the whole body in memory that stays, to be given back to `keptMemory` by the caller.
   */
  keep(body: Uint8Array): Uint8Array {
    return this.#collected?.leave(body) ?? keptMemory.copyOf(body);
  }

  /** Calls `work` with each chunk of the body, valid during that call, until the answer is over. */
  stream(work: ChunkReceiver): void {
    this.isWanted = true;
    this.#receive((bytes, isLast) => {
      if (!isLast) this.x.guard(() => work(bytes, false));
      // Not in the turn in which uWS believes that the body ended (README U33).
      else if (this.x.head.isBodyChunked) this.#endLater(bytes.slice(), work);
      else this.#end(bytes, work);
    });
  }

  /** Stops the reading, and uWS's timeout, until `resume` or the end of the answer. See README U26 to U28. */
  pause(): void {
    if (this.x.state === 'over' || this.isPaused) return;
    this.isPaused = true;
    this.res.pause();
    this.x.setReadingStopped(true);
  }

  resume(): void {
    if (this.x.state === 'over' || !this.isPaused) return;
    this.isPaused = false;
    this.res.resume();
    this.x.setReadingStopped(false);
  }

  /**
   * Discards the rest of the body, and calls `ended` afterwards, or once a limit is reached; not if the connection is
   * closed before. False if that is impossible: its end can no longer be seen, or too many are being discarded.
   */
  readOn(ended: () => void): boolean {
    const { refusedBodies } = this.context;
    const { head, keyId } = this.x;
    if (this.#refused !== undefined || !(this.#isHeard || head.isReadable)) return false;
    const isSmall = !head.isBodyChunked && head.bodySizeBytes <= MAX_SMALL_BYTES;
    if (!refusedBodies.take(keyId, isSmall)) return false;
    this.hear();
    const over = (): void => refusedBodies.giveBack(keyId, isSmall);
    this.#refused = new RefusedBody(ended, over, head.isBodyChunked, isSmall ? MAX_MS : QUIET_MS);
    return true;
  }

  /** To be called before the handler returns, if the body was not requested: it can be read later. */
  hear(): void {
    if (!this.#isHeard) this.#receive(() => {});
  }

  /** The connection is closed, and the answer was over before. */
  leaveRefused(): void {
    this.#refused?.gone();
  }

  /** Calls `work` with each chunk, valid during the call, until the answer is over. */
  #receive(work: ChunkReceiver): void {
    this.#isHeard = true;
    this.#headTurn = this.context.turns.number;
    const limits = new BodyLimits(this.context.turns, this.context.maxPastStopBytes);
    this.res.onData((chunk, isLast) => {
      if (isLast) this.isReceived = true;
      if (this.#refused !== undefined) {
        this.#drop(this.#refused, limits, chunk.byteLength, isLast);
        return;
      }
      if (this.x.state === 'over') return;
      this.bytesIn += chunk.byteLength;
      this.progressMs = performance.now();
      const fault = limits.faultOf(chunk.byteLength, this.isPaused);
      if (fault === undefined) work(new Uint8Array(chunk), isLast);
      else this.x.cut(fault);
    });
  }

  #drop(refused: RefusedBody, limits: BodyLimits, sizeBytes: number, isLast: boolean): void {
    if (limits.faultOf(sizeBytes, false) === undefined) refused.take(sizeBytes, isLast);
    else refused.take(Number.POSITIVE_INFINITY, false);
  }

  #endLater(lastChunk: Uint8Array, work: ChunkReceiver): void {
    this.x.nextTurn(() => this.#end(lastChunk, work));
  }

  #end(lastChunk: Uint8Array, work: ChunkReceiver): void {
    this.hasEnded = true;
    this.x.endBody(this.context.turns.number !== this.#headTurn, () => work(lastChunk, true));
  }
}

/**
 * Chunks of one body in one turn of the event loop. A receive buffer of 512 KiB holds 87,381 chunks of one byte; so
 * only a peer whose bytes fill the buffer at least twice in a row passes this.
 */
const CHUNKS_PER_TURN = 100_000;

/**
 * Limits on how the body of one request may come. uWS passes bytes on as long as the peer fills its receive buffer,
 * even after `pause` (README U28), so an inconsiderate peer can only be cut off.
 */
export class BodyLimits {
  #turn = -1;
  #chunks = 0;
  #pastStopBytes = 0;

  constructor(
    private readonly turns: Turns,
    /** Bytes that may come while the reading is stopped. */
    private readonly maxPastStopBytes: number,
  ) {}

  /** Counts a chunk. Returns why the peer must be cut off, or undefined. */
  faultOf(sizeBytes: number, isReadingStopped: boolean): string | undefined {
    const turn = this.turns.number;
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#chunks = 0;
    }
    if (++this.#chunks > CHUNKS_PER_TURN) return 'too many chunks of a body in one turn of the event loop';
    this.#pastStopBytes = isReadingStopped ? this.#pastStopBytes + sizeBytes : 0;
    return this.#pastStopBytes > this.maxPastStopBytes
      ? `the body brought ${this.#pastStopBytes} bytes while its reading was stopped`
      : undefined;
  }
}

const FIRST_BUFFER_BYTES = 4096;
const NO_BYTES = new Uint8Array(0);

/** Most bytes of a body, and how many it has at most by its Content-Length. */
interface BodySizes {
  readonly limitBytes: number;
  readonly knownBytes: number;
}

interface CollectedEnds {
  /** Called for each chunk beyond the limit, none of which is kept; it must answer, so that no further one comes. */
  readonly tooLarge: () => void;
  /** Called with the bytes that will be kept, before they are; may throw. */
  readonly hold: (bytes: number) => void;
  /** Called once with the whole body, valid during that call. */
  readonly work: (body: Uint8Array) => void;
}

/** Collects the chunks of a body in one array, which never exceeds the limit. */
class BodyCollector {
  #bytes: Uint8Array = NO_BYTES;
  #sizeBytes = 0;

  constructor(
    private readonly sizes: BodySizes,
    private readonly ends: CollectedEnds,
  ) {}

  take(chunk: Uint8Array, isLast: boolean): void {
    const { limitBytes } = this.sizes;
    const { tooLarge, work } = this.ends;
    // A body that comes in one chunk is not copied.
    if (this.#sizeBytes === 0 && isLast && chunk.length <= limitBytes) {
      work(chunk);
      return;
    }
    const grownBytes = this.#sizeBytes + chunk.length;
    if (grownBytes > limitBytes) {
      this.#giveBack();
      tooLarge();
      return;
    }
    if (grownBytes > this.#bytes.length) this.#grow(grownBytes);
    this.#bytes.set(chunk, this.#sizeBytes);
    this.#sizeBytes = grownBytes;
    if (!isLast) return;
    work(this.#bytes.subarray(0, grownBytes));
    this.#giveBack();
  }

  /** Leaves the body to the caller, if it is in memory of this collector. */
  leave(body: Uint8Array): Uint8Array | undefined {
    if (body.buffer !== this.#bytes.buffer) return undefined;
    this.#bytes = NO_BYTES;
    return body;
  }

  /** Grows to at most twice the bytes received: a peer may announce many and send few. */
  #grow(grownBytes: number): void {
    const maxBytes = Math.max(grownBytes, this.sizes.knownBytes);
    const largerBytes = Math.min(maxBytes, Math.max(FIRST_BUFFER_BYTES, 2 * grownBytes));
    this.ends.hold(largerBytes);
    const larger = keptMemory.take(largerBytes);
    larger.set(this.#bytes.subarray(0, this.#sizeBytes));
    this.#giveBack();
    this.#bytes = larger;
  }

  #giveBack(): void {
    keptMemory.giveBack(this.#bytes);
    this.#bytes = NO_BYTES;
  }
}
