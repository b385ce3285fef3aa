// The start of the library: load() until ready, the first calls on cold code, and the memory of a kernel. Each start is
// a process of its own, so that nothing is compiled or parsed beforehand.
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { type Spread, spread } from '../measure.js';

export interface Start {
  readonly readyMs: Spread;
  readonly firstEncodeMs: Spread;
  readonly firstBatchMs: Spread;
  readonly wasmBytes: number;
  readonly indexFileBytes: number;
  readonly indexMemoryBytes: number;
  readonly kernelMemoryBytes: number;
}

interface OneStart {
  readonly readyMs: number;
  readonly firstEncodeMs: number;
  readonly firstBatchMs: number;
  readonly kernelMemoryBytes: number;
  readonly indexAddress: number;
}

const PROGRAM = `
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
const begin = performance.now();
const hexcodes = await Hexcodes.load();
const ready = performance.now();
hexcodes.encode(21.0288, 105.8525);
const encoded = performance.now();
const points = Float64Array.from({ length: 8192 }, (_, n) => (n % 2 ? 105 + n / 8192 : 21 + n / 16384));
const batchBegin = performance.now();
hexcodes.encodeBatch(points);
const batched = performance.now();
console.log(JSON.stringify({
  readyMs: ready - begin,
  firstEncodeMs: encoded - ready,
  firstBatchMs: batched - batchBegin,
  kernelMemoryBytes: hexcodes.kernel.exports.memory.buffer.byteLength,
  indexAddress: hexcodes.kernel.exports.INDEX.value,
}));
`;

export function measureStart(starts = 9): Start {
  const all = Array.from({ length: starts }, (): OneStart => {
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      encoding: 'utf8',
    });
    return JSON.parse(output) as OneStart;
  });
  const [{ kernelMemoryBytes, indexAddress }] = all as [OneStart];
  return {
    readyMs: spread(all.map(({ readyMs }) => readyMs)),
    firstEncodeMs: spread(all.map(({ firstEncodeMs }) => firstEncodeMs)),
    firstBatchMs: spread(all.map(({ firstBatchMs }) => firstBatchMs)),
    wasmBytes: statSync('dist/kernel.wasm').size,
    indexFileBytes: statSync('data/index.bin').size,
    indexMemoryBytes: kernelMemoryBytes - indexAddress,
    kernelMemoryBytes,
  };
}
