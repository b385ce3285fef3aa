// An answer with a Content-Length at a socket that takes what it has room for.
import { expect, test, vi } from 'vitest';
import { SizedAnswer } from '#dist/server/transport/answers/sized-answer.js';
import type { UwsResponse } from '#dist/server/transport/uws.js';

const CORK_BYTES = 16_384;

/**
 * Takes `room` bytes. What fits its cork it takes in any case, and keeps what it has no room for until the next write; of
 * what it cannot take it keeps nothing, and tells of room once after that.
 */
class SocketOfTheBinary {
  readonly taken: Buffer[] = [];
  room = 0;
  heads = 0;
  pauses = 0;
  isDone = false;
  /** What it kept when the answer was over: nothing sends it any more. */
  keptAtEnd = 0;
  #kept = Buffer.alloc(0);
  #corked: Buffer | undefined;
  #offset = 0;
  #isWatchedForRoom = false;
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
      this.#takeKept();
      count = this.#kept.length > 0 ? 0 : this.#take(bytes);
    }
    this.#offset += count;
    this.isDone = this.#offset === totalBytes;
    if (this.isDone) this.keptAtEnd = this.#kept.length + (this.#corked?.length ?? 0);
    const isWhole = count === bytes.length;
    if (!isWhole) this.#isWatchedForRoom = true;
    return [isWhole, this.isDone];
  }
  getWriteOffset(): number {
    return this.#offset;
  }
  pause(): void {
    this.pauses++;
  }
  resume(): void {}
  makeRoom(bytes: number): void {
    this.room += bytes;
    if (!this.#isWatchedForRoom) return;
    this.#isWatchedForRoom = false;
    setImmediate(() => this.#onWritable(this.#offset));
  }
  #take(bytes: Uint8Array): number {
    const count = Math.min(this.room, bytes.length);
    this.room -= count;
    this.taken.push(Buffer.from(bytes.subarray(0, count)));
    return count;
  }
  #takeKept(): void {
    this.#kept = this.#kept.subarray(this.#take(this.#kept));
  }
  #uncork(): void {
    if (this.#corked === undefined) return;
    this.#kept = Buffer.concat([this.#kept, this.#corked]);
    this.#corked = undefined;
    this.#takeKept();
    if (this.#kept.length > 0) this.#isWatchedForRoom = true;
  }
}

function answerOn(socket: SocketOfTheBinary, totalBytes: number) {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const answer = new SizedAnswer(
    socket as unknown as UwsResponse,
    {
      writeHead: () => socket.heads++,
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

/** Bytes that tell their place. */
function bytesFrom(start: number, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, i) => (start + i) * 7 + ((start + i) >> 8));
}

test.each([1, 2, 3, 4])('all leaves in order at any pace, queued or at once (%i)', async (seed) => {
  let state = seed;
  const random = (below: number): number => {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    return Math.floor((state / 0x7fffffff) * below);
  };
  const total = 400_000 + random(400_000);
  const socket = new SocketOfTheBinary();
  const { answer, finished } = answerOn(socket, total);
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
    if (random(3) === 0) socket.makeRoom(random(150_000));
    if (random(3) === 0) await turn();
  }
  answer.end();
  while (!socket.isDone) {
    socket.makeRoom(1 + random(60_000));
    await turn();
  }
  await finished;
  const wanted = bytesFrom(0, total);
  expect(Buffer.concat(socket.taken).equals(wanted)).toBe(true);
  expect([socket.heads, returned]).toEqual([1, pieces.length]);
});

test.each([1, 2, 300, 14_999, 15_500, 16_383, 16_384, 30_000])(
  'an answer of %i bytes is over when the socket has taken all of it, not before',
  async (size) => {
    for (const isQueued of [true, false]) {
      const socket = new SocketOfTheBinary();
      const { answer, finished } = answerOn(socket, size);
      let offered = size === 1 ? 1 : Math.floor(size / 3);
      socket.makeRoom(offered);
      const bytes = bytesFrom(0, size);
      answer.write(bytes.slice(isQueued ? 0 : answer.writeNow(bytes)));
      answer.end();
      for (; !socket.isDone; await turn()) {
        await turn();
        expect(socket.isDone && offered < size).toBe(false);
        const more = Math.ceil(size / 6);
        offered += more;
        socket.makeRoom(more);
      }
      await finished;
      expect([socket.isDone, socket.keptAtEnd]).toEqual([true, size === 1 ? 1 : 0]);
      if (size > 1) expect(Buffer.concat(socket.taken).equals(Buffer.from(bytesFrom(0, size)))).toBe(true);
    }
  },
);

test('who was asked to wait is told when all has gone', async () => {
  const socket = new SocketOfTheBinary();
  const { answer } = answerOn(socket, 500_000);
  const onDrain = vi.fn();
  answer.onDrain = onDrain;
  expect(answer.write(new Uint8Array(200_000))).toBe(true);
  expect(answer.write(new Uint8Array(200_000))).toBe(false);
  await turn();
  socket.makeRoom(399_999);
  await turn();
  await turn();
  expect(onDrain).not.toHaveBeenCalled();
  socket.makeRoom(1);
  await turn();
  await turn();
  expect(onDrain).toHaveBeenCalledTimes(1);
});

test('an answer that is not as long as it said is an error, before the peer could take it for whole', () => {
  expect(() => answerOn(new SocketOfTheBinary(), 0)).toThrow('an answer of no bytes has no first write');
  const short = answerOn(new SocketOfTheBinary(), 100).answer;
  short.write(new Uint8Array(99));
  expect(() => short.end()).toThrow('the answer lacks 1 bytes of its length');
  const long = answerOn(new SocketOfTheBinary(), 100).answer;
  long.write(new Uint8Array(60));
  expect(() => long.write(new Uint8Array(41))).toThrow('the answer has 1 bytes more than its length');
  const socket = new SocketOfTheBinary();
  socket.makeRoom(1000);
  const { answer } = answerOn(socket, 100);
  expect(() => answer.writeNow(new Uint8Array(101))).toThrow('the answer has 1 bytes more than its length');
  expect(socket.taken).toEqual([]);
});

test("the transport's clock is set back as long as the reader takes its time, and no longer", () => {
  vi.useFakeTimers();
  const socket = new SocketOfTheBinary();
  const { answer } = answerOn(socket, 100_000);
  expect(answer.writeNow(new Uint8Array(100_000))).toBe(0);
  vi.advanceTimersByTime(59_000);
  expect(socket.pauses).toBe(15);
  socket.makeRoom(100_000);
  expect(answer.writeNow(new Uint8Array(10))).toBe(0);
  answer.drop();
  vi.advanceTimersByTime(59_000);
  expect(socket.pauses).toBe(15);
  vi.useRealTimers();
});

test('nothing is written once the request is gone', async () => {
  const socket = new SocketOfTheBinary();
  const { answer } = answerOn(socket, 100_000);
  answer.write(new Uint8Array(50_000));
  answer.drop();
  socket.makeRoom(100_000);
  await turn();
  expect(answer.write(new Uint8Array(10))).toBe(false);
  expect([answer.writeNow(new Uint8Array(10)), socket.taken.length]).toEqual([0, 0]);
});
