// A fake of uWS's response for chunked answers: it holds, polls and forgets bytes as uWS does under backpressure.
// Another one, for answers of known length, is in their own test.
import { ChunkedAnswer } from '#dist/server/transport/answers/chunked-answer.js';
import type { UwsResponse } from '#dist/server/transport/uws.js';

/**
 * Whether paused sockets were polled for writability; as in uWS, one place for those with held bytes, one for the
 * others.
 */
const storedPolls = { holding: true, empty: false };

/**
 * A response whose socket takes `freeBytes` bytes. It holds the rest, calls onWritable once while it polls for that,
 * and sends what it holds with the next write or cork only, or after the end of the answer (README U20 to U22, U26,
 * U27).
 */
export class FakeResponse {
  /** Bytes that the socket has taken. */
  takenBytes = 0;
  hasEnded = false;
  /** Bytes of each write, by cork. */
  readonly corks: number[][] = [];
  /** A copy of everything written. */
  readonly written: Buffer[] = [];
  /** Bytes of each uncorked write. */
  readonly uncorked: number[] = [];
  isUncorked = false;
  freeBytes = 0;
  maxHeldBytes = 0;
  heldBytesAtEnd = 0;
  writableCalls = 0;
  afterWritable: (() => void) | undefined;
  pauses = 0;
  /** In which cork, from 1, a head was written. */
  readonly headsAt: number[] = [];
  /** The reading of the body is stopped until the end of the answer. */
  isReadingStopped = false;
  #heldBytes = 0;
  #corkedBytes = 0;
  #isPaused = false;
  #pollsWritable = false;
  #onWritable: () => boolean = () => true;

  onWritable(handler: () => boolean): void {
    this.#onWritable = handler;
  }
  cork(work: () => void): void {
    this.corks.push([]);
    work();
    this.#heldBytes += this.#corkedBytes;
    this.#corkedBytes = 0;
    this.#send();
  }
  write(bytes: Uint8Array): boolean {
    this.written.push(Buffer.from(bytes));
    (this.isUncorked ? this.uncorked : this.corks.at(-1)!).push(bytes.length);
    this.#send();
    if (this.#heldBytes === 0 && !this.isUncorked) {
      this.#corkedBytes += bytes.length;
      return true;
    }
    this.#heldBytes += bytes.length;
    this.#send();
    return this.#heldBytes === 0;
  }
  end(): void {
    this.hasEnded = true;
    this.heldBytesAtEnd = this.#heldBytes;
  }
  pause(): void {
    this.pauses++;
    if (!this.#isPaused) storedPolls[this.#heldBytes > 0 ? 'holding' : 'empty'] = this.#pollsWritable;
    this.#isPaused = true;
    this.#pollsWritable = false;
  }
  resume(): void {
    this.#isPaused = false;
    this.#pollsWritable = storedPolls[this.#heldBytes > 0 ? 'holding' : 'empty'];
    this.#callOnWritable();
  }
  /** The client has read something. */
  takeMore(bytes: number): void {
    this.freeBytes += bytes;
    if (this.hasEnded) this.#send();
    else this.#callOnWritable();
  }
  #callOnWritable(): void {
    if (!this.#pollsWritable || this.freeBytes === 0) return;
    this.#pollsWritable = false;
    setImmediate(() => {
      this.#onWritable();
      this.writableCalls++;
      this.afterWritable?.();
    });
  }
  #send(): void {
    const taken = Math.min(this.freeBytes, this.#heldBytes);
    this.#heldBytes -= taken;
    this.freeBytes -= taken;
    this.takenBytes += taken;
    this.maxHeldBytes = Math.max(this.maxHeldBytes, this.#heldBytes);
    if (this.#heldBytes > 0) {
      this.#isPaused = false;
      this.#pollsWritable = true;
    }
  }
}

export function answerOn(
  res: FakeResponse,
  hasCorkHolder = true,
  mayEndLate = false,
): { answer: ChunkedAnswer; finished: Promise<void> } {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const answer: ChunkedAnswer = new ChunkedAnswer(
    res as unknown as UwsResponse,
    {
      writeHead: () => res.headsAt.push(res.corks.length),
      lastWrite: () => {},
      ending: () => {
        if (!res.isReadingStopped) return;
        res.resume();
        answer.setReadingStopped(false);
      },
      finished: () => finish(),
      guard: (work) => work(),
    },
    {
      isOpen: hasCorkHolder,
      runUncorked: (work) => {
        res.isUncorked = true;
        work();
        res.isUncorked = false;
      },
    },
    mayEndLate,
  );
  return { answer, finished };
}

/** Writes bytes that are valid during the call only, as the service does. */
export function writeAll(answer: ChunkedAnswer, bytes: Uint8Array, isLast: boolean): boolean {
  return answer.write(bytes.slice(answer.writeNow(bytes, isLast)));
}

export function stopReading(res: FakeResponse, answer: ChunkedAnswer): void {
  res.isReadingStopped = true;
  res.pause();
  answer.setReadingStopped(true);
}

/** Lets the client read that many bytes each millisecond until `work` is done. */
export async function whileReading(
  res: FakeResponse,
  bytes: number,
  work: () => Promise<void>,
): Promise<void> {
  const reading = setInterval(() => {
    res.takeMore(bytes);
  }, 1);
  await work().finally(() => clearInterval(reading));
}
