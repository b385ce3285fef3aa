// The module as others see it: its exports and their arities, that it imports nothing, its size, its areas of memory
// and the views of them.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { exportsOf, KERNEL_CALLS, KERNEL_GLOBALS } from '#dist/hexcodes/kernel/exports.js';
import { Kernel, MAX_TEXT_UNITS } from '#dist/hexcodes/kernel/kernel.js';
import { READ_RECORD_AT } from '#dist/hexcodes/kernel/output-layout.js';
import { textMemoryOf } from '#dist/hexcodes/kernel/text-memory.js';
import { ROW_STATUSES } from '#dist/hexcodes/wire/job.js';
import { ADMIN_UNITS, HexcodesError } from '#hexcodes';
import { type Build, KERNEL_FILES, OPEN_INDEX, OPEN_REACH, openKernel } from '../../support/open-world.js';

const SIZE_BUDGET_BYTES = 76 * 1024;

describe.each(Object.keys(KERNEL_FILES) as Build[])('%s.wasm', (build) => {
  const module = new WebAssembly.Module(readFileSync(KERNEL_FILES[build]));

  test('exports what KernelExports declares, and nothing else', () => {
    const names = WebAssembly.Module.exports(module).map(({ name, kind }) => `${kind} ${name}`);
    const declared = [
      'memory memory',
      ...KERNEL_GLOBALS.map((name) => `global ${name}`),
      ...Object.keys(KERNEL_CALLS).map((name) => `function ${name}`),
    ];
    expect(names.sort()).toEqual(declared.sort());
  });

  test('each call takes the arguments that KernelExports declares', () => {
    const { exports } = new WebAssembly.Instance(module);
    const arities = Object.keys(KERNEL_CALLS).map((name) => [name, (exports[name] as () => void).length]);
    expect(Object.fromEntries(arities)).toEqual(KERNEL_CALLS);
  });

  test('imports nothing', () => {
    expect(WebAssembly.Module.imports(module)).toEqual([]);
  });
});

test('the release build stays within its budget', () => {
  expect(readFileSync(KERNEL_FILES.kernel).length).toBeLessThanOrEqual(SIZE_BUDGET_BYTES);
});

/** [first byte, byte behind the last] of every area of the memory that the module names, in no order. */
function areasOf(kernel: Kernel): Record<string, readonly [from: number, end: number]> {
  const { exports, capacity } = kernel;
  const area = (address: WebAssembly.Global<'i32'>, sizeBytes: number): readonly [number, number] => [
    address.value,
    address.value + sizeBytes,
  ];
  const blockBytes = capacity * exports.RECORD_BYTES.value;
  const { block } = textMemoryOf(kernel);
  return {
    INPUT: area(exports.INPUT, blockBytes),
    OUTPUT: area(exports.OUTPUT, blockBytes),
    SCRATCH: area(exports.SCRATCH, exports.SCRATCH_BYTES.value),
    'UTF-16 units': area(exports.TEXT_IN, 2 * MAX_TEXT_UNITS),
    TAILS: area(exports.TAILS, ROW_STATUSES.length * exports.TAIL_BYTES.value),
    STATUS_COUNTS: area(exports.STATUS_COUNTS, ROW_STATUSES.length * 4),
    ADMIN_COUNTS: area(exports.ADMIN_COUNTS, ADMIN_UNITS.length * 4),
    // One vector behind the text is read, and one byte overwritten.
    BLOCK_TEXT: area(exports.BLOCK_TEXT, block.length + 16),
    TEXT_OUT: area(exports.TEXT_OUT, exports.TEXT_OUT_BYTES.value),
    ROWS: area(exports.ROWS, capacity * exports.ROW_BYTES.value),
    REACH: area(exports.REACH, exports.REACH_BYTES.value),
    RESOLUTIONS: area(exports.RESOLUTIONS, capacity),
    HOST_ROWS: area(exports.HOST_ROWS, 2 * capacity),
    UNIT_NAMES: area(exports.UNIT_NAMES, 64 * exports.UNIT_NAME_BYTES.value),
    BANDS: area(exports.BANDS, exports.BAND_COUNT.value * exports.BAND_BYTES.value),
    PIECES: area(exports.PIECES, 2 * exports.PIECE_LIST_BYTES.value),
    LINE_NAMES: area(exports.LINE_NAMES, 16 * exports.LINE_NAME_COUNT.value),
    MEMBERS: area(exports.MEMBERS, exports.MEMBERS_BYTES.value),
    INDEX: area(exports.INDEX, OPEN_INDEX.length),
  };
}

test('no two areas of the memory overlap, and all lie within it', () => {
  const kernel = openKernel();
  const areas = Object.entries(areasOf(kernel)).toSorted(([, [a]], [, [b]]) => a - b);
  for (const [n, [name, [from, end]]] of areas.entries()) {
    expect(from % 16, name).toBe(0);
    const [nextName, [next]] = areas[n + 1] ?? ['the end', [kernel.exports.memory.buffer.byteLength]];
    expect(next, `${nextName} behind ${name}`).toBeGreaterThanOrEqual(end);
  }
});

test('the views are the areas, and stay attached when everything is called', () => {
  const kernel = openKernel();
  const areas = areasOf(kernel);
  const { input, inputBytes, output, outputFloats, outputCells, resolutions, textIn, textInUnits, textOut } =
    kernel;
  const memory = textMemoryOf(kernel);
  expect(kernel.capacity).toBe(4096);
  const boundsOf = ({ byteOffset, byteLength }: ArrayBufferView) => [byteOffset, byteOffset + byteLength];
  expect(boundsOf(inputBytes)).toEqual(areas.INPUT);
  expect(boundsOf(output)).toEqual(areas.OUTPUT);
  expect(boundsOf(textInUnits)).toEqual(areas['UTF-16 units']);
  expect(boundsOf(textOut)).toEqual(areas.TEXT_OUT);
  expect(boundsOf(memory.textOut)).toEqual(areas.TEXT_OUT);
  expect(boundsOf(resolutions)).toEqual(areas.RESOLUTIONS);
  expect(boundsOf(memory.hostRows)).toEqual(areas.HOST_ROWS);
  expect(boundsOf(memory.statusCounts)).toEqual(areas.STATUS_COUNTS);
  expect(boundsOf(memory.adminCounts)).toEqual(areas.ADMIN_COUNTS);
  expect(memory.block.byteOffset).toBe(areas.BLOCK_TEXT?.[0]);
  const [textStart, textEnd] = boundsOf(textIn) as [number, number];
  expect(textStart).toBe(areas['UTF-16 units']?.[0]);
  expect(textEnd).toBeGreaterThanOrEqual(areas.BLOCK_TEXT?.[1] ?? Infinity);
  expect(textEnd).toBeLessThanOrEqual(areas.TEXT_OUT?.[0] ?? 0);
  for (const view of [input, outputFloats, outputCells]) {
    const [from, end] = boundsOf(view) as [number, number];
    const [areaFrom, areaEnd] = (view === input ? areas.INPUT : areas.OUTPUT) as readonly [number, number];
    expect(from).toBe(areaFrom);
    expect(end).toBeLessThanOrEqual(areaEnd);
  }

  input.fill(10);
  kernel.exports.encodeBatch(kernel.capacity, 15);
  kernel.exports.encodeCells(kernel.capacity, 15);
  kernel.exports.decodeBatch(kernel.capacity);
  kernel.exports.borderBatch(kernel.capacity);
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

test('a module with other exports is refused', () => {
  const text = readFileSync(KERNEL_FILES.kernel).toString('latin1');
  for (const name of ['locateBatch', 'TAIL_BYTES', 'scanNdjson']) {
    expect(text).toContain(name);
    const renamed = Buffer.from(text.replace(name, name.replace(/.$/, '_')), 'latin1');
    expect(() => exportsOf(new WebAssembly.Module(renamed))).toThrow(`it has no export ${name}`);
  }
  // Two calls of different arities change names.
  const swapped = text.replace(/unitOf|cellOf/g, (name) => (name === 'unitOf' ? 'cellOf' : 'unitOf'));
  expect(() => exportsOf(new WebAssembly.Module(Buffer.from(swapped, 'latin1')))).toThrow(
    'it is of another build',
  );
});

test('a kernel of another version is refused by name', () => {
  const wasm = readFileSync(KERNEL_FILES.kernel);
  // The immutable i32 global with the value 1: ABI_VERSION is the only one.
  const constant = Buffer.from([0x7f, 0, 0x41, 1, 0x0b]);
  const at = wasm.indexOf(constant);
  expect([at > 0, wasm.indexOf(constant, at + 1)]).toEqual([true, -1]);
  wasm[at + 3] = 2;
  expect(refusal(() => Kernel.create(wasm, OPEN_INDEX, OPEN_REACH))).toBe(
    "The kernel cannot be used: it has version 2 of the kernel's interface, this build reads 1",
  );
});

test('one compiled module serves many kernels', async () => {
  const module = await Kernel.compile(readFileSync(KERNEL_FILES.kernel));
  const [a, b] = [1, 2].map(() => Kernel.create(module, OPEN_INDEX, OPEN_REACH)) as [Kernel, Kernel];
  expect(a.readText('HN-66')).toBe(0);
  expect(b.readText('HN-67')).toBe(3);
  expect(a.textAt(READ_RECORD_AT)).toBe('HN-66');
});
