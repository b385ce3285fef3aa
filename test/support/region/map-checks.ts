// Rules that hold for every boundary index: the kernel names the one region whose rings wind around a point, and
// none where no ring does. Used by the tests on a sample and by `npm run proof -- region` at full size.

import { Hexcodes, type Kernel, type KernelExports } from '#hexcodes';
import { openWorld } from '../open-world.js';
import type { Random } from '../random.js';
import { BatchWitness } from './bare-kernel.js';
import { type Border, RingContainment, ringsOf } from './rings.js';

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
