// Binary frames through the kernel: equal to the library point by point, and every malformed frame answered as such.

import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { openKernel, randomFrom } from '../../../support/open-world.js';
import { Wire } from '../../../support/wire.js';

const wire = new Wire(openKernel());
/** Points of a frame, at most. */
const MAX_FRAME_POINTS = 65_536;
const library = new Hexcodes(openKernel());
const random = randomFrom(606);

function frameOf(
  operation: number,
  resolution: number,
  output: number,
  count: number,
  body: Uint8Array,
): Uint8Array {
  const frame = new Uint8Array(16 + body.length);
  frame.set([1, operation, resolution, output]);
  const view = new DataView(frame.buffer);
  view.setUint32(4, 0xfffffff0, true);
  view.setUint32(8, count, true);
  frame.set(body, 16);
  return frame;
}

/** Land, sea, abroad, and what is not a coordinate. */
function points(count: number): Float64Array {
  const oddities = [Number.NaN, Number.POSITIVE_INFINITY, 91, -90.5];
  return Float64Array.from({ length: count * 2 }, (_, i) => {
    if (random() < 0.02) return oddities[Math.floor(random() * oddities.length)]!;
    return i % 2 === 0 ? 3 + random() * 24 : 98 + random() * 23;
  });
}

const bytesOf = (array: Float64Array): Uint8Array => new Uint8Array(array.buffer);

test.each([0, 1, 4096, 4097, 10_000])('encode and decode of %i points equal the library', (count) => {
  const pairs = points(count);
  const records = library.encodeBatch(pairs, 11);
  const texts = wire.frame(frameOf(1, 11, 0, count, bytesOf(pairs)));
  expect(Buffer.from(texts.subarray(16)).equals(Buffer.from(records))).toBe(true);
  const view = new DataView(texts.buffer, texts.byteOffset);
  const failed = records.filter((_, i) => i % 20 === 19).filter((status) => status !== 0).length;
  expect([texts[0], texts[1], texts[2], texts[3]]).toEqual([1, 1, 0, 0]);
  expect([4, 8, 12].map((at) => view.getUint32(at, true))).toEqual([0xfffffff0, count, failed]);

  const cells = wire.frame(frameOf(1, 11, 1, count, bytesOf(pairs)));
  const cellView = new DataView(cells.buffer, cells.byteOffset);
  expect(cells.length).toBe(16 + count * 10);
  for (let i = 0; i < count; i++) {
    const status = records[i * 20 + 19]!;
    const code = Buffer.from(records.subarray(i * 20, i * 20 + 19)).toString('latin1');
    const expected = status === 0 ? library.read(code.replace(/\0+$/, ''))!.cell : 0n;
    if (cellView.getBigUint64(16 + i * 8, true) !== expected) expect.fail(`cell of point ${i}`);
    if (cells[16 + count * 9 + i] !== status) expect.fail(`status of point ${i}`);
    if ((cells[16 + count * 8 + i] === 255) !== (status !== 0)) expect.fail(`admin of point ${i}`);
  }

  const decoded = library.decodeBatch(records);
  const positions = wire.frame(frameOf(2, 0, 0, count, records));
  expect(Buffer.from(positions.subarray(16, 16 + count * 16)).equals(bytesOf(decoded.latLng))).toBe(true);
  expect([...positions.subarray(16 + count * 16, 16 + count * 17)]).toEqual([...decoded.resolution]);
  expect([...positions.subarray(16 + count * 17)]).toEqual([...decoded.status]);
});

test.each([0, 1, 4096, 4097, 26_000])('%i points are answered in the kernel as elsewhere', (count) => {
  const pairs = points(count);
  const records = library.encodeBatch(pairs, 11);
  const { textOut } = wire.kernel;
  for (const frame of [
    frameOf(1, 11, 0, count, bytesOf(pairs)),
    frameOf(1, 11, 1, count, bytesOf(pairs)),
    frameOf(2, 0, 0, count, records),
  ]) {
    const due = Buffer.from(wire.frame(frame));
    const answer = wire.frame(frame, textOut.subarray(5));
    expect([answer.buffer, answer.byteOffset]).toEqual([textOut.buffer, textOut.byteOffset + 5]);
    expect(due.equals(answer)).toBe(true);
  }
});

test('failed points are all NUL, cell 0 and admin 255, or the one NaN of the format', () => {
  const nowhere = Float64Array.of(0, 0, Number.NaN, 105);
  const texts = wire.frame(frameOf(1, 13, 0, 2, bytesOf(nowhere)));
  expect([...texts.subarray(16)]).toEqual([...new Array(19).fill(0), 1, ...new Array(19).fill(0), 2]);
  const cells = wire.frame(frameOf(1, 13, 1, 2, bytesOf(nowhere)));
  expect([...cells.subarray(16)]).toEqual([...new Array(16).fill(0), 255, 255, 1, 2]);
  const record = new Uint8Array(40);
  record.set(Buffer.from('not a hexcode'));
  record.set([0xc4, 0x90], 20);
  const positions = wire.frame(frameOf(2, 0, 0, 2, record));
  const nan = [0, 0, 0, 0, 0, 0, 0xf8, 0x7f];
  expect([...positions.subarray(16)]).toEqual([...nan, ...nan, ...nan, ...nan, 255, 255, 3, 3]);
});

const good = frameOf(1, 13, 0, 1, new Uint8Array(16));
const changed = (at: number, value: number, from = good): Uint8Array => {
  const frame = from.slice();
  frame[at] = value;
  return frame;
};
const goodDecode = frameOf(2, 0, 0, 1, new Uint8Array(20));

test.each([
  ['no header', new Uint8Array(0)],
  ['15 bytes', good.subarray(0, 15)],
  ['version 0', changed(0, 0)],
  ['version 2', changed(0, 2)],
  ['operation 0', changed(1, 0)],
  ['operation 3', changed(1, 3)],
  ['resolution 16', changed(2, 16)],
  ['resolution 255, which the kernel knows', changed(2, 255)],
  ['output 2', changed(3, 2)],
  ['one byte short', good.subarray(0, 31)],
  ['one byte long', Uint8Array.of(...good, 0)],
  ['another count', changed(8, 2)],
  ['a count of 4 G', changed(11, 255)],
  ['bytes 12-15 not 0', changed(15, 1)],
  ['decode with a resolution', changed(2, 13, goodDecode)],
  ['decode with an output', changed(3, 1, goodDecode)],
  [
    'more points than allowed',
    frameOf(1, 13, 0, MAX_FRAME_POINTS + 1, new Uint8Array((MAX_FRAME_POINTS + 1) * 16)),
  ],
])('%s is a bad frame', (_, frame) => {
  const answer = wire.frame(frame);
  expect(answer.length).toBe(16);
  expect([answer[0], answer[2]]).toEqual([1, 1]);
  const seq = frame.length < 16 ? [0, 0, 0, 0] : [0xf0, 0xff, 0xff, 0xff];
  expect([...answer.subarray(4)]).toEqual([...seq, 0, 0, 0, 0, 0, 0, 0, 0]);
  if (frame.length >= 16) expect([answer[1], answer[3]]).toEqual([frame[1], frame[3]]);
});
