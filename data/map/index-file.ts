// Writes a partition as a boundary index (layout: data/README.md and assembly/region/layout.ts), and the table of the
// reach as its file. The bytes of an index depend on the map alone: neither the order of its segments nor the direction
// of each changes them.
import { crc32 } from 'node:zlib';
import {
  INDEX_FORMAT,
  INDEX_HEADER_BYTES,
  INDEX_MAGIC,
  INDEX_VERTEX_STEP,
  type IndexMeta,
  isReachRow,
  NO_ADMIN,
  OUTSIDE_UNIT,
  REACH_ROWS,
} from '#dist/hexcodes/kernel/index-file.js';
import type { Partition } from './partition.js';

/** Micro-degrees; width and height of the map must stay below this. */
const SIDE_LIMIT = 2 ** 25;

/** The bytes of the index file. Throws a RangeError on a partition that breaks its own rules. */
export function writeIndexFile(partition: Partition, licence: string): Uint8Array {
  const { units, notice, source, bands, bandsNote } = partition;
  if (units.length < 1 || units.length > OUTSIDE_UNIT)
    throw new RangeError(`${units.length} units, not 1 to 63`);
  const box = boxOf(partition.segments);
  const chains = chainsOf(sortedSegments(partition, box));
  const segmentCount = chains.reduce((sum, chain) => sum + chain.keys.length - 1, 0);

  const meta: IndexMeta = {
    units: units.map(({ name, admin }) => ({ name, admin })),
    notice,
    licence,
    source: { name: source.name, date: source.date },
    ...(bands === undefined ? {} : { bands }),
    ...(bandsNote === undefined ? {} : { bandsNote }),
  };
  const metaBytes = new TextEncoder().encode(JSON.stringify(meta));
  const arcBytes = encodeArcs(chains);
  const file = new Uint8Array(INDEX_HEADER_BYTES + metaBytes.length + arcBytes.length);
  const header = new DataView(file.buffer);
  const numbers: [offset: number, value: number][] = [
    [0, INDEX_MAGIC],
    [4, INDEX_FORMAT],
    [8, file.length],
    [16, box.west],
    [20, box.south],
    [24, box.east],
    [28, box.north],
    [32, segmentCount],
    [36, chains.length],
    [40, INDEX_HEADER_BYTES + metaBytes.length],
    [44, arcBytes.length],
    [48, INDEX_HEADER_BYTES],
    [52, metaBytes.length],
    [56, units.length],
  ];
  for (const [offset, value] of numbers) header.setInt32(offset, value, true);
  for (let unit = 0; unit <= OUTSIDE_UNIT; ++unit) header.setUint8(64 + unit, units[unit]?.admin ?? NO_ADMIN);
  file.set(metaBytes, INDEX_HEADER_BYTES);
  file.set(arcBytes, INDEX_HEADER_BYTES + metaBytes.length);
  header.setUint32(12, crc32(file.subarray(16)), true);
  return file;
}

interface Box {
  west: number;
  south: number;
  east: number;
  north: number;
}

function boxOf(segments: Int32Array): Box {
  const box = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity };
  for (let i = 0; i < segments.length; i += 2) {
    box.west = Math.min(box.west, segments[i]!);
    box.east = Math.max(box.east, segments[i]!);
    box.south = Math.min(box.south, segments[i + 1]!);
    box.north = Math.max(box.north, segments[i + 1]!);
  }
  const isEmpty = segments.length === 0;
  if (isEmpty || !(box.east - box.west < SIDE_LIMIT && box.north - box.south < SIDE_LIMIT))
    throw new RangeError('the map is empty, or wider or higher than 33 degrees');
  return box;
}

/**
 * A segment, directed eastward, or northward where it is upright. Its ends are keys, which sort from west to east, then
 * north.
 */
interface Segment {
  readonly from: number;
  readonly to: number;
  readonly left: number;
  readonly right: number;
}

/** A key is x times this plus y, both in vertex steps from the corner of the map. */
const KEY_BASE = 2 ** 23;

/** All segments in the order of their keys. Throws a RangeError on a bad one or a duplicate. */
function sortedSegments({ segments, left, right, units }: Partition, { west, south }: Box): Segment[] {
  const keyAt = (i: number): number => {
    const x = segments[i]!;
    const y = segments[i + 1]!;
    if (x % INDEX_VERTEX_STEP !== 0 || y % INDEX_VERTEX_STEP !== 0)
      throw new RangeError(`vertex ${x}, ${y} is not on multiples of ${INDEX_VERTEX_STEP} micro-degrees`);
    return ((x - west) / INDEX_VERTEX_STEP) * KEY_BASE + (y - south) / INDEX_VERTEX_STEP;
  };
  const isUnit = (unit: number): boolean => unit < units.length || unit === OUTSIDE_UNIT;
  const all: Segment[] = [];
  for (let i = 0; i < left.length; ++i) {
    const from = keyAt(4 * i);
    const to = keyAt(4 * i + 2);
    const sides = { left: left[i]!, right: right[i]! };
    const where = `segment ${Array.from(segments.subarray(4 * i, 4 * i + 4)).join(', ')}`;
    if (from === to) throw new RangeError(`${where} has no length`);
    if (sides.left === sides.right || !isUnit(sides.left) || !isUnit(sides.right))
      throw new RangeError(`${where} has units ${sides.left} and ${sides.right} on its sides`);
    all.push(
      from < to ? { from, to, ...sides } : { from: to, to: from, left: sides.right, right: sides.left },
    );
  }
  all.sort((a, b) => a.from - b.from || a.to - b.to);
  for (let i = 1; i < all.length; ++i)
    if (all[i]!.from === all[i - 1]!.from && all[i]!.to === all[i - 1]!.to)
      throw new RangeError(`a segment stands twice, from ${placeOf(all[i]!.from, west, south)}`);
  return all;
}

function placeOf(key: number, west: number, south: number): string {
  const x = west + Math.floor(key / KEY_BASE) * INDEX_VERTEX_STEP;
  const y = south + (key % KEY_BASE) * INDEX_VERTEX_STEP;
  return `${x / 1e6} E, ${y / 1e6} N`;
}

interface Chain {
  readonly left: number;
  readonly right: number;
  /** Vertices in order; a closed chain ends where it began. */
  readonly keys: number[];
}

/**
 * Joins segments wherever exactly two meet that have the same sides. So that a map has only one list of chains, an open
 * chain starts at the lesser of its two ends, a closed one at its least vertex and towards the lesser of that vertex's
 * neighbours.
 */
function chainsOf(segments: readonly Segment[]): Chain[] {
  const around = new Map<number, number[]>();
  segments.forEach(({ from, to }, id) => {
    for (const key of [from, to]) {
      const ids = around.get(key);
      if (ids) ids.push(id);
      else around.set(key, [id]);
    }
  });
  const used = new Uint8Array(segments.length);
  const leftSeenFrom = (id: number, key: number): number =>
    segments[id]!.from === key ? segments[id]!.left : segments[id]!.right;
  const rightSeenFrom = (id: number, key: number): number =>
    segments[id]!.from === key ? segments[id]!.right : segments[id]!.left;
  /** The segment that continues segment `id` beyond the vertex `key`; undefined where the chain ends. */
  const nextAt = (id: number, key: number): number | undefined => {
    const ids = around.get(key)!;
    if (ids.length !== 2) return undefined;
    const next = ids[0] === id ? ids[1]! : ids[0]!;
    // The unit on the left before the vertex must be on the left after it, and so on the right.
    return rightSeenFrom(id, key) === leftSeenFrom(next, key) &&
      leftSeenFrom(id, key) === rightSeenFrom(next, key)
      ? next
      : undefined;
  };
  const chains: Chain[] = [];
  const walk = (start: number, startKey: number): void => {
    const chain = {
      left: leftSeenFrom(start, startKey),
      right: rightSeenFrom(start, startKey),
      keys: [startKey],
    };
    let key = startKey;
    for (let id: number | undefined = start; id !== undefined && !used[id]; id = nextAt(id, key)) {
      used[id] = 1;
      const { from, to } = segments[id]!;
      key = from === key ? to : from;
      chain.keys.push(key);
    }
    if (key < startKey) {
      chain.keys.reverse();
      [chain.left, chain.right] = [chain.right, chain.left];
    }
    chains.push(chain);
  };
  // Open chains first, from their ends; the rest are closed. Segments are sorted, so the first one found of a closed
  // chain starts at its least vertex and leads to the lesser neighbour.
  segments.forEach(({ from, to }, id) => {
    if (!used[id] && nextAt(id, from) === undefined) walk(id, from);
    if (!used[id] && nextAt(id, to) === undefined) walk(id, to);
  });
  segments.forEach(({ from }, id) => {
    if (!used[id]) walk(id, from);
  });
  return chains.sort((a, b) => a.keys[0]! - b.keys[0]! || a.keys[1]! - b.keys[1]!);
}

/** The arcs of the file: a chain each, see data/README.md. */
function encodeArcs(chains: readonly Chain[]): Uint8Array {
  const bytes: number[] = [];
  const put = (value: number): void => {
    let rest = value;
    for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
    bytes.push(rest);
  };
  const putStep = (step: number): void => put(((step << 1) ^ (step >> 31)) >>> 0);
  for (const { left, right, keys } of chains) {
    bytes.push(left, right);
    put(keys.length - 1);
    let x = Math.floor(keys[0]! / KEY_BASE);
    let y = keys[0]! % KEY_BASE;
    put(x);
    put(y);
    for (const key of keys.slice(1)) {
      const toX = Math.floor(key / KEY_BASE);
      const toY = key % KEY_BASE;
      putStep(toX - x);
      putStep(toY - y);
      x = toX;
      y = toY;
    }
  }
  return Uint8Array.from(bytes);
}

const REACH_HEADER_BYTES = 16;
const REACH_ROW_BYTES = 10;
const REACH_FORMAT = 1;
const ALL_PROVINCES = (1n << 34n) - 1n;

/**
 * The reach file of a table (layout: src/hexcodes/kernel/index-file.ts).
 * @param masks REACH_ROWS masks, bit n = index n of ADMIN_UNITS; rows that no hexcode has must be 0
 * @throws RangeError for a wrong length, an impossible row or a bit beyond the 34 provinces
 */
export function writeReachFile(masks: BigUint64Array): Uint8Array {
  if (masks.length !== REACH_ROWS)
    throw new RangeError(`A reach table has ${REACH_ROWS} rows, not ${masks.length}`);
  const rows = [...masks.entries()].filter(([, mask]) => mask !== 0n);
  const file = new Uint8Array(REACH_HEADER_BYTES + REACH_ROW_BYTES * rows.length);
  const view = new DataView(file.buffer);
  rows.forEach(([row, mask], n) => {
    if (!isReachRow(row)) throw new RangeError(`No hexcode has reach row ${row}`);
    if (mask > ALL_PROVINCES) throw new RangeError(`Reach row ${row} has a bit beyond the 34 provinces`);
    view.setUint16(REACH_HEADER_BYTES + REACH_ROW_BYTES * n, row, true);
    view.setBigUint64(REACH_HEADER_BYTES + REACH_ROW_BYTES * n + 2, mask, true);
  });
  file.set(Buffer.from('HXRE'));
  view.setUint32(4, REACH_FORMAT, true);
  view.setUint32(8, rows.length, true);
  view.setUint32(12, crc32(file.subarray(REACH_HEADER_BYTES)), true);
  return file;
}
