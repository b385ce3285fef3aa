// Chunked answers under backpressure: no byte may stay behind, however slowly the client reads, and whether the reading
// of the body is stopped or not.
import { expect, test, vi } from 'vitest';
import {
  answerOn,
  FakeResponse,
  stopReading,
  whileReading,
  writeAll,
} from '../../../../support/fake-response.js';

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
