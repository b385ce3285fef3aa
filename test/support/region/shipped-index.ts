// The boundary index that ships, in a kernel, and as the partition that it was written from.
import { readFileSync } from 'node:fs';
import type { KernelExports } from '#hexcodes';
import type { Partition } from '../../../data/map/partition.js';
import { type Build, bareKernel, putIndex } from './bare-kernel.js';
import type { CheckedMap } from './map-checks.js';

export const INDEX_FILE = 'data/index.bin';

export function shippedIndex(build: Build = 'kernel'): { file: Uint8Array; kernel: KernelExports } {
  const file = readFileSync(INDEX_FILE);
  const kernel = bareKernel(build);
  const refusal = putIndex(kernel, file);
  if (refusal !== 0) throw new Error(`${INDEX_FILE} is refused: ${refusal}`);
  return { file, kernel };
}

/** The lines of a map one by one. */
export function partitionOf({ arcs, meta }: CheckedMap): Partition {
  const segments: number[] = [];
  const left: number[] = [];
  const right: number[] = [];
  for (const arc of arcs)
    for (let i = 0; i + 3 < arc.vertices.length; i += 2) {
      segments.push(...arc.vertices.subarray(i, i + 4));
      left.push(arc.left);
      right.push(arc.right);
    }
  const { units, notice, source, bands, bandsNote } = meta;
  return {
    units,
    notice,
    source,
    ...(bands === undefined ? {} : { bands }),
    ...(bandsNote === undefined ? {} : { bandsNote }),
    segments: Int32Array.from(segments),
    left: Uint8Array.from(left),
    right: Uint8Array.from(right),
  };
}
