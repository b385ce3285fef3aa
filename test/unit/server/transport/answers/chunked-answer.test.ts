// A chunked answer whose body reading is stopped: the binary is silent then, and the answer must get out all the same.
import { expect, test, vi } from 'vitest';
import { ChunkedAnswer } from '#dist/server/transport/answers/chunked-answer.js';
import type { UwsResponse } from '#dist/server/transport/uws.js';

/** What paused sockets were watched for, in the binary's way: one place for those that hold bytes, one for the others. */
const roomKept = { holding: true, empty: false };

/**
 * A socket that takes `room` bytes. What it does not take the binary holds: it tells of room once, while it is watched for
 * that, and sends what it holds with the next write or cork only, or when the answer has ended.
 */
class SocketOfTheBinary {
  sizeBytes = 0;
  ended = false;
  /** Bytes of the writes of each cork. */
  readonly corks: number[][] = [];
  /** All that was written, copied as the binary does. */
  readonly written: Buffer[] = [];
  /** Bytes of the writes past the cork. */
  readonly pastCork: number[] = [];
  isPastCork = false;
  room = 0;
  mostHeld = 0;
  heldAtEnd = 0;
  /** Words of room so far. */
  told = 0;
  afterTold: (() => void) | undefined;
  pauses = 0;
  /** In which cork, from 1, a head was written. */
  readonly headsAt: number[] = [];
  /** Until the end of the answer, by the flow. */
  isStopped = false;
  #held = 0;
  #corkedBytes = 0;
  #paused = false;
  #isWatchedForRoom = false;
  #onWritable: () => boolean = () => true;

  onWritable(handler: () => boolean): void {
    this.#onWritable = handler;
  }
  cork(work: () => void): void {
    this.corks.push([]);
    work();
    this.#held += this.#corkedBytes;
    this.#corkedBytes = 0;
    this.#drain();
  }
  write(bytes: Uint8Array): boolean {
    this.written.push(Buffer.from(bytes));
    (this.isPastCork ? this.pastCork : this.corks.at(-1)!).push(bytes.length);
    this.#drain();
    if (this.#held === 0 && !this.isPastCork) {
      this.#corkedBytes += bytes.length;
      return true;
    }
    this.#held += bytes.length;
    this.#drain();
    return this.#held === 0;
  }
  end(): void {
    this.ended = true;
    this.heldAtEnd = this.#held;
  }
  pause(): void {
    this.pauses++;
    if (!this.#paused) roomKept[this.#held > 0 ? 'holding' : 'empty'] = this.#isWatchedForRoom;
    this.#paused = true;
    this.#isWatchedForRoom = false;
  }
  resume(): void {
    this.#paused = false;
    this.#isWatchedForRoom = roomKept[this.#held > 0 ? 'holding' : 'empty'];
    this.#tell();
  }
  /** The peer has read something. */
  makeRoom(bytes: number): void {
    this.room += bytes;
    if (this.ended) this.#drain();
    else this.#tell();
  }
  #tell(): void {
    if (!this.#isWatchedForRoom || this.room === 0) return;
    this.#isWatchedForRoom = false;
    setImmediate(() => {
      this.#onWritable();
      this.told++;
      this.afterTold?.();
    });
  }
  #drain(): void {
    const taken = Math.min(this.room, this.#held);
    this.#held -= taken;
    this.room -= taken;
    this.sizeBytes += taken;
    this.mostHeld = Math.max(this.mostHeld, this.#held);
    if (this.#held > 0) {
      this.#paused = false;
      this.#isWatchedForRoom = true;
    }
  }
}

function answerOn(
  socket: SocketOfTheBinary,
  hasHolder = true,
  isEndApart = false,
): { answer: ChunkedAnswer; finished: Promise<void> } {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const answer: ChunkedAnswer = new ChunkedAnswer(
    socket as unknown as UwsResponse,
    {
      writeHead: () => socket.headsAt.push(socket.corks.length),
      ending: () => {
        if (!socket.isStopped) return;
        socket.resume();
        answer.setReadingStopped(false);
      },
      finished: () => finish(),
      guard: (work) => work(),
    },
    {
      isOpen: hasHolder,
      runUncorked: (work) => {
        socket.isPastCork = true;
        work();
        socket.isPastCork = false;
      },
    },
    isEndApart,
  );
  return { answer, finished };
}

/** As the service writes what holds during the call only. */
function writeAll(answer: ChunkedAnswer, bytes: Uint8Array, isLast: boolean): boolean {
  return answer.write(bytes.slice(answer.writeNow(bytes, isLast)));
}

function stopReading(socket: SocketOfTheBinary, answer: ChunkedAnswer): void {
  socket.isStopped = true;
  socket.pause();
  answer.setReadingStopped(true);
}

/** The peer reads so many bytes each millisecond while `work` waits. */
async function whileReading(
  socket: SocketOfTheBinary,
  bytes: number,
  work: () => Promise<void>,
): Promise<void> {
  const reading = setInterval(() => {
    socket.makeRoom(bytes);
  }, 1);
  await work().finally(() => clearInterval(reading));
}

const SOME_SIZES = [1, 100, 14_999, 15_000, 15_001, 70_000, 300_000];

test.each(SOME_SIZES)(
  '%i bytes go out although the reading is stopped and nobody tells of room',
  async (size) => {
    const socket = new SocketOfTheBinary();
    const { answer, finished } = answerOn(socket);
    stopReading(socket, answer);
    answer.write(new Uint8Array(size));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(socket.sizeBytes).toBe(0);
    await whileReading(socket, 20_000, () => expect.poll(() => socket.sizeBytes).toBe(size));
    answer.end();
    await finished;
    expect(socket.ended).toBe(true);
  },
);

test.each(SOME_SIZES)('%i bytes go out although nothing follows, not even the end', async (size) => {
  const socket = new SocketOfTheBinary();
  const { answer, finished } = answerOn(socket);
  answer.write(new Uint8Array(size));
  await new Promise((resolve) => setTimeout(resolve, 5));
  await whileReading(socket, 7000, () => expect.poll(() => socket.sizeBytes).toBe(size));
  answer.end();
  await finished;
});

test('a slow reader: the binary holds one piece at most, and every word of room is progress', async () => {
  const socket = new SocketOfTheBinary();
  const { answer, finished } = answerOn(socket);
  answer.setBodyEnded();
  let left = 20;
  const more = (): void => {
    if (left-- === 0) answer.end();
    else if (answer.write(new Uint8Array(327_744))) more();
  };
  answer.onDrain = more;
  socket.makeRoom(100_000);
  more();
  let seen = 0;
  socket.afterTold = () => {
    if (answer.progressMs > 0) seen++;
    answer.progressMs = 0;
  };
  await whileReading(socket, 20_000, () => finished);
  await whileReading(socket, 20_000, () => expect.poll(() => socket.sizeBytes).toBe(20 * 327_744));
  expect(socket.mostHeld).toBeLessThan(327_744);
  // By and by the pieces become smaller.
  expect(Math.max(...socket.pastCork.slice(socket.pastCork.length / 2))).toBeLessThan(140_000);
  expect(socket.told).toBeGreaterThan(20);
  expect(seen).toBe(socket.told);
});

test.each([10, 257, 20_000, 100_000, 327_744, 2_000_000])(
  'an answer of %i bytes ends when the binary holds no more of it',
  async (size) => {
    const socket = new SocketOfTheBinary();
    const { answer, finished } = answerOn(socket);
    answer.setBodyEnded();
    answer.write(new Uint8Array(size));
    answer.end();
    await whileReading(socket, 9001, () => finished);
    expect(socket.heldAtEnd).toBe(0);
    await whileReading(socket, 9001, () => expect.poll(() => socket.sizeBytes).toBe(size));
  },
);

test.each([20_000, 100_000, 327_744, 2_000_000])(
  'so does one of %i bytes whose end comes when all else is written',
  async (size) => {
    for (const isStopped of [false, true]) {
      const socket = new SocketOfTheBinary();
      const { answer, finished } = answerOn(socket, true, true);
      if (isStopped) stopReading(socket, answer);
      else answer.setBodyEnded();
      answer.write(new Uint8Array(size));
      await new Promise((resolve) => setTimeout(resolve, 10));
      // The binary has much of it by now; the reader has rested.
      await whileReading(socket, 301, async () => {
        await new Promise((resolve) => setTimeout(resolve, 10));
        answer.end();
      });
      await whileReading(socket, 9001, () => finished);
      expect(socket.heldAtEnd).toBe(0);
      await whileReading(socket, 9001, () => expect.poll(() => socket.sizeBytes).toBe(size));
    }
  },
);

test('where the end comes apart all goes out all the same, however it is written', async () => {
  for (const sizes of [[5], [300], [15_000, 3], [300_000, 300_000, 10], [1_500_000]]) {
    const socket = new SocketOfTheBinary();
    const { answer } = answerOn(socket, true, true);
    let drained = true;
    answer.onDrain = () => {
      drained = true;
    };
    const total = sizes.reduce((sum, size) => sum + size, 0);
    for (const size of sizes) drained = writeAll(answer, new Uint8Array(size), false);
    await whileReading(socket, 9001, () => expect.poll(() => socket.sizeBytes).toBe(total));
    await expect.poll(() => drained).toBe(true);
    answer.drop();
  }
});

test('the clock of the transport is set back while a reader rests, and room is still told of', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const socket = new SocketOfTheBinary();
  const { answer, finished } = answerOn(socket);
  answer.write(new Uint8Array(10));
  answer.write(new Uint8Array(100_000));
  answer.write(new Uint8Array(100_000));
  answer.setBodyEnded();
  await new Promise((resolve) => setImmediate(resolve));
  const before = socket.pauses;
  vi.advanceTimersByTime(30_000);
  expect(socket.pauses - before).toBe(7);
  vi.useRealTimers();
  answer.end();
  await whileReading(socket, 50_000, () => finished);
  await whileReading(socket, 50_000, () => expect.poll(() => socket.sizeBytes).toBe(200_010));
});

test('whoever waits for room is told although nothing is queued that could ask for it', async () => {
  const socket = new SocketOfTheBinary();
  const { answer, finished } = answerOn(socket);
  const sizes = [300_000, 300_000, 500_000, 300_000, 1, 300_000];
  const left = [...sizes];
  const more = (): void => {
    const size = left.shift();
    if (size === undefined) answer.end();
    else if (answer.write(new Uint8Array(size))) more();
  };
  answer.onDrain = more;
  stopReading(socket, answer);
  // Room for the first piece; the second, which leaves in the same turn, finds none, and nothing is queued then.
  socket.makeRoom(350_000);
  more();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const reading = setInterval(() => {
    socket.makeRoom(100_000);
  }, 1);
  await finished;
  await expect.poll(() => socket.sizeBytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
  clearInterval(reading);
  expect(socket.ended).toBe(true);
});

test('an answer ends whose bytes all went while nobody knew of its end', async () => {
  const socket = new SocketOfTheBinary();
  const { answer, finished } = answerOn(socket);
  stopReading(socket, answer);
  answer.write(new Uint8Array(100_000));
  await new Promise((resolve) => setTimeout(resolve, 5));
  // As when the last bytes of a packed answer are out and its end is not there yet.
  socket.makeRoom(100_000);
  await new Promise((resolve) => setTimeout(resolve, 300));
  answer.end();
  await finished;
  await expect.poll(() => socket.sizeBytes).toBe(100_000);
  expect(socket.ended).toBe(true);
});

test('whoever waits for room is told when the last of the queue has left by asking for room', async () => {
  const socket = new SocketOfTheBinary();
  const { answer, finished } = answerOn(socket);
  stopReading(socket, answer);
  let told = 0;
  answer.onDrain = () => {
    told++;
    answer.end();
  };
  socket.makeRoom(200_000);
  for (const size of [10, 131_072, 262_144]) answer.write(new Uint8Array(size));
  expect(answer.write(new Uint8Array(200))).toBe(false);
  await expect.poll(() => told).toBe(1);
  const reading = setInterval(() => {
    socket.makeRoom(50_000);
  }, 1);
  await finished;
  await expect.poll(() => socket.sizeBytes).toBe(393_426);
  clearInterval(reading);
});

const SIZES = [1, 14_999, 15_000, 15_001, 16_384, 327_744, 10, 10, 500_000, 2_000_000];

test.each([true, false])(
  'a write is within a cork of its own and fits it, or is past the cork (which may be: %s)',
  async (hasHolder) => {
    const socket = new SocketOfTheBinary();
    const { answer, finished } = answerOn(socket, hasHolder);
    socket.makeRoom(4_000_000);
    for (const size of SIZES) answer.write(new Uint8Array(size));
    answer.end();
    await finished;
    expect(socket.sizeBytes).toBe(SIZES.reduce((sum, size) => sum + size, 0));
    const writes = socket.corks.filter((cork) => cork.length > 0);
    expect(writes.map((cork) => cork.length)).toEqual(Array(writes.length).fill(1));
    expect(Math.max(...writes.flat())).toBe(15_000);
    expect(socket.pastCork).toEqual(hasHolder ? [15_001, 16_384, 327_744, 485_020, 1_048_576, 951_168] : []);
  },
);

test.each([10, 256, 257, 20_000, 400_000])(
  'of %i bytes that hold during the call only, what the socket has no room for leaves from a copy',
  async (size) => {
    const pieces = 4;
    for (const room of [0, 5, 15_000, 100_000, 5_000_000]) {
      const socket = new SocketOfTheBinary();
      const { answer, finished } = answerOn(socket);
      answer.setBodyEnded();
      socket.makeRoom(room);
      const bytes = new Uint8Array(size);
      for (let n = 1; n <= pieces; n++) {
        bytes.fill(n);
        writeAll(answer, bytes, n === pieces);
        if (n === 2) await new Promise((resolve) => setTimeout(resolve, 2));
      }
      bytes.fill(99);
      // What of the end is kept back waits for the end.
      expect(answer.queuedBytes).toBeGreaterThanOrEqual(Math.min(256, size));
      answer.end();
      await whileReading(socket, 30_000, () => finished);
      expect(socket.heldAtEnd).toBe(0);
      await whileReading(socket, 30_000, () => expect.poll(() => socket.sizeBytes).toBe(pieces * size));
      expect(
        Buffer.concat(socket.written).equals(
          Buffer.concat(Array.from({ length: pieces }, (_, n) => Buffer.alloc(size, n + 1))),
        ),
      ).toBe(true);
    }
  },
);

test('what holds during the call only leaves in the call, as far as there is room', () => {
  const socket = new SocketOfTheBinary();
  const { answer } = answerOn(socket);
  socket.makeRoom(1_000_000);
  expect(answer.writeNow(new Uint8Array(400_000), false)).toBe(400_000);
  expect([socket.sizeBytes, answer.queuedBytes]).toEqual([400_000, 0]);
  expect(answer.writeNow(new Uint8Array(400_000), true)).toBe(399_744);
  expect(answer.writeNow(new Uint8Array(256), true)).toBe(0);
  answer.drop();
  expect(answer.writeNow(new Uint8Array(10), false)).toBe(0);
});

test('the first write, with which the head goes out, is within a cork', async () => {
  const socket = new SocketOfTheBinary();
  const { answer, finished } = answerOn(socket);
  socket.makeRoom(400_000);
  answer.write(new Uint8Array(327_744));
  answer.end();
  await finished;
  expect([socket.corks[0], socket.pastCork, socket.headsAt]).toEqual([[15_000], [312_488], [1]]);
});

test('an answer of a few bytes leaves with its head and its end in one cork, and so does one of none', async () => {
  for (const size of [200, 0]) {
    const socket = new SocketOfTheBinary();
    const { answer, finished } = answerOn(socket);
    socket.makeRoom(1000);
    answer.write(new Uint8Array(size));
    answer.end();
    await finished;
    expect([socket.corks, socket.headsAt]).toEqual([[size === 0 ? [] : [size]], [1]]);
  }
});
