// Rules that hold for every boundary index: the kernel names the one region whose rings wind around a point, and
// none where no ring does. Used by the tests on a sample and by `npm run proof -- region` at full size.

import { readFileSync } from 'node:fs';
import { ADMIN_UNITS, Hexcodes, type Kernel, type KernelExports } from '#hexcodes';
import type { Partition } from '../../../data/map/partition.js';
import { openWorld } from '../open-world.js';
import type { Random } from '../random.js';
import { BatchWitness, type Build, bareKernel, putIndex } from './made-partitions.js';

// The naive peer of the boundary index: every region's closed rings, put together from the borders it has on one
// side, and for a point *all* regions whose rings wind around it. It shares nothing with the kernel but the rule
// for points on a line. Edges are kept in strips of latitude only, so that millions of points take minutes, not days.
/** A border with the region on either side of it; sides that are `none` belong to nobody. */
export interface Border {
  readonly left: number;
  readonly right: number;
  /** x0, y0, x1, y1, … in micro-degrees. */
  readonly vertices: ArrayLike<number>;
}

type Vertex = readonly [x: number, y: number];
export type Ring = readonly Vertex[];

const STRIP = 10_000;

/** Rings of every region, the region on the left hand; a ring's last vertex leads to its first. */
function ringsOf(borders: Iterable<Border>, none: number): Map<number, Ring[]> {
  // Per region: vertex → vertices that edges lead to from it.
  const edges = new Map<number, Map<string, Vertex[]>>();
  const addEdge = (region: number, from: Vertex, to: Vertex): void => {
    if (region === none) return;
    let ofRegion = edges.get(region);
    if (ofRegion === undefined) {
      ofRegion = new Map();
      edges.set(region, ofRegion);
    }
    const key = from.join(' ');
    const leading = ofRegion.get(key);
    if (leading) leading.push(to);
    else ofRegion.set(key, [to]);
  };
  for (const { left, right, vertices } of borders) {
    if (left === right) continue;
    for (let i = 0; i + 3 < vertices.length; i += 2) {
      const from: Vertex = [vertices[i]!, vertices[i + 1]!];
      const to: Vertex = [vertices[i + 2]!, vertices[i + 3]!];
      addEdge(left, from, to);
      addEdge(right, to, from);
    }
  }
  const rings = new Map<number, Ring[]>();
  for (const [region, leading] of edges) {
    const list: Ring[] = [];
    for (const [key, targets] of leading) {
      while (targets.length > 0) {
        const [x, y] = key.split(' ').map(Number) as [number, number];
        const ring: Vertex[] = [[x, y]];
        for (;;) {
          const next = leading.get(ring.at(-1)!.join(' '))?.pop();
          if (next === undefined) throw new Error(`region ${region}: a ring ends open at ${ring.at(-1)}`);
          if (next[0] === x && next[1] === y) break;
          ring.push(next);
        }
        list.push(ring);
      }
    }
    rings.set(region, list);
  }
  return rings;
}

interface Edge {
  readonly region: number;
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

class RingContainment {
  readonly #strips = new Map<number, Edge[]>();

  constructor(rings: Map<number, Ring[]>) {
    for (const [region, list] of rings)
      for (const ring of list)
        ring.forEach(([x0, y0], i) => {
          const [x1, y1] = ring[(i + 1) % ring.length]!;
          const edge = { region, x0, y0, x1, y1 };
          const last = Math.floor(Math.max(y0, y1) / STRIP);
          for (let strip = Math.floor(Math.min(y0, y1) / STRIP); strip <= last; ++strip) {
            const inStrip = this.#strips.get(strip);
            if (inStrip) inStrip.push(edge);
            else this.#strips.set(strip, [edge]);
          }
        });
  }

  /** How often each region's rings wind around a place, counter-clockwise; regions with 0 are left out. */
  windingsAt(x: number, y: number): Map<number, number> {
    const windings = new Map<number, number>();
    for (const { region, x0, y0, x1, y1 } of this.#strips.get(Math.floor(y / STRIP)) ?? []) {
      if (y0 > y === y1 > y) continue;
      const cross = (x1 - x0) * (y - y0) - (x - x0) * (y1 - y0);
      const turns = y1 > y0 ? (cross > 0 ? 1 : 0) : cross < 0 ? -1 : 0;
      if (turns === 0) continue;
      const sum = (windings.get(region) ?? 0) + turns;
      if (sum === 0) windings.delete(region);
      else windings.set(region, sum);
    }
    return windings;
  }
}

const NOBODY = 255;

/** The map of an index file, once by regions (admin numbers) and once by units. */
export class CheckedMap {
  readonly arcs: Kernel['arcs'];
  readonly meta: NonNullable<Kernel['meta']>;
  readonly borders: readonly Border[];
  readonly regions: RingContainment;
  readonly units: RingContainment;
  readonly #batch: BatchWitness;
  readonly box: { west: number; south: number; east: number; north: number };

  constructor(
    file: Uint8Array,
    private readonly kernel: KernelExports,
  ) {
    this.#batch = new BatchWitness(kernel);
    const { arcs, meta } = Hexcodes.from({ ...openWorld(), index: file }).kernel;
    this.arcs = arcs;
    this.meta = meta!;
    const admins = this.meta.units.map(({ admin }) => admin);
    this.borders = this.arcs.map(({ left, right, vertices }) => ({
      left: admins[left] ?? NOBODY,
      right: admins[right] ?? NOBODY,
      vertices,
    }));
    this.regions = new RingContainment(ringsOf(this.borders, NOBODY));
    this.units = new RingContainment(ringsOf(this.arcs, 63));
    this.box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity };
    for (const { vertices } of this.arcs)
      for (let i = 0; i < vertices.length; i += 2) {
        this.box.west = Math.min(this.box.west, vertices[i]!);
        this.box.east = Math.max(this.box.east, vertices[i]!);
        this.box.south = Math.min(this.box.south, vertices[i + 1]!);
        this.box.north = Math.max(this.box.north, vertices[i + 1]!);
      }
  }

  /**
   * Throws unless kernel and rings agree at a place: exactly one region inside, none outside. The batch path is
   * compared later, some thousand places at a time.
   */
  check(x: number, y: number): void {
    const region = this.kernel.regionOf(y / 1e6, x / 1e6);
    const unit = this.kernel.unitOf(y / 1e6, x / 1e6);
    this.#batch.add(y / 1e6, x / 1e6, region);
    if (!isOnly(this.regions.windingsAt(x, y), region) || !isOnly(this.units.windingsAt(x, y), unit)) {
      const told = (windings: Map<number, number>): string =>
        [...windings].map(([id, turns]) => `${id} (${turns}×)`).join(', ') || 'none';
      throw new Error(
        `at ${x}, ${y} the kernel says region ${region}, unit ${unit}; the rings say ` +
          `region ${told(this.regions.windingsAt(x, y))}, unit ${told(this.units.windingsAt(x, y))}`,
      );
    }
  }

  /** Points anywhere in the box and a little beyond. */
  checkAnywhere(random: Random, count: number): void {
    const { west, south, east, north } = this.box;
    for (let i = 0; i < count; ++i)
      this.check(
        Math.floor(west - 1000 + random() * (east - west + 2000)),
        Math.floor(south - 1000 + random() * (north - south + 2000)),
      );
    this.#batch.compare();
  }

  /** On, and one unit beside, vertices and middles of segments; every `nth` of them. How many places. */
  checkLines(nth = 1): number {
    let count = 0;
    for (const { vertices } of this.arcs)
      for (let i = 0; i < vertices.length; i += 2) {
        if ((i / 2) % nth !== 0) continue;
        const places = [[vertices[i]!, vertices[i + 1]!]];
        if (i + 3 < vertices.length)
          places.push([
            Math.floor((vertices[i]! + vertices[i + 2]!) / 2),
            Math.floor((vertices[i + 1]! + vertices[i + 3]!) / 2),
          ]);
        for (const [x, y] of places as [number, number][])
          for (let dx = -1; dx <= 1; ++dx)
            for (let dy = -1; dy <= 1; ++dy) {
              this.check(x + dx, y + dy);
              ++count;
            }
      }
    this.#batch.compare();
    return count;
  }

  /**
   * Sweeps a row of the map from west to east: checks the first and last place of each stretch between two lines,
   * and the middle. Between them the rings cannot change, so a row that passes has no gaps and no overlaps.
   */
  checkRow(y: number): number {
    const turns = new Set<number>([this.box.west - 1, this.box.east + 1]);
    for (const { vertices } of this.arcs)
      for (let i = 0; i + 3 < vertices.length; i += 2) {
        const y0 = vertices[i + 1]!;
        const y1 = vertices[i + 3]!;
        if (y0 > y === y1 > y) continue;
        const x0 = vertices[i]!;
        turns.add(Math.ceil(x0 + ((vertices[i + 2]! - x0) * (y - y0)) / (y1 - y0)));
      }
    const places = [...turns].sort((a, b) => a - b);
    places.forEach((x, i) => {
      this.check(x - 1, y);
      this.check(x, y);
      this.check(Math.floor((x + (places[i + 1] ?? x)) / 2), y);
    });
    return places.length;
  }
}

function isOnly(windings: Map<number, number>, id: number): boolean {
  return id === NOBODY ? windings.size === 0 : windings.size === 1 && windings.get(id) === 1;
}

// Walks along every line of the map and looks to both sides: each position that lies in a province has a hexcode at
// each of the 16 resolutions, the hexcode names that province, and reads back.
const METRES_PER_DEGREE = 111_320;
/** Places looked at from a place on a line, in micro-degrees: itself, its neighbours, and about 100 m away. */
const LOOKS = [0, 1, -1, 900, -900].flatMap((far) =>
  far === 0
    ? [[0, 0]]
    : [
        [far, 0],
        [0, far],
      ],
);

/** lat, lng, lat, lng, … of places beside the lines: vertices, and points between them at a fixed distance. */
export function placesAlong(arcs: CheckedMap['arcs'], everyM: number): Float64Array {
  const places: number[] = [];
  for (const { vertices } of arcs)
    for (let i = 0; i + 3 < vertices.length; i += 2) {
      const [x0, y0, x1, y1] = vertices.subarray(i, i + 4) as unknown as [number, number, number, number];
      const steps = Math.ceil((Math.hypot(x1 - x0, y1 - y0) / 1e6) * (METRES_PER_DEGREE / everyM));
      for (let step = 0; step < steps; ++step) {
        const x = Math.round(x0 + ((x1 - x0) * step) / steps);
        const y = Math.round(y0 + ((y1 - y0) * step) / steps);
        for (const [dx, dy] of LOOKS) places.push((y + dy!) / 1e6, (x + dx!) / 1e6);
      }
    }
  return Float64Array.from(places);
}

/** Throws at the first place without a hexcode of its own province that reads back; how many have one. */
export function checkCodes(hexcodes: Hexcodes, places: Float64Array, resolution: number): number {
  const records = hexcodes.encodeBatch(places, resolution);
  const decoded = hexcodes.decodeBatch(records);
  let inside = 0;
  for (let i = 0; i < places.length / 2; ++i) {
    const [lat, lng] = [places[2 * i]!, places[2 * i + 1]!];
    const region = hexcodes.kernel.exports.regionOf(lat, lng);
    const status = records[20 * i + 19]!;
    if (region === 255) {
      if (status !== 1) throw new Error(`${lat}, ${lng} lies outside, but has status ${status}`);
      continue;
    }
    ++inside;
    const { code } = ADMIN_UNITS[region]!;
    const record = records.subarray(20 * i, 20 * i + 19);
    const startsRight = [...`${code}-`].every((letter, at) => record[at] === letter.charCodeAt(0));
    if (status !== 0 || !startsRight || decoded.status[i] !== 0 || decoded.resolution[i] !== resolution)
      throw new Error(
        `${lat}, ${lng} in ${code} at resolution ${resolution}: status ${status}, record ` +
          `${String.fromCharCode(...record)}, read back with status ${decoded.status[i]}`,
      );
  }
  return inside;
}

// The boundary index that ships, in a kernel, and as the partition that it was written from.
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
