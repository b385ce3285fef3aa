// The kernel as docs/kernel-abi.md says it is: its calls, its memory, and the layout of its output; and its build
// without SIMD.

import { readFileSync } from 'node:fs';
import binaryen from 'assemblyscript/binaryen';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes, type HexcodesData, HexcodesError, type Kernel } from '#hexcodes';
import {
  type Build,
  KERNEL_FILES,
  OPEN_INDEX,
  OPEN_REACH,
  openKernel,
  openWorld,
  openWorldAdmin,
  randomFrom,
} from '../../support/open-world.js';
import { bareKernel } from '../../support/region/made-partitions.js';
import { shippedKernel } from '../../support/shipped.js';
import { CODE_ROWS, READING_ROWS } from '../../support/vectors.js';

/** Numbers of docs/reference/kernel.md: point statuses, units of a text, statuses of rows, bytes of answers. */
const [OK, OUTSIDE_COVERAGE, INVALID_HEXCODE] = [0, 1, 3];
const MAX_TEXT_UNITS = 64;
const ROW_STATUS_COUNT = 6;
const [RECORD_BYTES, CELL_ANSWER_BYTES, POSITION_ANSWER_BYTES] = [20, 10, 18];
/** In place of a resolution or an admin number. */
const NONE = 255;
/** Behind the position in the answer of readText. */
const [READ_CELL_AT, READ_RESOLUTION_AT, READ_ADMIN_AT, READ_RECORD_AT] = [16, 24, 25, 32];

// The module as others see it: its exports and their arities, that it imports nothing, its size, its areas of memory
// and the views of them.
describe('calls and memory', () => {
  const SIZE_BUDGET_BYTES = 82 * 1024;

  describe.each(Object.keys(KERNEL_FILES) as Build[])('%s.wasm', (build) => {
    const module = new WebAssembly.Module(readFileSync(KERNEL_FILES[build]));

    test('imports nothing', () => {
      expect(WebAssembly.Module.imports(module)).toEqual([]);
    });

    // The compiler does not know the areas of assembly/memory.ts: points would overwrite larger tables.
    test('has its static tables before INPUT', () => {
      const { memory, INPUT } = bareKernel(build);
      const lastUsed = new Uint8Array(memory.buffer).findLastIndex((byte) => byte !== 0);
      expect(INPUT.value).toBe(0x40000);
      expect(lastUsed).toBeGreaterThan(0x20000);
      expect(lastUsed).toBeLessThan(INPUT.value);
    });
  });

  test('the release build stays within its budget', () => {
    expect(readFileSync(KERNEL_FILES.kernel).length).toBeLessThanOrEqual(SIZE_BUDGET_BYTES);
  });

  /** [first byte, byte after the last] of every area of the memory that the module names, in no order. */
  function areasOf(kernel: Kernel): Record<string, readonly [from: number, end: number]> {
    const { exports, capacity } = kernel;
    const area = (address: WebAssembly.Global<'i32'>, sizeBytes: number): readonly [number, number] => [
      address.value,
      address.value + sizeBytes,
    ];
    const blockBytes = capacity * exports.RECORD_BYTES.value;
    return {
      INPUT: area(exports.INPUT, blockBytes),
      OUTPUT: area(exports.OUTPUT, blockBytes),
      SCRATCH: area(exports.SCRATCH, exports.SCRATCH_BYTES.value),
      'UTF-16 units': area(exports.TEXT_IN, 2 * MAX_TEXT_UNITS),
      TAILS: area(exports.TAILS, ROW_STATUS_COUNT * exports.TAIL_BYTES.value),
      STATUS_COUNTS: area(exports.STATUS_COUNTS, ROW_STATUS_COUNT * 4),
      ADMIN_COUNTS: area(exports.ADMIN_COUNTS, ADMIN_UNITS.length * 4),
      BLOCK_TEXT: [exports.BLOCK_TEXT.value, exports.TEXT_IN.value + exports.TEXT_IN_BYTES.value],
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
    const {
      input,
      inputBytes,
      output,
      outputFloats,
      outputCells,
      resolutions,
      textIn,
      textInUnits,
      textOut,
    } = kernel;
    expect(kernel.capacity).toBe(4096);
    const boundsOf = ({ byteOffset, byteLength }: ArrayBufferView) => [byteOffset, byteOffset + byteLength];
    expect(boundsOf(inputBytes)).toEqual(areas.INPUT);
    expect(boundsOf(output)).toEqual(areas.OUTPUT);
    expect(boundsOf(textInUnits)).toEqual(areas['UTF-16 units']);
    expect(boundsOf(textOut)).toEqual(areas.TEXT_OUT);
    expect(boundsOf(resolutions)).toEqual(areas.RESOLUTIONS);
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
    const world = openWorld();
    const empty = new Uint8Array(0);
    const nothing = new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
    const refused = (data: Partial<HexcodesData>) => refusal(() => Hexcodes.from({ ...world, ...data }));
    expect(refused({ kernel: empty })).toMatch(/^The kernel cannot be used: /);
    expect(refused({ kernel: nothing })).toMatch(/no export memory/);
    expect(refused({ index: empty })).toMatch(/^The boundary index cannot be used: /);
    expect(refused({ index: OPEN_REACH })).toMatch(/not a boundary index|cut short/);
    expect(refused({ reach: empty })).toMatch(/not a reach file/);
    expect(refused({ index: new Uint8Array(65 * 2 ** 20) })).toMatch(/larger than 64 MiB/);
    const damaged = OPEN_INDEX.slice();
    damaged[damaged.length - 1] = (damaged.at(-1) as number) ^ 1;
    expect(refused({ index: damaged })).toMatch(/damaged/);
  });

  test('a module with other exports is refused', () => {
    const text = readFileSync(KERNEL_FILES.kernel).toString('latin1');
    for (const name of ['locateBatch', 'TAIL_BYTES', 'scanNdjson']) {
      expect(text).toContain(name);
      const renamed = Buffer.from(text.replace(name, name.replace(/.$/, '_')), 'latin1');
      expect(() => Hexcodes.from({ ...openWorld(), kernel: renamed })).toThrow(`it has no export ${name}`);
    }
    // Two calls of different arities change names.
    const swapped = text.replace(/unitOf|cellOf/g, (name) => (name === 'unitOf' ? 'cellOf' : 'unitOf'));
    expect(() => Hexcodes.from({ ...openWorld(), kernel: Buffer.from(swapped, 'latin1') })).toThrow(
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
    expect(refusal(() => Hexcodes.from({ ...openWorld(), kernel: wasm }))).toBe(
      "The kernel cannot be used: it has version 2 of the kernel's interface, this build reads 1",
    );
  });

  test('one compiled module serves many kernels', () => {
    const kernel = new WebAssembly.Module(readFileSync(KERNEL_FILES.kernel));
    const [a, b] = [1, 2].map(() => Hexcodes.from({ ...openWorld(), kernel }).kernel) as [Kernel, Kernel];
    expect(a.readText('HN-66')).toBe(0);
    expect(b.readText('HN-67')).toBe(3);
    expect(a.textAt(READ_RECORD_AT)).toBe('HN-66');
  });
});

// The pages by which hosts in other languages are written, docs/kernel-abi.md and docs/reference/kernel.md, against
// the exports of both builds.
describe('the page', () => {
  const page = readFileSync('docs/reference/kernel.md', 'utf8');

  /** The signatures of the calls: `name(a: i32, b: f64): i32`. */
  const declared = [...page.matchAll(/^- `(\w+)\(([^)]*)\)(?:: (\w+))?`:/gm)].map(
    ([, name, parameters, result]) => ({
      name: name!,
      types: [...parameters!.matchAll(/: (\w+)/g)].map(([, type]) => type!),
      result: result ?? 'none',
    }),
  );
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  /** All names of exports in code spans. */
  const named = new Set([...page.matchAll(/`(\w+)`/g)].map(([, name]) => name!));

  const VALUE_TYPES: Record<number, string> = { 127: 'i32', 126: 'i64', 125: 'f32', 124: 'f64' };

  /** The exported functions of a module with their types, read from its sections. */
  function signaturesOf(bytes: Uint8Array): Map<string, { types: string[]; result: string }> {
    let at = 8;
    const number = (): number => {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++]!;
        value += (byte & 127) * 2 ** shift;
        if (byte < 128) return value;
      }
    };
    const list = <T>(entry: () => T): T[] => Array.from({ length: number() }, entry);
    const valueType = () => VALUE_TYPES[bytes[at++]!] ?? 'another';
    let types: { types: string[]; result: string }[] = [];
    let functions: number[] = [];
    const found = new Map<string, { types: string[]; result: string }>();
    while (at < bytes.length) {
      const section = bytes[at++];
      const end = number() + at;
      if (section === 1)
        types = list(() => {
          at++;
          return { types: list(valueType), result: list(valueType)[0] ?? 'none' };
        });
      if (section === 3) functions = list(number);
      if (section === 7)
        list(() => {
          const size = number();
          const name = new TextDecoder().decode(bytes.subarray(at, at + size));
          at += size;
          const kind = bytes[at++];
          const index = number();
          if (kind === 0) found.set(name, types[functions[index]!]!);
        });
      at = end;
    }
    return found;
  }

  describe.each(Object.keys(KERNEL_FILES) as Build[])('%s.wasm', (build) => {
    const bytes = readFileSync(KERNEL_FILES[build]);
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));

    test('has the calls of the page with their types, and no other', () => {
      const signatures = [...signaturesOf(bytes)].map(([name, signature]) => ({ name, ...signature }));
      expect(signatures.sort(byName)).toEqual([...declared].sort(byName));
    });

    test('has no other global or memory than the page names', () => {
      const others = Object.keys(exports).filter((name) => typeof exports[name] !== 'function');
      expect(others.length).toBeGreaterThan(30);
      expect(others.filter((name) => !named.has(name))).toEqual([]);
    });

    test('has the version, capacities and sizes of the page', () => {
      const value = (name: string): number => (exports[name] as WebAssembly.Global<'i32'>).value;
      const text = readFileSync('docs/kernel-abi.md', 'utf8');
      expect(Number(/^Version (\d+)/m.exec(text)?.[1])).toBe(value('ABI_VERSION'));
      const sizes = [...page.matchAll(/^- `(\w+)` = (\d+): /gm)];
      expect(sizes.length).toBeGreaterThan(12);
      for (const [, name = '', size] of sizes) expect([name, Number(size)]).toEqual([name, value(name)]);
    });
  });

  test('kernel-scalar.wasm has the calls up to unitBatch', () => {
    const signatures = [...signaturesOf(readFileSync('dist/kernel-scalar.wasm'))];
    const points = declared.slice(0, 1 + declared.findIndex(({ name }) => name === 'unitBatch'));
    expect(points.length).toBe(21);
    expect(signatures.map(([name, signature]) => ({ name, ...signature })).sort(byName)).toEqual(
      points.sort(byName),
    );
  });

  test('the example in bytes is what the kernel answers', () => {
    const text = readFileSync('docs/kernel-abi.md', 'utf8');
    const [point, record, position] = [...text.matchAll(/`((?:[0-9a-f]{2} ){15,}[0-9a-f]{2})`/g)].map(
      ([, bytes]) => Buffer.from(bytes!.replaceAll(' ', ''), 'hex'),
    ) as [Buffer, Buffer, Buffer];
    const kernel = shippedKernel();
    kernel.inputBytes.set(point);
    expect(kernel.exports.encodeBatch(1, 13)).toBe(0);
    expect(Buffer.from(kernel.output.subarray(0, 20))).toEqual(record);
    kernel.inputBytes.set(record);
    expect(kernel.exports.decodeBatch(1)).toBe(0);
    expect(Buffer.from(kernel.output.subarray(0, 18))).toEqual(position);
  });
});

// The answers of the batch calls are where the page says. The expected values come from the calls for one point.
describe('the layout of the output', () => {
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
    return kernel.output.slice(0, RECORD_BYTES * COUNT);
  }

  test.each(Object.keys(KERNEL_FILES) as Build[])('%s.wasm: records', (build) => {
    const kernel = openKernel(build);
    const records = recordsOf(kernel);
    for (let n = 0; n < COUNT; n++) {
      const status = kernel.exports.encodeOne(POINTS[2 * n]!, POINTS[2 * n + 1]!, RESOLUTION);
      expect(records[RECORD_BYTES * n + 19]).toBe(status);
      expect([...records.subarray(RECORD_BYTES * n, RECORD_BYTES * (n + 1))]).toEqual([
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
      expect(viewOf(kernel).getBigUint64(8 * n, true)).toBe(cell);
      expect(output[8 * COUNT + n]).toBe(isFailed ? NONE : openWorldAdmin(latDeg, lngDeg));
      expect(output[9 * COUNT + n]).toBe(isFailed ? OUTSIDE_COVERAGE : OK);
    }
    const answer = output.slice(0, COUNT * CELL_ANSWER_BYTES);
    kernel.exports.encodeCellsTo(COUNT, RESOLUTION, kernel.textOut.byteOffset + 64);
    expect(atTextOut(kernel, answer.length)).toEqual(answer);
  });

  test.each(Object.keys(KERNEL_FILES) as Build[])('%s.wasm: positions, and one text', (build) => {
    const kernel = openKernel(build);
    const records = recordsOf(kernel);
    const texts = Array.from({ length: COUNT }, (_, n) => kernel.textAt(RECORD_BYTES * n));
    kernel.inputBytes.set(records);
    expect(kernel.exports.decodeBatch(COUNT)).toBe(1);
    const answer = kernel.output.slice(0, COUNT * POSITION_ANSWER_BYTES);
    kernel.exports.decodeBatchTo(COUNT, kernel.textOut.byteOffset + 64);
    expect(atTextOut(kernel, answer.length)).toEqual(answer);

    const positions = new DataView(answer.buffer);
    for (const [n, text] of texts.entries()) {
      const status = kernel.readText(text);
      const read = viewOf(kernel);
      expect(status).toBe(n === 2 ? INVALID_HEXCODE : OK);
      expect(answer[17 * COUNT + n]).toBe(status);
      expect(answer[16 * COUNT + n]).toBe(n === 2 ? NONE : RESOLUTION);
      for (const at of [0, 8])
        expect(positions.getFloat64(16 * n + at, true)).toBe(read.getFloat64(at, true));
      expect(read.getUint8(READ_RESOLUTION_AT)).toBe(answer[16 * COUNT + n]);
      if (n === 2) continue;
      const [latDeg, lngDeg] = [POINTS[2 * n]!, POINTS[2 * n + 1]!];
      expect(kernel.textAt(READ_RECORD_AT)).toBe(text);
      expect(read.getUint8(READ_ADMIN_AT)).toBe(openWorldAdmin(latDeg, lngDeg));
      expect(read.getBigUint64(READ_CELL_AT, true)).toBe(
        BigInt.asUintN(64, kernel.exports.cellOf(latDeg, lngDeg, RESOLUTION)),
      );
    }
  });
});

// dist/kernel-scalar.wasm, which is built without SIMD for hosts that have none, against dist/kernel.wasm: every call
// of docs/kernel-abi.md that both have, at every resolution, leaves the same bytes and returns the same number.

const SIMD = 'dist/kernel.wasm';
const SCALAR = 'dist/kernel-scalar.wasm';
const CAPACITY = 4096;
/** One resolution a point, from RESOLUTIONS. */
const EACH_ITS_OWN = 255;
const RESOLUTIONS = [...Array.from({ length: 16 }, (_, resolution) => resolution), EACH_ITS_OWN];

type Call = (...values: (number | bigint)[]) => number | bigint | undefined;

class Host {
  readonly #exports: WebAssembly.Exports;
  readonly bytes: Uint8Array;
  readonly floats: Float64Array;

  constructor(path: string) {
    this.#exports = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(path))).exports;
    const memory = this.#exports['memory'] as WebAssembly.Memory;
    const index = readFileSync('data/index.bin');
    const missing = this.at('INDEX') + index.length - memory.buffer.byteLength;
    memory.grow(Math.max(0, Math.ceil(missing / 65536)));
    const { exports } = shippedKernel();
    const reach = new Uint8Array(exports.memory.buffer, exports.REACH.value, exports.REACH_BYTES.value);
    new Uint8Array(memory.buffer).set(reach, this.at('REACH'));
    new Uint8Array(memory.buffer).set(index, this.at('INDEX'));
    expect([this.call('useReach'), this.call('useIndex', index.length)]).toEqual([0, 0]);
    this.bytes = new Uint8Array(memory.buffer);
    this.floats = new Float64Array(memory.buffer);
  }

  at(name: string): number {
    return (this.#exports[name] as WebAssembly.Global<'i32'>).value;
  }

  call(name: string, ...values: (number | bigint)[]): number | bigint | undefined {
    return (this.#exports[name] as Call)(...values);
  }

  put(name: string, bytes: Uint8Array): void {
    this.bytes.set(bytes, this.at(name));
  }

  /** The number that a call returns, and the bytes it has left. */
  answer(size: number, name: string, ...values: (number | bigint)[]): Buffer {
    const answer = this.call(name, ...values);
    const at = this.at(name.endsWith('To') ? 'TEXT_OUT' : 'OUTPUT');
    return Buffer.concat([Buffer.from(`${answer} `), this.bytes.slice(at, at + size)]);
  }
}

/** Positions of the whole domain, of two crowded cities, beside borders of cells and provinces, and impossible ones. */
function positions(random: () => number): Float64Array {
  const kinds = [
    () => [7 + 17 * random(), 101 + 17 * random()],
    () => [10.3 + random(), 106.2 + random()],
    () => [20.5 + random(), 105.2 + random()],
    // twelve digits of a city: some lie within the margin of an edge
    () => [21 + Math.round(1e6 * random()) * 1e-7, 105.8 + Math.round(1e6 * random()) * 1e-7],
    () => [[Number.NaN, 95, -91, 0, Infinity, 7.5][Math.floor(6 * random())]!, 400 * random() - 200],
  ];
  return Float64Array.from(
    Array.from({ length: CAPACITY }, (_, n) => kinds[n % kinds.length]!() as [number, number]).flat(),
  );
}

const asBytes = (floats: Float64Array): Uint8Array => new Uint8Array(floats.buffer);

describe('kernel-scalar.wasm', () => {
  let hosts: [Host, Host];
  beforeAll(() => {
    hosts = [new Host(SIMD), new Host(SCALAR)];
  });

  /** The answer of both to a question; it must be one. */
  function both(question: (host: Host) => Buffer): Buffer {
    const [simd, scalar] = hosts.map(question) as [Buffer, Buffer];
    expect(scalar.equals(simd)).toBe(true);
    return simd;
  }

  test('has no vector in it, and no other call or area', () => {
    const { BulkMemory, BulkMemoryOpt, MutableGlobals, NontrappingFPToInt, SignExt } = binaryen.Features;
    const isValid = (path: string) => {
      const module = binaryen.readBinary(readFileSync(path));
      module.setFeatures(BulkMemory | BulkMemoryOpt | MutableGlobals | NontrappingFPToInt | SignExt);
      return module.validate() === 1;
    };
    expect([isValid(SCALAR), isValid(SIMD)]).toEqual([true, false]);
    const names = (path: string) =>
      WebAssembly.Module.exports(new WebAssembly.Module(readFileSync(path))).map(({ name }) => name);
    expect(names(SIMD)).toEqual(expect.arrayContaining(names(SCALAR)));
  });

  test.each(RESOLUTIONS)('batches at resolution %i', (resolution) => {
    const random = randomFrom(100 + resolution);
    for (let round = 0; round < 6; round++) {
      const points = asBytes(positions(random));
      const resolutions = Uint8Array.from({ length: CAPACITY }, () => Math.floor(18 * random()));
      // ends of every kind, and whole batches
      const count = round < 2 ? CAPACITY : Math.floor(CAPACITY * random());
      const ask = (size: number, name: string, ...values: number[]) =>
        both((host) => {
          host.put('INPUT', points);
          host.put('RESOLUTIONS', resolutions);
          return host.answer(size * count, name, count, ...values);
        });
      const records = ask(20, 'encodeBatch', resolution);
      ask(10, 'encodeCells', resolution);
      const to = hosts[0].at('TEXT_OUT');
      ask(20, 'encodeBatchTo', resolution, to);
      ask(10, 'encodeCellsTo', resolution, to);
      ask(1, 'locateBatch');
      ask(1, 'unitBatch');
      ask(2, 'borderBatch');

      const decode = (texts: Uint8Array) =>
        ['decodeBatch', 'decodeBatchTo'].forEach((name) => {
          both((host) => {
            host.put('INPUT', texts);
            return host.answer(18 * count, name, count, ...(name.endsWith('To') ? [to] : []));
          });
        });
      const whole = records.subarray(records.indexOf(' ') + 1);
      decode(whole);
      for (let n = 0; n < count; n++) {
        const at = 20 * n + Math.floor(19 * random());
        whole[at] = random() < 0.5 ? whole[at]! ^ (1 << Math.floor(8 * random())) : 256 * random();
      }
      decode(whole);
      decode(Uint8Array.from({ length: 20 * count }, () => 256 * random()));
    }
  });

  test('calls for one point, cell or text', () => {
    const random = randomFrom(7);
    const points = positions(random);
    for (let n = 0; n < 2 * CAPACITY; n += 2) {
      const [lat, lng] = [points[n]!, points[n + 1]!];
      const resolution = n % 16;
      const admin = Math.floor(36 * random());
      both((host) => host.answer(20, 'encodeOne', lat, lng, resolution));
      for (const name of ['regionOf', 'unitOf', 'borderOf', 'neighbourOf'])
        both((host) => host.answer(0, name, lat, lng));
      const cell = BigInt(both((host) => host.answer(0, 'cellOf', lat, lng, resolution)).toString());
      both((host) => host.answer(16, 'centerOf', cell));
      both((host) => host.answer(20, 'pack', cell, admin));
      const other = cell ^ (1n << BigInt(Math.floor(64 * random())));
      both((host) => host.answer(16, 'centerOf', other));
      both((host) => host.answer(20, 'pack', other, admin));
    }
    const read = (text: string) =>
      both((host) => {
        host.put('TEXT_IN', new Uint8Array(Buffer.from(text, 'utf16le')));
        return host.answer(52, 'readText', text.length);
      });
    for (const { code } of CODE_ROWS) {
      read(code);
      const at = Math.floor(code.length * random());
      read(code.slice(0, at) + String.fromCharCode(32 + 90 * random()) + code.slice(at + 1));
    }
    for (const { text } of READING_ROWS) read(text);
  });

  test('refuses the same files', () => {
    const index = readFileSync('data/index.bin');
    const random = randomFrom(11);
    for (let n = 0; n < 40; n++) {
      const damaged = new Uint8Array(index);
      damaged[Math.floor(index.length * random() ** 4)]! ^= 1 << Math.floor(8 * random());
      const size = n % 4 === 0 ? Math.floor(index.length * random()) : index.length;
      both((host) => {
        host.put('INDEX', damaged);
        return host.answer(0, 'useIndex', size);
      });
    }
    both((host) => {
      host.put('INDEX', index);
      return host.answer(0, 'useIndex', index.length);
    });
  });
});
