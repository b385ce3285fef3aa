// The module as others see it: its exports, that it imports nothing, its size; and the views that Kernel makes of it.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { HexcodesError } from '#dist/errors.js';
import { Kernel } from '#dist/kernel/kernel.js';
import { type Build, KERNEL_FILES, OPEN_INDEX, OPEN_REACH, openKernel } from '../../support/open-world.js';

const SIZE_BUDGET_BYTES = 64 * 1024;

/** By room; a new export is added here and in ARCHITECTURE.md. */
const EXPORTS = [
  'memory CAPACITY RECORD_BYTES INPUT OUTPUT TEXT_IN TEXT_IN_BYTES TEXT_OUT TEXT_OUT_BYTES REACH REACH_BYTES',
  'RESOLUTIONS INDEX useReach cellOf encodeBatch encodeBatchTo encodeCells encodeCellsTo encodeOne',
  'centerOf decodeBatch decodeBatchTo pack readText',
  // region
  'useIndex regionOf unitOf locateBatch',
  // text
  'BLOCK HOST_ROWS ROWS TAILS STATUS_COUNTS setTextEnd textEnd writeEncodedCsv writeDecodedCsv writeEncodedJson',
  'writeDecodedJson csvEnd scanCsv useCsvColumns jsonEnd jsonState scanArray scanNdjson hostRowCount numberEnd',
  'numberIsPlain numberKind readNumber printNumber',
].flatMap((line) => line.split(' '));

describe.each(Object.keys(KERNEL_FILES) as Build[])('%s.wasm', (build) => {
  const module = new WebAssembly.Module(readFileSync(KERNEL_FILES[build]));

  test('exports what ARCHITECTURE.md lists', () => {
    const names = WebAssembly.Module.exports(module).map(({ name }) => name);
    expect(names.sort()).toEqual(EXPORTS.toSorted());
  });

  test('imports nothing', () => {
    expect(WebAssembly.Module.imports(module)).toEqual([]);
  });
});

test('the release build stays within its budget', () => {
  expect(readFileSync(KERNEL_FILES.kernel).length).toBeLessThanOrEqual(SIZE_BUDGET_BYTES);
});

test('views lie apart, are aligned, and stay attached when everything is called', () => {
  const kernel = openKernel();
  const { input, inputBytes, output, outputFloats, outputCells, resolutions, textIn, textInUnits, textOut } =
    kernel;
  expect(kernel.capacity).toBe(4096);
  const areas = [inputBytes, output, textIn, textOut, resolutions]
    .map((view) => [view.byteOffset, view.byteOffset + view.byteLength] as const)
    .sort(([a], [b]) => a - b);
  for (const [n, [start]] of areas.entries()) {
    expect(start % 16).toBe(0);
    if (n > 0) expect(start).toBeGreaterThanOrEqual((areas[n - 1] as readonly [number, number])[1]);
  }
  expect(input.byteOffset).toBe(inputBytes.byteOffset);
  expect(outputFloats.byteOffset).toBe(output.byteOffset);
  expect(outputCells.byteOffset).toBe(output.byteOffset);
  expect(textInUnits.byteOffset).toBe(textIn.byteOffset);

  input.fill(10);
  kernel.exports.encodeBatch(kernel.capacity, 15);
  kernel.exports.encodeCells(kernel.capacity, 15);
  kernel.exports.decodeBatch(kernel.capacity);
  kernel.readText('HN-66');
  for (const view of [input, output, textIn, textOut, resolutions]) expect(view.length).toBeGreaterThan(0);
});

function refusal(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(HexcodesError);
    expect((error as HexcodesError).code).toBe('BAD_DATA');
    return (error as HexcodesError).message;
  }
  throw new Error('accepted');
}

test('a kernel, index or reach that cannot be used is refused with a sentence', () => {
  const wasm = readFileSync(KERNEL_FILES.kernel);
  const empty = new Uint8Array(0);
  const nothing = new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
  expect(refusal(() => Kernel.create(empty, OPEN_INDEX, OPEN_REACH))).toMatch(/^The kernel cannot be used: /);
  expect(refusal(() => Kernel.create(nothing, OPEN_INDEX, OPEN_REACH))).toMatch(/no export memory/);
  expect(refusal(() => Kernel.create(wasm, empty, OPEN_REACH))).toMatch(
    /^The boundary index cannot be used: /,
  );
  expect(refusal(() => Kernel.create(wasm, OPEN_REACH, OPEN_REACH))).toMatch(
    /not a boundary index|cut short/,
  );
  expect(refusal(() => Kernel.create(wasm, OPEN_INDEX, empty))).toMatch(/not a reach file/);
  expect(refusal(() => Kernel.create(wasm, new Uint8Array(65 * 2 ** 20), OPEN_REACH))).toMatch(
    /larger than 64 MiB/,
  );
  const damaged = OPEN_INDEX.slice();
  damaged[damaged.length - 1] = (damaged.at(-1) as number) ^ 1;
  expect(refusal(() => Kernel.create(wasm, damaged, OPEN_REACH))).toMatch(/damaged/);
});

test('one compiled module serves many kernels', async () => {
  const module = await Kernel.compile(readFileSync(KERNEL_FILES.kernel));
  const [a, b] = [1, 2].map(() => Kernel.create(module, OPEN_INDEX, OPEN_REACH)) as [Kernel, Kernel];
  expect(a.readText('HN-66')).toBe(0);
  expect(b.readText('HN-67')).toBe(3);
  expect(a.textAt(32)).toBe('HN-66');
});
