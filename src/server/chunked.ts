// An answer of unknown length, written in pieces of any size. Every callback of the binary (request, body chunk, writable)
// runs within its 16 KiB cork, and what does not fit that can be lost (cork-holder.ts). So nothing is ever written from a
// callback: pieces queue here, and a turn of the event loop of its own hands them over, small ones packed into one write
// that fits a cork of its own, large ones as they are past the cork, and stops when the socket pushes back until it is
// writable again (`npm run proof -- bulk --part chunked` hashes a gigabyte at slow readers; bound to one core it is the
// one that finds bytes lost). A piece that leaves whole saves a dozen calls of the system, a sixth of what frames cost.
//
// While the reading of the body is stopped the binary watches the socket for nothing at all: a write that pushes back
// would set it reading again, and stopping it anew makes it forget to tell when there is room. So then we stop it after
// each such write and ask with a small write every few milliseconds. A write that pushes back also sets the clock of the
// transport, which ends the connection ten seconds later if nothing moves; stopping the reading stops that clock. So as
// soon as the body is complete a slow reader is served in this way: its patience is our business, not the transport's.
import type { CorkHolder } from './cork-holder.js';
import type { UwsResponse } from './uws.js';

/** One write of one cork; smaller pieces are put together. With the headers it stays inside the binary's cork buffer. */
const PACKED_BYTES = 15_000;
/** One write past the cork: the answer to a block. The binary keeps a copy of what the socket does not take of it. */
const LARGE_BYTES = 1024 * 1024;
/** `write` asks for a pause above this. */
const HIGH_WATER_BYTES = 256 * 1024;

/** A write that asks for room; what it finds none for stays in the binary's own buffer. */
const ASKING_WRITE_BYTES = 256;
const SHORTEST_ASK_MS = 4;
const LONGEST_ASK_MS = 128;
/** Well within the ten seconds of the transport's clock. */
const ENDING_ASK_MS = 4000;
/** Less than a peer may rest. */
const LONGEST_AWAIT_MS = 40_000;

const packed = Buffer.allocUnsafeSlow(PACKED_BYTES);

interface Piece {
  readonly bytes: Uint8Array;
  readonly sent: (() => void) | undefined;
}

export class ChunkedAnswer {
  /** Called when all that was queued is handed over after `write` returned false. */
  onDrain: (() => void) | undefined;
  /** When the socket last took bytes without pushing back, by performance.now(). */
  progressMs = performance.now();

  #hasBegun = false;
  #queue: Piece[] = [];
  /** Of pieces that are in the write under way to their end. */
  #sent: (() => void)[] = [];
  #headOffset = 0;
  #queuedBytes = 0;
  #scheduled = false;
  #writable = true;
  #asked = false;
  #state: 'open' | 'ending' | 'over' = 'open';
  #readingStopped = false;
  #askTimer: NodeJS.Timeout | undefined;
  #askMs = SHORTEST_ASK_MS;

  constructor(
    private readonly res: UwsResponse,
    /** The socket has pushed back while the body is being read. */
    private readonly pushedBack: () => void,
    private readonly finishing: () => void,
    private readonly finished: () => void,
    private readonly guard: (work: () => void) => void,
    /** While it is not open, all writes fit the cork. */
    private readonly corkHolder: Pick<CorkHolder, 'isOpen' | 'run'>,
  ) {
    res.onWritable(() => {
      this.#writable = true;
      this.progressMs = performance.now();
      this.#schedule();
      return true;
    });
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** True while the socket has taken all it was given. */
  get flowing(): boolean {
    return this.#writable;
  }

  /**
   * Queues bytes, which must not change until `sent` is called; false asks the caller to wait for `onDrain`. The socket
   * has its own copy then, of what it could not send.
   */
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

  /** Ends the answer once everything queued is sent. */
  end(): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    this.#schedule();
  }

  /** Told when the reading of the body is stopped and when it goes on. */
  setReadingStopped(stopped: boolean): void {
    this.#readingStopped = stopped;
    if (this.#writable || this.#state === 'over') return;
    if (stopped) this.#askLater();
    // Reading again is all that the binary does now; a write that fails makes it tell of room as well.
    else this.#ask();
  }

  /** Forgets what is queued: the request is gone. */
  drop(): void {
    clearTimeout(this.#askTimer);
    this.#state = 'over';
    this.#queue = [];
    this.#queuedBytes = 0;
    this.onDrain = undefined;
  }

  #schedule(): void {
    if (this.#scheduled || !this.#writable || this.#state === 'over') return;
    this.#scheduled = true;
    setImmediate(() => this.guard(() => this.#flush()));
  }

  #pushedBack(): void {
    if (this.#readingStopped) this.#askLater();
    else this.pushedBack();
  }

  #askLater(): void {
    this.res.pause();
    clearTimeout(this.#askTimer);
    this.#askTimer = setTimeout(() => this.guard(() => this.#ask()), this.#askMs);
    this.#askMs = Math.min(LONGEST_ASK_MS, this.#askMs * 2);
  }

  #ask(): void {
    if (this.#writable || this.#state === 'over') return;
    if (this.#queuedBytes > 0) {
      this.#write(ASKING_WRITE_BYTES);
    } else if (this.#state === 'ending') {
      this.#awaitEnd();
      return;
    } else if (!this.#readingStopped) {
      // An empty cork sends what the binary holds, but does not say whether all of it went. If not, the binary will
      // tell of room later; until then one more write only lengthens what it holds.
      this.res.cork(() => {});
      this.#writable = true;
    }
    // Nothing is sent that way while the reading is stopped: were all to go, nobody would ever tell.
    if (!this.#writable) {
      this.#pushedBack();
      this.#tellOfRoom();
      return;
    }
    this.#askMs = SHORTEST_ASK_MS;
    this.progressMs = performance.now();
    this.#schedule();
  }

  /**
   * All is handed over and the body is complete, so the binary may watch the socket again: it will tell when it has sent
   * what it holds. Stopping it for a moment sets its clock back. Should it have forgotten what to watch for, which it
   * keeps for all sockets in one place, the answer ends without its word while the peer's patience lasts.
   */
  #awaitEnd(): void {
    this.res.pause();
    this.res.resume();
    this.#askTimer = setTimeout(() => {
      if (this.#writable || this.#state !== 'ending') return;
      if (performance.now() - this.progressMs < LONGEST_AWAIT_MS) this.guard(() => this.#awaitEnd());
      else this.guard(() => this.#finish());
    }, ENDING_ASK_MS);
  }

  #flush(): void {
    this.#writeQueued();
    this.#tellOfRoom();
    // One more block in the same turn, while it is in the cache; then others have theirs.
    this.#writeQueued();
    this.#scheduled = false;
    if (this.#state === 'ending' && this.#writable && this.#queuedBytes === 0) this.#finish();
    else if (this.#asked && this.#writable) this.#schedule();
    else this.#tellOfRoom();
  }

  #writeQueued(): void {
    while (this.#writable && this.#queuedBytes > 0 && this.#state !== 'over') {
      this.#write(this.#hasBegun && this.corkHolder.isOpen ? LARGE_BYTES : PACKED_BYTES);
      this.#hasBegun = true;
      if (this.#writable) this.progressMs = performance.now();
      else this.#pushedBack();
    }
  }

  /** Also where the socket has no room, if nothing is queued: there would be nothing to ask for room with. */
  #tellOfRoom(): void {
    if (!this.#asked || this.#queuedBytes > 0) return;
    this.#asked = false;
    this.onDrain?.();
  }

  #finish(): void {
    this.#state = 'over';
    this.finishing();
    this.res.cork(() => this.res.end());
    this.finished();
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

  /** One write, in a cork of its own if it fits one. */
  #write(mostBytes: number): void {
    const part = this.#take(mostBytes);
    const write = (): void => {
      this.#writable = this.res.write(part);
    };
    if (part.length > PACKED_BYTES) this.corkHolder.run(write);
    else this.res.cork(write);
    for (const sent of this.#sent.splice(0)) sent();
  }
}
