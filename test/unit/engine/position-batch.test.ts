// A frame of single positions: it holds as many as it may, names the messages that it is made of, those without a
// position among them, and the vehicles in their order. Frames that no collector has made are told apart.
import { expect, test } from 'vitest';
import {
  lastSequenceOf,
  PositionBatch,
  SEQUENCES_HEADER,
  SOURCES_HEADER,
} from '#dist/bus/messages/position-batch.js';

test('a frame holds no position more than it may', () => {
  const batch = new PositionBatch(7, 3);
  const added = [7, 8, 9, 10].map((seq) => batch.add(seq, seq, 105, `v${seq}`));
  expect([added, batch.points, batch.lastSeq]).toEqual([[true, true, true, false], 3, 9]);
  expect(batch.headers.get(SOURCES_HEADER)).toBe('["v7","v8","v9"]');
  const frame = batch.frame(12);
  expect([frame.length, new DataView(frame.buffer).getUint32(8, true)]).toEqual([16 + 3 * 16, 3]);
});

test('messages without a position belong to the frame', () => {
  const batch = new PositionBatch(5, 3);
  batch.skip(5);
  expect([batch.points, batch.lastSeq]).toEqual([0, 5]);
  batch.add(6, 21, 105, 'a');
  batch.skip(7);
  expect([batch.points, batch.lastSeq, batch.headers.get(SEQUENCES_HEADER)]).toEqual([1, 7, '5-7']);
});

test('a frame ends where the names of its vehicles are too long, and takes one at least', () => {
  const batch = new PositionBatch(1, 1000);
  const name = 'x'.repeat(1000);
  let seq = 1;
  while (batch.add(seq, 21, 105, name)) seq++;
  expect([batch.points, batch.headers.get(SOURCES_HEADER)!.length < 48 * 1024]).toEqual([49, true]);
  const large = new PositionBatch(1, 10);
  expect([large.add(1, 21, 105, 'x'.repeat(50_000)), large.add(2, 21, 105, 'y')]).toEqual([true, false]);
});

test('the last message of a frame, and frames that no collector has made', () => {
  const frame = 'hexcodes.in.collected.17';
  expect(lastSequenceOf(frame, '17-17', 17)).toBe(17);
  expect(lastSequenceOf(frame, '17-240', 300)).toBe(240);
  for (const [header, lastSeq] of [
    ['18-240', 300],
    ['17-16', 300],
    ['17-301', 300],
    ['17-99999999999999999999', 300],
    ['017-240', 300],
    ['17-1e2', 300],
    ['17', 300],
    [undefined, 300],
  ] as const)
    expect(() => lastSequenceOf(frame, header, lastSeq)).toThrow(
      /must be two numbers|does not end with|is not behind/,
    );
});
