// dist/kernel-scalar.wasm, which is built without SIMD for hosts that have none, against dist/kernel.wasm: every call
// of docs/kernel-abi.md that both have, at every resolution, leaves the same bytes and returns the same number.

import { readFileSync } from 'node:fs';
import binaryen from 'assemblyscript/binaryen';
import { beforeAll, describe, expect, test } from 'vitest';
import { randomFrom } from '../../support/open-world.js';
import { shippedKernel } from '../../support/shipped.js';
import { CODE_ROWS, READING_ROWS } from '../../support/vectors.js';

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
