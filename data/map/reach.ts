// The reach table (docs/code-format.md): which provinces a hexcode may name, by the cell of resolution 4 or coarser
// that its head and first pair stand for. Made once, from the map of the first release, and frozen: codes in use rely
// on it, so later maps are checked against it. Both ask the kernel at many points: a lattice over the map, and both
// sides of every line.
import { readFileSync } from 'node:fs';
import { cellToLatLng, cellToParent, getResolution, gridDisk, latLngToCell } from 'h3-js';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { decodeReach, REACH_ROWS, reachRow } from '#dist/hexcodes/kernel/index-file.js';
import { Kernel } from '#dist/hexcodes/kernel/kernel.js';
import { writeReachFile } from './index-file.js';
import type { Partition } from './partition.js';
import { METRES_PER_STEP, type Ring, STEPS_PER_DEGREE, shrink } from './plane/grid.js';
import { OUTSIDE } from './plane/labelled-lines.js';

export const REACH_FILE = 'data/reach.bin';
const KERNEL_FILE = 'dist/kernel.wasm';

/** Resolution of the cells that a head and a first pair stand for, at the finest. */
const FINEST_ROW = 4;

/** Base cell and first digit of each head, in the order of heads; `-`: the base cell itself. */
const HEADS = '32/- 32/0 32/1 32/4 32/5 32/6 50/- 50/0 50/2 50/4 50/6 52/- 52/0 52/4 52/5 52/6'.split(' ');

interface PointsLaid {
  readonly latticeM: number;
  readonly alongM: number;
  /** Around each point of a line, points this far away in eight directions count for the units on both sides. */
  readonly marginM: number;
  /**
   * Cells up to this resolution count; one finer than FINEST_ROW as its ancestor, which need not be the cell of the
   * point.
   */
  readonly finestResolution: number;
}

const FOR_THE_TABLE: PointsLaid = { latticeM: 300, alongM: 20, marginM: 30, finestResolution: FINEST_ROW };
const FOR_A_CHECK: PointsLaid = { latticeM: 2000, alongM: 250, marginM: 1, finestResolution: 15 };

/** Masks of the provinces that have a point in each cell of resolutions 0 to 4, by the cell as h3-js writes it. */
function provincesOfCells(partition: Partition, index: Uint8Array, laid: PointsLaid): Map<string, bigint> {
  const empty = writeReachFile(new BigUint64Array(REACH_ROWS));
  const { exports } = Kernel.create(readFileSync(KERNEL_FILE), index, empty);
  /** One flag a province, by the upper half of the cell, which holds the resolution and the first four digits. */
  const flags = new Map<number, Uint8Array>();
  const add = (latDeg: number, lngDeg: number, admin: number) => {
    for (let resolution = 0; resolution <= laid.finestResolution; resolution++) {
      const cell = exports.cellOf(latDeg, lngDeg, resolution);
      if (cell === 0n) throw new Error(`The kernel has no cell for ${latDeg} N, ${lngDeg} E.`);
      let upper = Number(BigInt.asUintN(32, cell >> 32n));
      if (resolution > FINEST_ROW) upper -= (resolution - FINEST_ROW) << 20;
      let flag = flags.get(upper);
      if (!flag) {
        flag = new Uint8Array(64);
        flags.set(upper, flag);
      }
      flag[admin] = 1;
    }
  };

  forEachLinePoint(partition, laid, (latDeg, lngDeg, unit) =>
    add(latDeg, lngDeg, partition.units[unit]!.admin),
  );
  forEachLatticePoint(partition, laid.latticeM, (latDeg, lngDeg) => {
    const admin = exports.regionOf(latDeg, lngDeg);
    if (admin !== 255) add(latDeg, lngDeg, admin);
  });

  const masks = new Map<string, bigint>();
  for (const [upper, flag] of flags) {
    let mask = 0n;
    flag.forEach((set, admin) => {
      if (set) mask |= 1n << BigInt(admin);
    });
    masks.set(`${upper.toString(16)}ffffffff`, mask);
  }
  return masks;
}

function forEachLinePoint(
  { segments, left, right }: Partition,
  { alongM, marginM }: PointsLaid,
  visit: (latDeg: number, lngDeg: number, unit: number) => void,
): void {
  const metresPerDegree = METRES_PER_STEP * STEPS_PER_DEGREE;
  for (let i = 0; i < left.length; i++) {
    const [x0, y0, x1, y1] = Array.from(segments.subarray(i * 4, i * 4 + 4), (v) => v / 1e6) as [
      number,
      number,
      number,
      number,
    ];
    const cos = shrink(y0 * STEPS_PER_DEGREE);
    const lengthM = Math.hypot((x1 - x0) * cos, y1 - y0) * metresPerDegree;
    const parts = Math.ceil(lengthM / alongM);
    for (let k = 0; k <= parts; k++) {
      const lng = x0 + ((x1 - x0) * k) / parts;
      const lat = y0 + ((y1 - y0) * k) / parts;
      for (let direction = 0; direction < 8; direction++) {
        const north = (Math.sin((direction * Math.PI) / 4) * marginM) / metresPerDegree;
        const east = (Math.cos((direction * Math.PI) / 4) * marginM) / metresPerDegree / cos;
        for (const unit of [left[i]!, right[i]!]) if (unit !== OUTSIDE) visit(lat + north, lng + east, unit);
      }
    }
  }
}

function forEachLatticePoint(
  { segments }: Partition,
  latticeM: number,
  visit: (latDeg: number, lngDeg: number) => void,
): void {
  let west = Infinity;
  let south = Infinity;
  let east = -Infinity;
  let north = -Infinity;
  for (let i = 0; i < segments.length; i += 2) {
    west = Math.min(west, segments[i]! / 1e6);
    east = Math.max(east, segments[i]! / 1e6);
    south = Math.min(south, segments[i + 1]! / 1e6);
    north = Math.max(north, segments[i + 1]! / 1e6);
  }
  const step = latticeM / (METRES_PER_STEP * STEPS_PER_DEGREE);
  for (let lat = south; lat <= north; lat += step)
    for (let lng = west; lng <= east; lng += step) visit(lat, lng);
}

/**
 * The table of a map: a point allows its province in its cell of resolution 4, the six cells around that, and all
 * parents.
 */
export function buildReach(partition: Partition, index: Uint8Array): BigUint64Array {
  const drawn = provincesOfCells(partition, index, FOR_THE_TABLE);
  const reach = new Map<string, bigint>();
  const give = (cell: string, mask: bigint) => reach.set(cell, (reach.get(cell) ?? 0n) | mask);
  for (const [cell, mask] of drawn) {
    if (getResolution(cell) === FINEST_ROW) for (const near of gridDisk(cell, 1)) give(near, mask);
    else give(cell, mask);
  }
  for (const resolution of [4, 3, 2, 1]) {
    for (const [cell, mask] of [...reach])
      if (getResolution(cell) === resolution) give(cellToParent(cell, resolution - 1), mask);
  }
  const rows = new BigUint64Array(REACH_ROWS);
  for (const [cell, mask] of reach) {
    const row = rowOf(cell);
    if (row !== null) rows[row] = mask;
  }
  return rows;
}

/** Whether no vertex of a ring lies where a hexcode may name the province: its codes would be refused. */
export function isBeyondReach(ring: Ring, admin: number, rows: BigUint64Array): boolean {
  for (let i = 0; i < ring.length; i += 2) {
    const cell = latLngToCell(ring[i + 1]! / STEPS_PER_DEGREE, ring[i]! / STEPS_PER_DEGREE, FINEST_ROW);
    const row = rowOf(cell);
    if (row !== null && ((rows[row]! >> BigInt(admin)) & 1n) === 1n) return false;
  }
  return true;
}

/**
 * Throws if a province has a point in a cell whose hexcodes may not name that province.
 * @param reach the file of the reach
 */
export function checkWithinReach(
  partition: Partition,
  index: Uint8Array,
  reach: Uint8Array,
  laid = FOR_A_CHECK,
): void {
  const rows = decodeReach(reach);
  for (const [cell, mask] of provincesOfCells(partition, index, laid)) {
    const row = rowOf(cell);
    const missing = row === null ? mask : mask & ~rows[row]!;
    if (missing === 0n) continue;
    const codes = ADMIN_UNITS.filter((_, admin) => (missing >> BigInt(admin)) & 1n).map(({ code }) => code);
    throw new Error(
      `The map has ${codes.join(', ')} in cell ${cell}, around ${positionText(...cellToLatLng(cell))}, which no ` +
        'hexcode of theirs may name: the reach is frozen, ' +
        'and a border that moved this far would need another format of hexcodes.',
    );
  }
}

/** `9.9200 N, 102.8900 E` */
export const positionText = (latDeg: number, lngDeg: number): string =>
  `${latDeg.toFixed(4)} N, ${lngDeg.toFixed(4)} E`;

/** The row of a cell of resolution 0 to 4; null where no hexcode can stand for it. */
export function rowOf(cell: string): number | null {
  const resolution = getResolution(cell);
  const bits = BigInt(`0x${cell}`);
  const digit = (n: number) => Number((bits >> BigInt(45 - 3 * n)) & 7n);
  const head = HEADS.indexOf(`${Number((bits >> 45n) & 127n)}/${resolution === 0 ? '-' : digit(1)}`);
  if (head < 0) return null;
  let pair = 0;
  if (resolution >= 2) pair = 1 + 57 * digit(2);
  if (resolution >= 3) pair += 1 + 8 * digit(3);
  if (resolution >= 4) pair += 1 + digit(4);
  return reachRow(head, pair);
}
