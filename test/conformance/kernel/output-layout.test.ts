// src/hexcodes/kernel/output-layout.ts against the module: the answers of the batch calls are found where the offsets
// say. The expected values come from the calls for one point.

import { expect, test } from 'vitest';
import { INVALID_HEXCODE, type Kernel, OK, OUTSIDE_COVERAGE } from '#dist/hexcodes/kernel/kernel.js';
import {
  CELL_ANSWER_BYTES,
  cellAdminAt,
  cellAt,
  cellStatusAt,
  NO_ADMIN,
  NO_RESOLUTION,
  POSITION_ANSWER_BYTES,
  positionAt,
  positionResolutionAt,
  positionStatusAt,
  READ_ADMIN_AT,
  READ_CELL_AT,
  READ_RECORD_AT,
  READ_RESOLUTION_AT,
  RECORD_BYTES,
  recordAt,
  recordStatusAt,
} from '#dist/hexcodes/kernel/output-layout.js';
import { type Build, KERNEL_FILES, openKernel, openWorldAdmin } from '../../support/open-world.js';

const RESOLUTION = 13;
/** An odd count, as some passes take points by twos and fours; the third point is outside. */
const POINTS = [21.03, 105.85, 10.77, 106.7, 50, 106, 16.05, 108.2, 12.2, 109.2];
const COUNT = POINTS.length / 2;

function viewOf({ output }: Kernel): DataView {
  return new DataView(output.buffer, output.byteOffset, output.byteLength);
}

/** An answer that the kernel was told to write into TEXT_OUT. */
function atTextOut(kernel: Kernel, answerBytes: number): Uint8Array {
  return kernel.textOut.slice(64, 64 + answerBytes);
}

function recordsOf(kernel: Kernel): Uint8Array {
  kernel.input.set(POINTS);
  kernel.exports.encodeBatch(COUNT, RESOLUTION);
  return kernel.output.slice(0, recordAt(COUNT));
}

test.each(Object.keys(KERNEL_FILES) as Build[])('%s.wasm: records', (build) => {
  const kernel = openKernel(build);
  const records = recordsOf(kernel);
  for (let n = 0; n < COUNT; n++) {
    const status = kernel.exports.encodeOne(POINTS[2 * n]!, POINTS[2 * n + 1]!, RESOLUTION);
    expect(records[recordStatusAt(n)]).toBe(status);
    expect([...records.subarray(recordAt(n), recordAt(n + 1))]).toEqual([
      ...kernel.output.subarray(0, RECORD_BYTES),
    ]);
    expect(status).toBe(n === 2 ? OUTSIDE_COVERAGE : OK);
  }
  expect(kernel.exports.RECORD_BYTES.value).toBe(RECORD_BYTES);
});

test.each(Object.keys(KERNEL_FILES) as Build[])('%s.wasm: cells', (build) => {
  const kernel = openKernel(build);
  kernel.input.set(POINTS);
  expect(kernel.exports.encodeCells(COUNT, RESOLUTION)).toBe(1);
  const { output } = kernel;
  for (let n = 0; n < COUNT; n++) {
    const [latDeg, lngDeg] = [POINTS[2 * n]!, POINTS[2 * n + 1]!];
    const isFailed = n === 2;
    const cell = isFailed ? 0n : BigInt.asUintN(64, kernel.exports.cellOf(latDeg, lngDeg, RESOLUTION));
    expect(viewOf(kernel).getBigUint64(cellAt(n), true)).toBe(cell);
    expect(output[cellAdminAt(COUNT, n)]).toBe(isFailed ? NO_ADMIN : openWorldAdmin(latDeg, lngDeg));
    expect(output[cellStatusAt(COUNT, n)]).toBe(isFailed ? OUTSIDE_COVERAGE : OK);
  }
  const answer = output.slice(0, COUNT * CELL_ANSWER_BYTES);
  expect(cellStatusAt(COUNT, COUNT)).toBe(answer.length);
  kernel.exports.encodeCellsTo(COUNT, RESOLUTION, kernel.textOut.byteOffset + 64);
  expect(atTextOut(kernel, answer.length)).toEqual(answer);
});

test.each(Object.keys(KERNEL_FILES) as Build[])('%s.wasm: positions, and one text', (build) => {
  const kernel = openKernel(build);
  const records = recordsOf(kernel);
  const texts = Array.from({ length: COUNT }, (_, n) => kernel.textAt(recordAt(n)));
  kernel.inputBytes.set(records);
  expect(kernel.exports.decodeBatch(COUNT)).toBe(1);
  const answer = kernel.output.slice(0, COUNT * POSITION_ANSWER_BYTES);
  expect(positionStatusAt(COUNT, COUNT)).toBe(answer.length);
  kernel.exports.decodeBatchTo(COUNT, kernel.textOut.byteOffset + 64);
  expect(atTextOut(kernel, answer.length)).toEqual(answer);

  const positions = new DataView(answer.buffer);
  for (const [n, text] of texts.entries()) {
    const status = kernel.readText(text);
    const read = viewOf(kernel);
    expect(status).toBe(n === 2 ? INVALID_HEXCODE : OK);
    expect(answer[positionStatusAt(COUNT, n)]).toBe(status);
    expect(answer[positionResolutionAt(COUNT, n)]).toBe(n === 2 ? NO_RESOLUTION : RESOLUTION);
    for (const at of [0, 8])
      expect(positions.getFloat64(positionAt(n) + at, true)).toBe(read.getFloat64(at, true));
    expect(read.getUint8(READ_RESOLUTION_AT)).toBe(answer[positionResolutionAt(COUNT, n)]);
    if (n === 2) continue;
    const [latDeg, lngDeg] = [POINTS[2 * n]!, POINTS[2 * n + 1]!];
    expect(kernel.textAt(READ_RECORD_AT)).toBe(text);
    expect(read.getUint8(READ_ADMIN_AT)).toBe(openWorldAdmin(latDeg, lngDeg));
    expect(read.getBigUint64(READ_CELL_AT, true)).toBe(
      BigInt.asUintN(64, kernel.exports.cellOf(latDeg, lngDeg, RESOLUTION)),
    );
  }
});
