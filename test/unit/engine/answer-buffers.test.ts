// Memory of answers is used again, and never while somebody may still read it.
import { expect, test } from 'vitest';
import { AnswerBuffers } from '#dist/bus/messages/answer-buffers.js';
import { MessageConverter } from '#dist/bus/messages/message-converter.js';
import { DEFAULT_RULES } from '#dist/bus/messages/message-shape.js';
import { answerByLibrary, encodeFrame, loadLibrary, positionsOf } from '../../support/engine/frames.js';

test('a buffer that was given back is taken again, by answers of its size', () => {
  const buffers = new AnswerBuffers();
  const first = buffers.take(5000);
  expect(first.length).toBe(8192);
  expect(buffers.take(5000).buffer).not.toBe(first.buffer);
  buffers.giveBack(first.subarray(0, 5000));
  expect(buffers.take(8193).buffer).not.toBe(first.buffer);
  expect(buffers.take(4097).buffer).toBe(first.buffer);
  expect(buffers.take(4097).buffer).not.toBe(first.buffer);
});

test('no more than 16 MiB wait to be used again, and none that are very large', () => {
  const buffers = new AnswerBuffers();
  const taken = Array.from({ length: 20 }, () => buffers.take(1024 * 1024));
  for (const each of taken) buffers.giveBack(each);
  const again = Array.from({ length: 20 }, () => buffers.take(1024 * 1024).buffer);
  expect(again.filter((buffer) => taken.some((each) => each.buffer === buffer))).toHaveLength(16);
  const large = buffers.take(3 * 1024 * 1024);
  buffers.giveBack(large);
  expect(buffers.take(3 * 1024 * 1024).buffer).not.toBe(large.buffer);
});

test('an answer stays as it is until it is released, and a later one in its memory is right', async () => {
  const library = await loadLibrary();
  const converter = new MessageConverter(library.kernel, DEFAULT_RULES);
  const shape = { format: 'frames', operation: 'encode', resolution: 12 } as const;
  const positions = [300, 10, 299].map((points, i) => positionsOf(i, points));
  const rightOf = (i: number): Buffer => Buffer.from(answerByLibrary(library, positions[i]!));
  const answers = [];
  for (const each of positions) answers.push(await converter.convert(encodeFrame(each), shape));
  for (const [i, { bytes }] of answers.entries()) expect(Buffer.from(bytes)).toEqual(rightOf(i));
  const { buffer } = answers[0]!.bytes;
  answers[0]!.release!();
  const later = await converter.convert(encodeFrame(positions[2]!), shape);
  expect(later.bytes.buffer).toBe(buffer);
  expect(Buffer.from(later.bytes)).toEqual(rightOf(2));
  expect(Buffer.from(answers[2]!.bytes)).toEqual(rightOf(2));
});
