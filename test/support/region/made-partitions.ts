// Partitions made up for tests: maps of distorted fields, and tangles of closed lines that cross at will (the sum
// over segments is defined for those too). Seeded; coordinates are multiples of 10 micro-degrees. Then the kernel and
// the borders of such an index.

import { readFileSync } from 'node:fs';
import { ProvinceBorders } from '#dist/hexcodes/geometry/province-borders.js';
import type { KernelExports } from '#hexcodes';
import type { Partition } from '../../../data/map/partition.js';
import type { Random } from '../random.js';

export const WEST = 102_000_000;
export const SOUTH = 7_000_000;
/** Edges of grid cells lie on multiples of it, and vertices may: the least common multiple of 2^14 and 10. */
export const CELL_AND_STEP = 81_920;

interface Line {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  left: number;
  right: number;
}

function partitionOf(lines: readonly Line[], unitCount: number): Partition {
  return {
    units: Array.from({ length: unitCount }, (_, i) => ({ name: `unit ${i}`, admin: i % 34 })),
    segments: Int32Array.from(lines.flatMap(({ x0, y0, x1, y1 }) => [x0, y0, x1, y1])),
    left: Uint8Array.from(lines, (line) => line.left),
    right: Uint8Array.from(lines, (line) => line.right),
    notice: 'made up',
    source: { name: 'made up', date: '2026-01-01' },
  };
}

/**
 * Fields in rows and columns, each of a random unit or none; corners moved by less than half a field, so lines meet
 * at corners only. Every side is broken in the middle, so corners lie beside long and short segments.
 */
export function fieldsPartition(
  random: Random,
  { columns = 12, rows = 12, field = CELL_AND_STEP, jitter = 0.4, units = 63, empty = 0.2 } = {},
): Partition {
  const snap = (value: number): number => Math.round(value / 10) * 10;
  const corner = new Map<string, [number, number]>();
  const cornerAt = (c: number, r: number): [number, number] => {
    const key = `${c} ${r}`;
    let place = corner.get(key);
    if (place === undefined) {
      const move = (): number => snap((random() * 2 - 1) * jitter * field);
      place = [WEST + c * field + move(), SOUTH + r * field + move()];
      corner.set(key, place);
    }
    return place;
  };
  const unit = new Map<string, number>();
  const unitOfField = (c: number, r: number): number => {
    if (c < 0 || r < 0 || c >= columns || r >= rows) return 63;
    const key = `${c} ${r}`;
    let id = unit.get(key);
    if (id === undefined) {
      id = random() < empty ? 63 : Math.floor(random() * units);
      unit.set(key, id);
    }
    return id;
  };
  const lines: Line[] = [];
  const add = (from: [number, number], to: [number, number], left: number, right: number): void => {
    if (left !== right) lines.push({ x0: from[0], y0: from[1], x1: to[0], y1: to[1], left, right });
  };
  for (let r = 0; r <= rows; ++r)
    for (let c = 0; c <= columns; ++c) {
      const here = cornerAt(c, r);
      if (c < columns) add(here, cornerAt(c + 1, r), unitOfField(c, r), unitOfField(c, r - 1));
      if (r < rows) add(here, cornerAt(c, r + 1), unitOfField(c - 1, r), unitOfField(c, r));
    }
  return partitionOf(lines, units);
}

/** Closed lines of random corners, crossing each other and themselves; some corners on cell edges, some sides level. */
export function tanglePartition(
  random: Random,
  { loops = 12, corners = 5, side = 1_500_000 } = {},
): Partition {
  const lines: Line[] = [];
  const taken = new Set<string>();
  const place = (size: number): number =>
    random() < 0.3
      ? Math.floor((random() * size) / CELL_AND_STEP) * CELL_AND_STEP
      : Math.floor((random() * size) / 10) * 10;
  for (let loop = 0; loop < loops; ++loop) {
    // Some loops are islands smaller than a cell.
    const size = random() < 0.4 ? 9_000 : side;
    const [x, y] = [WEST + place(side - size), SOUTH + place(side - size)];
    const left = Math.floor(random() * 63);
    const right = random() < 0.5 ? 63 : (left + 1 + Math.floor(random() * 62)) % 63;
    const ring: [number, number][] = [];
    while (ring.length < corners) {
      const before = ring.at(-1);
      const next: [number, number] = [x + place(size), y + place(size)];
      if (before !== undefined && random() < 0.3)
        next[random() < 0.5 ? 0 : 1] = before[random() < 0.5 ? 0 : 1]!;
      next[0] = Math.min(Math.max(next[0], WEST), WEST + side);
      next[1] = Math.min(Math.max(next[1], SOUTH), SOUTH + side);
      if (before === undefined || before[0] !== next[0] || before[1] !== next[1]) ring.push(next);
    }
    const sides = ring.map(([x0, y0], i) => {
      const [x1, y1] = ring[(i + 1) % ring.length]!;
      return { x0, y0, x1, y1, left, right };
    });
    const names = sides.map(({ x0, y0, x1, y1 }) => [`${x0} ${y0}`, `${x1} ${y1}`].sort().join(' to '));
    // A map holds a line once: a loop that walks a line again, its own or another's, is left out.
    if (new Set([...names, ...taken]).size < names.length + taken.size) continue;
    if (sides.some(({ x0, y0, x1, y1 }) => x0 === x1 && y0 === y1)) continue;
    for (const name of names) taken.add(name);
    lines.push(...sides);
  }
  return partitionOf(lines, 63);
}

/** The map with its segments in another order, some of them turned round. */
export function retold(partition: Partition, random: Random): Partition {
  const order = Array.from(partition.left, (_, i) => ({ i, rank: random() })).sort((a, b) => a.rank - b.rank);
  const segments: number[] = [];
  const left: number[] = [];
  const right: number[] = [];
  for (const { i, rank } of order) {
    const [x0, y0, x1, y1] = partition.segments.subarray(4 * i, 4 * i + 4) as unknown as [
      number,
      number,
      number,
      number,
    ];
    const turned = Math.floor(rank * 1e6) % 2 === 1;
    segments.push(...(turned ? [x1, y1, x0, y0] : [x0, y0, x1, y1]));
    left.push(turned ? partition.right[i]! : partition.left[i]!);
    right.push(turned ? partition.left[i]! : partition.right[i]!);
  }
  return {
    ...partition,
    segments: Int32Array.from(segments),
    left: Uint8Array.from(left),
    right: Uint8Array.from(right),
  };
}

// The bare kernel, without the library's loader, and the borders of an index, for the tests of boundaries.

export type Build = 'kernel' | 'kernel.debug';

const compiled = new Map<Build, WebAssembly.Module>();

export function bareKernel(build: Build = 'kernel'): KernelExports {
  let module = compiled.get(build);
  if (module === undefined) {
    module = new WebAssembly.Module(readFileSync(`dist/${build}.wasm`));
    compiled.set(build, module);
  }
  return new WebAssembly.Instance(module).exports as unknown as KernelExports;
}

/** Copies an index into the kernel and takes it into use; returns the answer of useIndex. */
export function putIndex(kernel: KernelExports, file: Uint8Array): number {
  const index = kernel.INDEX.value;
  const missing = index + file.length - kernel.memory.buffer.byteLength;
  if (missing > 0) kernel.memory.grow(Math.ceil(missing / 65536));
  new Uint8Array(kernel.memory.buffer).set(file, index);
  return kernel.useIndex(file.length);
}

/** Unit at whole micro-degrees, 63 outside. */
export function unitAtMicro(kernel: KernelExports, x: number, y: number): number {
  const unit = kernel.unitOf(y / 1e6, x / 1e6);
  return unit === 255 ? 63 : unit;
}

/** Compares the batch path, which locates points in passes of its own, with answers of the single path. */
export class BatchWitness {
  readonly #points: Float64Array;
  readonly #answers: Uint8Array;
  readonly #expected: Uint8Array;
  #count = 0;
  /** Blocks of many lengths, so that their ends fall everywhere. */
  #length = 1;

  /** To be made when the kernel has its index: the views stay attached from then on. */
  constructor(private readonly kernel: KernelExports) {
    const capacity = kernel.CAPACITY.value;
    this.#points = new Float64Array(kernel.memory.buffer, kernel.INPUT.value, 2 * capacity);
    this.#answers = new Uint8Array(kernel.memory.buffer, kernel.OUTPUT.value, capacity);
    this.#expected = new Uint8Array(capacity);
  }

  add(latDeg: number, lngDeg: number, region: number): void {
    this.#points[2 * this.#count] = latDeg;
    this.#points[2 * this.#count + 1] = lngDeg;
    this.#expected[this.#count++] = region;
    if (this.#count === this.#length) this.compare();
  }

  /** Compares the places that were added since the last call. */
  compare(): void {
    this.kernel.locateBatch(this.#count);
    for (let i = 0; i < this.#count; ++i)
      if (this.#answers[i] !== this.#expected[i])
        throw new Error(
          `at ${this.#points[2 * i]}, ${this.#points[2 * i + 1]} (place ${i} of ${this.#count}) the batch says ` +
            `region ${this.#answers[i]}, the single path ${this.#expected[i]}`,
        );
    this.#count = 0;
    this.#length = (this.#length * 5 + 1) % this.#expected.length || 1;
  }
}

// The borders of the provinces of an index, as the endpoints and the command give them.

export const bordersOf = (index: Uint8Array): ProvinceBorders => new ProvinceBorders(index);
