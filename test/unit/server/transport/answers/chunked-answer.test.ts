// How chunked answers are written: corked or uncorked, in which sizes, from which bytes.
import { expect, test } from 'vitest';
import { answerOn, FakeResponse, whileReading, writeAll } from '../../../../support/fake-response.js';

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
    expect(res.uncorked).toEqual(hasCorkHolder ? [15_001, 16_384, 327_744, 485_020, 1_048_576, 951_168] : []);
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
