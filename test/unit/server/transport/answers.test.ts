// Answers on a fake of uWS: chunked ones, their backpressure, and answers of known length.
import { describe, expect, test, vi } from 'vitest';
import { ChunkedAnswer } from '#dist/server/transport/answers/chunked-answer.js';
import { SizedAnswer } from '#dist/server/transport/answers/streamed-answer.js';
import { randomFrom } from '../../../support/open-world.js';

// A fake of uWS's response for chunked answers: it holds, polls and forgets bytes as uWS does under backpressure.
// Another one, for answers of known length, is in their own test.

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
class FakeResponse {
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

function answerOn(
  res: FakeResponse,
  hasCorkHolder = true,
  mayEndLate = false,
): { answer: ChunkedAnswer; finished: Promise<void> } {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const answer: ChunkedAnswer = new ChunkedAnswer(
    res as never,
    {
      writeHead: () => res.headsAt.push(res.corks.length),
      lastWrite: () => {},
      notLastWrite: () => {},
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
function writeAll(answer: ChunkedAnswer, bytes: Uint8Array, isLast: boolean): boolean {
  return answer.write(bytes.slice(answer.writeNow(bytes, isLast)));
}

function stopReading(res: FakeResponse, answer: ChunkedAnswer): void {
  res.isReadingStopped = true;
  res.pause();
  answer.setReadingStopped(true);
}

/** Lets the client read that many bytes each millisecond until `work` is done. */
async function whileReading(res: FakeResponse, bytes: number, work: () => Promise<void>): Promise<void> {
  const reading = setInterval(() => {
    res.takeMore(bytes);
  }, 1);
  await work().finally(() => clearInterval(reading));
}

// How chunked answers are written: corked or uncorked, in which sizes, from which bytes.
describe('chunked answers', () => {
  const SIZES = [1, 14_999, 15_000, 15_001, 16_384, 327_744, 10, 10, 500_000, 2_000_000];

  test.each([true, false])(
    'each write is corked alone and fits the cork, or is uncorked (a response to cork is there: %s)',
    async (hasCorkHolder) => {
      const res = new FakeResponse();
      const { answer, finished } = answerOn(res, hasCorkHolder);
      res.takeMore(4_000_000);
      for (const size of SIZES) answer.write(new Uint8Array(size));
      answer.end();
      await finished;
      expect(res.takenBytes).toBe(SIZES.reduce((sum, size) => sum + size, 0));
      const writes = res.corks.filter((cork) => cork.length > 0);
      expect(writes.map((cork) => cork.length)).toEqual(Array(writes.length).fill(1));
      expect(Math.max(...writes.flat())).toBe(15_000);
      expect(res.uncorked).toEqual(
        hasCorkHolder ? [15_001, 16_384, 327_744, 485_020, 1_048_576, 951_168] : [],
      );
    },
  );

  test.each([10, 256, 257, 20_000, 400_000])(
    'of %i bytes that are valid during the call only, what the socket does not take is written from a copy',
    async (size) => {
      const pieces = 4;
      for (const freeBytes of [0, 5, 15_000, 100_000, 5_000_000]) {
        const res = new FakeResponse();
        const { answer, finished } = answerOn(res);
        answer.setBodyEnded();
        res.takeMore(freeBytes);
        const bytes = new Uint8Array(size);
        for (let n = 1; n <= pieces; n++) {
          bytes.fill(n);
          writeAll(answer, bytes, n === pieces);
          if (n === 2) await new Promise((resolve) => setTimeout(resolve, 2));
        }
        bytes.fill(99);
        // The last bytes wait for the end.
        expect(answer.queuedBytes).toBeGreaterThanOrEqual(Math.min(256, size));
        answer.end();
        await whileReading(res, 30_000, () => finished);
        expect(res.heldBytesAtEnd).toBe(0);
        await whileReading(res, 30_000, () => expect.poll(() => res.takenBytes).toBe(pieces * size));
        expect(
          Buffer.concat(res.written).equals(
            Buffer.concat(Array.from({ length: pieces }, (_, n) => Buffer.alloc(size, n + 1))),
          ),
        ).toBe(true);
      }
    },
  );

  test('writeNow writes during the call what the socket takes, and keeps the last bytes back', () => {
    const res = new FakeResponse();
    const { answer } = answerOn(res);
    res.takeMore(1_000_000);
    expect(answer.writeNow(new Uint8Array(400_000), false)).toBe(400_000);
    expect([res.takenBytes, answer.queuedBytes]).toEqual([400_000, 0]);
    expect(answer.writeNow(new Uint8Array(400_000), true)).toBe(399_744);
    expect(answer.writeNow(new Uint8Array(256), true)).toBe(0);
    answer.drop();
    expect(answer.writeNow(new Uint8Array(10), false)).toBe(0);
  });

  test('the first write, which carries the head, is corked', async () => {
    const res = new FakeResponse();
    const { answer, finished } = answerOn(res);
    res.takeMore(400_000);
    answer.write(new Uint8Array(327_744));
    answer.end();
    await finished;
    expect([res.corks[0], res.uncorked, res.headsAt]).toEqual([[15_000], [312_488], [1]]);
  });

  test('an answer of a few bytes, or of none, is written in one cork with its head and its end', async () => {
    for (const size of [200, 0]) {
      const res = new FakeResponse();
      const { answer, finished } = answerOn(res);
      res.takeMore(1000);
      answer.write(new Uint8Array(size));
      answer.end();
      await finished;
      expect([res.corks, res.headsAt]).toEqual([[size === 0 ? [] : [size]], [1]]);
    }
  });
});

// Chunked answers under backpressure: no byte may stay behind, however slowly the client reads, and whether the
// reading of the body is stopped or not.
describe('backpressure', () => {
  const SOME_SIZES = [1, 100, 14_999, 15_000, 15_001, 70_000, 300_000];

  test.each(SOME_SIZES)(
    '%i bytes leave although the reading is stopped, so that onWritable is never called',
    async (size) => {
      const res = new FakeResponse();
      const { answer, finished } = answerOn(res);
      stopReading(res, answer);
      answer.write(new Uint8Array(size));
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(res.takenBytes).toBe(0);
      await whileReading(res, 20_000, () => expect.poll(() => res.takenBytes).toBe(size));
      answer.end();
      await finished;
      expect(res.hasEnded).toBe(true);
    },
  );

  test.each(SOME_SIZES)('%i bytes leave although neither a write nor the end follows', async (size) => {
    const res = new FakeResponse();
    const { answer, finished } = answerOn(res);
    answer.write(new Uint8Array(size));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await whileReading(res, 7000, () => expect.poll(() => res.takenBytes).toBe(size));
    answer.end();
    await finished;
  });

  test('for a slow reader uWS holds one piece at most, and each onWritable counts as progress', async () => {
    const res = new FakeResponse();
    const { answer, finished } = answerOn(res);
    answer.setBodyEnded();
    let left = 20;
    const more = (): void => {
      if (left-- === 0) answer.end();
      else if (answer.write(new Uint8Array(327_744))) more();
    };
    answer.onDrain = more;
    res.takeMore(100_000);
    more();
    let seen = 0;
    res.afterWritable = () => {
      if (answer.progressMs > 0) seen++;
      answer.progressMs = 0;
    };
    await whileReading(res, 20_000, () => finished);
    await whileReading(res, 20_000, () => expect.poll(() => res.takenBytes).toBe(20 * 327_744));
    expect(res.maxHeldBytes).toBeLessThan(327_744);
    // Writes have become smaller.
    expect(Math.max(...res.uncorked.slice(res.uncorked.length / 2))).toBeLessThan(140_000);
    expect(res.writableCalls).toBeGreaterThan(20);
    expect(seen).toBe(res.writableCalls);
  });

  test.each([10, 257, 20_000, 100_000, 327_744, 2_000_000])(
    'an answer of %i bytes ends when uWS holds no more of it',
    async (size) => {
      const res = new FakeResponse();
      const { answer, finished } = answerOn(res);
      answer.setBodyEnded();
      answer.write(new Uint8Array(size));
      answer.end();
      await whileReading(res, 9001, () => finished);
      expect(res.heldBytesAtEnd).toBe(0);
      await whileReading(res, 9001, () => expect.poll(() => res.takenBytes).toBe(size));
    },
  );

  test.each([20_000, 100_000, 327_744, 2_000_000])(
    'an answer of %i bytes that is ended late ends when uWS holds no more of it',
    async (size) => {
      for (const isReadingStopped of [false, true]) {
        const res = new FakeResponse();
        const { answer, finished } = answerOn(res, true, true);
        if (isReadingStopped) stopReading(res, answer);
        else answer.setBodyEnded();
        answer.write(new Uint8Array(size));
        await new Promise((resolve) => setTimeout(resolve, 10));
        // uWS holds most of it by now, as nothing was read.
        await whileReading(res, 301, async () => {
          await new Promise((resolve) => setTimeout(resolve, 10));
          answer.end();
        });
        await whileReading(res, 9001, () => finished);
        expect(res.heldBytesAtEnd).toBe(0);
        await whileReading(res, 9001, () => expect.poll(() => res.takenBytes).toBe(size));
      }
    },
  );

  test('in an answer that may be ended late all bytes leave before its end, however they are written', async () => {
    for (const sizes of [[5], [300], [15_000, 3], [300_000, 300_000, 10], [1_500_000]]) {
      const res = new FakeResponse();
      const { answer } = answerOn(res, true, true);
      let drained = true;
      answer.onDrain = () => {
        drained = true;
      };
      const total = sizes.reduce((sum, size) => sum + size, 0);
      for (const size of sizes) drained = writeAll(answer, new Uint8Array(size), false);
      await whileReading(res, 9001, () => expect.poll(() => res.takenBytes).toBe(total));
      await expect.poll(() => drained).toBe(true);
      answer.drop();
    }
  });

  test('the timeout is reset while a client reads nothing, and onWritable is still called afterwards', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const res = new FakeResponse();
    const { answer, finished } = answerOn(res);
    answer.write(new Uint8Array(10));
    answer.write(new Uint8Array(100_000));
    answer.write(new Uint8Array(100_000));
    answer.setBodyEnded();
    await new Promise((resolve) => setImmediate(resolve));
    const before = res.pauses;
    vi.advanceTimersByTime(30_000);
    expect(res.pauses - before).toBe(7);
    vi.useRealTimers();
    answer.end();
    await whileReading(res, 50_000, () => finished);
    await whileReading(res, 50_000, () => expect.poll(() => res.takenBytes).toBe(200_010));
  });

  test('onDrain is called although the queue is empty, so that there is nothing to probe with', async () => {
    const res = new FakeResponse();
    const { answer, finished } = answerOn(res);
    const sizes = [300_000, 300_000, 500_000, 300_000, 1, 300_000];
    const left = [...sizes];
    const more = (): void => {
      const size = left.shift();
      if (size === undefined) answer.end();
      else if (answer.write(new Uint8Array(size))) more();
    };
    answer.onDrain = more;
    stopReading(res, answer);
    // The socket takes the first piece. uWS holds the second, written in the same turn, and the queue is empty.
    res.takeMore(350_000);
    more();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const reading = setInterval(() => {
      res.takeMore(100_000);
    }, 1);
    await finished;
    await expect.poll(() => res.takenBytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
    clearInterval(reading);
    expect(res.hasEnded).toBe(true);
  });

  test('an answer ends whose bytes have all left before `end` is called', async () => {
    const res = new FakeResponse();
    const { answer, finished } = answerOn(res);
    stopReading(res, answer);
    answer.write(new Uint8Array(100_000));
    await new Promise((resolve) => setTimeout(resolve, 5));
    // As with gzip, which may call `end` some time after its last bytes.
    res.takeMore(100_000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    answer.end();
    await finished;
    await expect.poll(() => res.takenBytes).toBe(100_000);
    expect(res.hasEnded).toBe(true);
  });

  test('onDrain is called when the rest of the queue was written as a probe', async () => {
    const res = new FakeResponse();
    const { answer, finished } = answerOn(res);
    stopReading(res, answer);
    let drains = 0;
    answer.onDrain = () => {
      drains++;
      answer.end();
    };
    res.takeMore(200_000);
    for (const size of [10, 131_072, 262_144]) answer.write(new Uint8Array(size));
    expect(answer.write(new Uint8Array(200))).toBe(false);
    await expect.poll(() => drains).toBe(1);
    const reading = setInterval(() => {
      res.takeMore(50_000);
    }, 1);
    await finished;
    await expect.poll(() => res.takenBytes).toBe(393_426);
    clearInterval(reading);
  });
});

// Answers of known length, on a fake of uWS's response whose socket takes a part of what is written.
describe('answers of known length', () => {
  const CORK_BYTES = 16_384;

  /**
   * A response whose socket takes `freeBytes` bytes. A body that fits the cork it reports as taken in any case, and
   * holds what the socket does not take until the next write; of an uncorked one it holds nothing (README U23). After
   * backpressure it calls onWritable once.
   */
  class FakeResponse {
    readonly taken: Buffer[] = [];
    freeBytes = 0;
    heads = 0;
    pauses = 0;
    /** The hooks of the last write pause it. */
    isPaused = false;
    isDone = false;
    /** Bytes held when the answer was complete: uWS may never send them. */
    heldBytesAtEnd = 0;
    #held = Buffer.alloc(0);
    #corked: Buffer | undefined;
    #offset = 0;
    #pollsWritable = false;
    #onWritable: (offset: number) => boolean = () => true;

    onWritable(handler: (offset: number) => boolean): void {
      this.#onWritable = handler;
    }
    cork(work: () => void): void {
      this.#corked = Buffer.alloc(0);
      work();
      this.#uncork();
    }
    tryEnd(bytes: Uint8Array, totalBytes: number): [boolean, boolean] {
      if (this.isDone) throw new Error('the answer is over');
      let count = bytes.length;
      if (this.#corked !== undefined && this.#corked.length + count < CORK_BYTES) {
        this.#corked = Buffer.concat([this.#corked, bytes]);
      } else {
        this.#uncork();
        this.#sendHeld();
        count = this.#held.length > 0 ? 0 : this.#take(bytes);
      }
      this.#offset += count;
      this.isDone = this.#offset === totalBytes;
      if (this.isDone) this.heldBytesAtEnd = this.#held.length + (this.#corked?.length ?? 0);
      const isWhole = count === bytes.length;
      if (!isWhole) this.#pollsWritable = true;
      return [isWhole, this.isDone];
    }
    getWriteOffset(): number {
      return this.#offset;
    }
    pause(): void {
      this.pauses++;
    }
    resume(): void {}
    takeMore(bytes: number): void {
      this.freeBytes += bytes;
      if (!this.#pollsWritable) return;
      this.#pollsWritable = false;
      setImmediate(() => this.#onWritable(this.#offset));
    }
    #take(bytes: Uint8Array): number {
      const count = Math.min(this.freeBytes, bytes.length);
      this.freeBytes -= count;
      this.taken.push(Buffer.from(bytes.subarray(0, count)));
      return count;
    }
    #sendHeld(): void {
      this.#held = this.#held.subarray(this.#take(this.#held));
    }
    #uncork(): void {
      if (this.#corked === undefined) return;
      this.#held = Buffer.concat([this.#held, this.#corked]);
      this.#corked = undefined;
      this.#sendHeld();
      if (this.#held.length > 0) this.#pollsWritable = true;
    }
  }

  function answerOn(res: FakeResponse, totalBytes: number) {
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const answer = new SizedAnswer(
      res as never,
      {
        writeHead: () => res.heads++,
        lastWrite: () => (res.isPaused = true),
        notLastWrite: () => (res.isPaused = false),
        ending: () => {},
        finished: () => finish(),
        guard: (work) => work(),
      },
      totalBytes,
      { isOpen: true, runUncorked: (work) => work() },
    );
    return { answer, finished };
  }

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** Bytes of a pattern that shows their position. */
  function bytesFrom(start: number, count: number): Uint8Array {
    return Uint8Array.from({ length: count }, (_, i) => (start + i) * 7 + ((start + i) >> 8));
  }

  test.each([1, 2, 3, 4])(
    'all bytes leave in order at any pace, queued or written at once (%i)',
    async (seed) => {
      const next = randomFrom(seed);
      const random = (below: number): number => Math.floor(next() * below);
      const total = 400_000 + random(400_000);
      const res = new FakeResponse();
      const { answer, finished } = answerOn(res, total);
      const pieces: number[] = [];
      let given = 0;
      let returned = 0;
      while (given < total) {
        const size = Math.min(total - given, 1 + random(120_000));
        const bytes = bytesFrom(given, size);
        given += size;
        const went = random(2) === 0 ? answer.writeNow(bytes) : 0;
        const rest = bytes.slice(went);
        bytes.fill(0);
        if (rest.length > 0) {
          pieces.push(rest.length);
          answer.write(rest, () => {
            returned++;
            rest.fill(0);
          });
        }
        if (random(3) === 0) res.takeMore(random(150_000));
        if (random(3) === 0) await turn();
      }
      answer.end();
      while (!res.isDone) {
        // A connection that is left paused would neither be read again nor report that it is writable.
        expect(res.isPaused).toBe(false);
        res.takeMore(1 + random(60_000));
        await turn();
      }
      await finished;
      expect(res.isPaused).toBe(true);
      const wanted = bytesFrom(0, total);
      expect(Buffer.concat(res.taken).equals(wanted)).toBe(true);
      expect([res.heads, returned]).toEqual([1, pieces.length]);
    },
  );

  test.each([1, 2, 300, 14_999, 15_500, 16_383, 16_384, 30_000])(
    'an answer of %i bytes is complete when the socket has taken all of it, not before',
    async (size) => {
      for (const isQueued of [true, false]) {
        const res = new FakeResponse();
        const { answer, finished } = answerOn(res, size);
        let offered = size === 1 ? 1 : Math.floor(size / 3);
        res.takeMore(offered);
        const bytes = bytesFrom(0, size);
        answer.write(bytes.slice(isQueued ? 0 : answer.writeNow(bytes)));
        answer.end();
        for (; !res.isDone; await turn()) {
          await turn();
          expect(res.isDone && offered < size).toBe(false);
          const more = Math.ceil(size / 6);
          offered += more;
          res.takeMore(more);
        }
        await finished;
        expect([res.isDone, res.heldBytesAtEnd]).toEqual([true, size === 1 ? 1 : 0]);
        if (size > 1) expect(Buffer.concat(res.taken).equals(Buffer.from(bytesFrom(0, size)))).toBe(true);
      }
    },
  );

  test('onDrain is called when everything queued is taken', async () => {
    const res = new FakeResponse();
    const { answer } = answerOn(res, 500_000);
    const onDrain = vi.fn();
    answer.onDrain = onDrain;
    expect(answer.write(new Uint8Array(200_000))).toBe(true);
    expect(answer.write(new Uint8Array(200_000))).toBe(false);
    await turn();
    res.takeMore(399_999);
    await turn();
    await turn();
    expect(onDrain).not.toHaveBeenCalled();
    res.takeMore(1);
    await turn();
    await turn();
    expect(onDrain).toHaveBeenCalledTimes(1);
  });

  test('an answer of another length than announced is an error, before the client can take it for complete', () => {
    expect(() => answerOn(new FakeResponse(), 0)).toThrow();
    const short = answerOn(new FakeResponse(), 100).answer;
    short.write(new Uint8Array(99));
    expect(() => short.end()).toThrow();
    const long = answerOn(new FakeResponse(), 100).answer;
    long.write(new Uint8Array(60));
    expect(() => long.write(new Uint8Array(41))).toThrow();
    const res = new FakeResponse();
    res.takeMore(1000);
    const { answer } = answerOn(res, 100);
    expect(() => answer.writeNow(new Uint8Array(101))).toThrow();
    expect(res.taken).toEqual([]);
  });

  test("uWS's timeout is reset while the client reads slowly, and no longer", () => {
    vi.useFakeTimers();
    const res = new FakeResponse();
    const { answer } = answerOn(res, 100_000);
    expect(answer.writeNow(new Uint8Array(100_000))).toBe(0);
    vi.advanceTimersByTime(59_000);
    expect(res.pauses).toBe(15);
    res.takeMore(100_000);
    expect(answer.writeNow(new Uint8Array(10))).toBe(0);
    answer.drop();
    vi.advanceTimersByTime(59_000);
    expect(res.pauses).toBe(15);
    vi.useRealTimers();
  });
});
