// Answers of known length, on a fake of uWS's response whose socket takes a part of what is written.
import { expect, test, vi } from 'vitest';
import { SizedAnswer } from '#dist/server/transport/answers/sized-answer.js';
import type { UwsResponse } from '#dist/server/transport/uws.js';

const CORK_BYTES = 16_384;

/**
 * A response whose socket takes `freeBytes` bytes. A body that fits the cork it reports as taken in any case, and holds
 * what the socket does not take until the next write; of an uncorked one it holds nothing (README U23). After
 * backpressure it calls onWritable once.
 */
class FakeResponse {
  readonly taken: Buffer[] = [];
  freeBytes = 0;
  heads = 0;
  pauses = 0;
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
    res as unknown as UwsResponse,
    {
      writeHead: () => res.heads++,
      lastWrite: () => {},
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
    let state = seed;
    const random = (below: number): number => {
      state = (state * 1103515245 + 12345) & 0x7fffffff;
      return Math.floor((state / 0x7fffffff) * below);
    };
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
      res.takeMore(1 + random(60_000));
      await turn();
    }
    await finished;
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
  expect(() => answerOn(new FakeResponse(), 0)).toThrow('an answer of no bytes has no first write');
  const short = answerOn(new FakeResponse(), 100).answer;
  short.write(new Uint8Array(99));
  expect(() => short.end()).toThrow('the answer lacks 1 bytes of its length');
  const long = answerOn(new FakeResponse(), 100).answer;
  long.write(new Uint8Array(60));
  expect(() => long.write(new Uint8Array(41))).toThrow('the answer has 1 bytes more than its length');
  const res = new FakeResponse();
  res.takeMore(1000);
  const { answer } = answerOn(res, 100);
  expect(() => answer.writeNow(new Uint8Array(101))).toThrow('the answer has 1 bytes more than its length');
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

test('nothing is written once the connection is closed', async () => {
  const res = new FakeResponse();
  const { answer } = answerOn(res, 100_000);
  answer.write(new Uint8Array(50_000));
  answer.drop();
  res.takeMore(100_000);
  await turn();
  expect(answer.write(new Uint8Array(10))).toBe(false);
  expect([answer.writeNow(new Uint8Array(10)), res.taken.length]).toEqual([0, 0]);
});
