// The boundary index as a file, read for its description and its arcs. assembly/region/layout.ts defines layout and
// grammar. The kernel validates every byte of a file before use; files read here have passed that check or are about
// to.

import { HexcodesError } from '../errors.js';

// How sure the province of a position is: the distance to the nearest border between two provinces, and the measured
// share of right provinces at that distance. The index carries the shares, because they were measured for its
// borders.
/** Answer of `borderOf` and `borderBatch` of the kernel: no border between two provinces within 5 km. */
export const NO_BORDER = 65_535;
/** The most bands that an index may have. */
const MAX_BANDS = 16;

/** Positions whose distance to a border is below `belowM` and at or above that of the previous band. */
export interface Band {
  /** Metres; Infinity for the last band. */
  readonly belowM: number;
  /** The share of these positions whose province is right, 0 to 1. */
  readonly share: number;
}

/** Bands as an index has them: `belowM`, null for the last, and `share`. */
export type BandPairs = readonly (readonly [belowM: number | null, share: number])[];

/** How sure the province of a position is. */
export interface Border {
  /** Whole metres to the nearest border between two provinces; null beyond 5 km. */
  readonly borderM: number | null;
  /** The share of positions at this distance whose province is right, 0 to 1; null where the index has no shares. */
  readonly certainty: number | null;
}

/** The bands of an index, from near to far; none where their accuracy was not measured. */
export function bandsOf(pairs: BandPairs = []): readonly Band[] {
  return pairs.map(([belowM, share]) => ({ belowM: belowM ?? Number.POSITIVE_INFINITY, share }));
}

/** Whether the bands of an index are valid: at most MAX_BANDS, ascending, the last one unbounded. */
function areBands(given: unknown): given is BandPairs {
  if (!Array.isArray(given) || given.length < 1 || given.length > MAX_BANDS) return false;
  let last = 0;
  return given.every((band, n) => {
    if (!Array.isArray(band) || band.length !== 2) return false;
    const [belowM, share] = band as [unknown, unknown];
    const isLast = n === given.length - 1;
    const isEnd = isLast ? belowM === null : Number.isInteger(belowM) && (belowM as number) > last;
    last = belowM as number;
    return isEnd && typeof share === 'number' && share >= 0 && share <= 1;
  });
}

/** The share at an answer of `borderOf`; null without bands. */
export function shareAt(bands: readonly Band[], metres: number): number | null {
  return bands.find(({ belowM }) => metres < belowM)?.share ?? null;
}

/** Words for the numbers of the kernel's useIndex; 0 is acceptance. */
export const INDEX_REFUSALS: readonly string[] = [
  'accepted',
  'the file is cut short, or its size is not the one it states',
  'this is not a boundary index',
  'the file has another format version than this build reads',
  'the checksum does not match: the file is damaged',
  'a number of the header is impossible',
  'the arcs do not follow the grammar',
  'the lines do not close: some row of the map ends inside a unit',
  'the index needs more than 64 MiB of memory',
];

export const INDEX_FORMAT = 1;
export const INDEX_HEADER_BYTES = 128;
export const INDEX_MAGIC = 0x58495848;
/** Unit id of everything outside all units; its admin number is NO_ADMIN. */
export const OUTSIDE_UNIT = 63;
export const NO_ADMIN = 255;
/** Vertices are multiples of this number of micro-degrees. */
export const INDEX_VERTEX_STEP = 10;

/** The description of the index: the JSON block of the file. */
export interface IndexMeta {
  /** The finest units that the map distinguishes, by unit id; in the shipped map provinces from before July 2025. */
  readonly units: readonly { readonly name: string; readonly admin: number }[];
  /** Credit and licence line that must be shown with the map. */
  readonly notice: string;
  /** SPDX identifier, or words. */
  readonly licence: string;
  readonly source: { readonly name: string; readonly date: string };
  /**
   * Shares of positions on land with the right province by distance to a border of this map: upper bound of the
   * distance in metres, ascending, null for the last; the share, 0 to 1. Absent where it was not measured.
   */
  readonly bands?: BandPairs;
  /** A description of the reference that the shares were measured against, and its quality. */
  readonly bandsNote?: string;
}

/** Part of a border between two units: vertices x0, y0, x1, y1, … in micro-degrees of longitude and latitude. */
export interface IndexArc {
  readonly left: number;
  readonly right: number;
  readonly vertices: Int32Array;
}

/**
 * The description in the file, which the kernel does not read.
 * @throws RangeError if these bytes are not an index of this format
 * @throws HexcodesError BAD_DATA if the description is not JSON, lacks a member, or names other units than the header
 */
export function readIndexMeta(file: Uint8Array): IndexMeta {
  const header = headerOf(file);
  const offset = header.getUint32(48, true);
  const bytes = file.subarray(offset, offset + header.getUint32(52, true));
  let meta: unknown;
  try {
    meta = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    meta = null;
  }
  const admins = file.subarray(64, 64 + header.getUint32(56, true));
  if (!isIndexMeta(meta, admins))
    throw new HexcodesError(
      'BAD_DATA',
      'The boundary index cannot be used: what it says of itself is damaged',
    );
  return meta;
}

function isIndexMeta(given: unknown, admins: Uint8Array): given is IndexMeta {
  const { units, notice, licence, source, bands, bandsNote } = (given ?? {}) as {
    [Key in keyof IndexMeta]?: unknown;
  };
  const { name, date } = (source ?? {}) as { name?: unknown; date?: unknown };
  return (
    [notice, licence, name, date].every((text) => typeof text === 'string') &&
    (bands === undefined || areBands(bands)) &&
    (bandsNote === undefined || typeof bandsNote === 'string') &&
    Array.isArray(units) &&
    units.length === admins.length &&
    units.every((unit, n) => typeof unit?.name === 'string' && unit.admin === admins[n])
  );
}

/**
 * Every arc of the file.
 * @throws RangeError if these bytes are not an index of this format, or the arcs are cut short
 */
export function readIndexArcs(file: Uint8Array): IndexArc[] {
  const header = headerOf(file);
  const west = header.getInt32(16, true);
  const south = header.getInt32(20, true);
  const end = header.getUint32(40, true) + header.getUint32(44, true);
  let at = header.getUint32(40, true);

  const nextByte = (): number => {
    if (at >= end || at >= file.length) throw new RangeError('the index file ends inside an arc');
    return file[at++]!;
  };
  const nextNumber = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = nextByte();
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const nextStep = (): number => {
    const zigzag = nextNumber();
    return ((zigzag >>> 1) ^ -(zigzag & 1)) * INDEX_VERTEX_STEP;
  };

  const arcs: IndexArc[] = [];
  for (let count = header.getUint32(36, true); count > 0; --count) {
    const left = nextByte();
    const right = nextByte();
    const segments = nextNumber();
    const vertices = new Int32Array(2 * segments + 2);
    vertices[0] = west + nextNumber() * INDEX_VERTEX_STEP;
    vertices[1] = south + nextNumber() * INDEX_VERTEX_STEP;
    for (let i = 2; i < vertices.length; ++i) vertices[i] = vertices[i - 2]! + nextStep();
    arcs.push({ left, right, vertices });
  }
  return arcs;
}

function headerOf(file: Uint8Array): DataView {
  const header = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < INDEX_HEADER_BYTES || header.getUint32(0, true) !== INDEX_MAGIC)
    throw new RangeError(INDEX_REFUSALS[2]);
  if (header.getUint32(4, true) !== INDEX_FORMAT) throw new RangeError(INDEX_REFUSALS[3]);
  if (header.getUint32(8, true) !== file.length) throw new RangeError(INDEX_REFUSALS[1]);
  return header;
}

// The reach table as a file: the provinces that a hexcode with a given head and first pair may carry
// (docs/code-format.md, Reach).

// Format 1, all numbers little-endian:
//
//   0  u32 magic "HXRE"      16  rows, ascending, of 10 bytes:
//   4  u32 format                  u16 row = head × 401 + value of the first pair, 0 for no pair
//   8  u32 count of rows           u64 mask, bit n = admin number n; never 0
//  12  u32 CRC-32 of the rows
//
// A row that is not listed allows nothing.

const MAGIC = 0x45525848;
const FORMAT = 1;
const HEADER_BYTES = 16;
const ROW_BYTES = 10;

/** Values of a first pair: 1 to 399, 0 for none; 400 is unused. */
const VALUES = 401;
const HEADS = 16;
/** Heads that are a cell of resolution 0: no pair may follow. */
const ROOT_HEADS = [0, 6, 11];
/** The upper half of a mask of all 34 provinces. */
const ALL_PROVINCES_HIGH = 3;

/** Rows of the table in the kernel. */
export const REACH_ROWS = HEADS * VALUES;

/** The row of a head (0 to 15) and the value of a first pair (1 to 399, 0 for none). */
export function reachRow(head: number, firstPair: number): number {
  return head * VALUES + firstPair;
}

/** Whether a hexcode can have this row at all. */
export function isReachRow(row: number): boolean {
  const firstPair = row % VALUES;
  return (
    Number.isInteger(row) &&
    row >= 0 &&
    row < REACH_ROWS &&
    firstPair < 400 &&
    (firstPair === 0 || !ROOT_HEADS.includes(Math.floor(row / VALUES)))
  );
}

/**
 * The table of a reach file: REACH_ROWS masks.
 * @throws HexcodesError BAD_DATA with the reason if these bytes are not a reach file of format 1
 */
export function decodeReach(file: Uint8Array): BigUint64Array {
  const refuse = (reason: string) => new HexcodesError('BAD_DATA', `The reach cannot be used: ${reason}`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < HEADER_BYTES || view.getUint32(0, true) !== MAGIC)
    throw refuse('this is not a reach file');
  if (view.getUint32(4, true) !== FORMAT)
    throw refuse('the file has another format version than this build reads');
  const count = view.getUint32(8, true);
  if (file.length !== HEADER_BYTES + ROW_BYTES * count) throw refuse('the file is cut short or too long');
  if (view.getUint32(12, true) !== crc32(file.subarray(HEADER_BYTES)))
    throw refuse('the checksum does not match: the file is damaged');

  const masks = new BigUint64Array(REACH_ROWS);
  // halves of masks: a start pays for a thousand rows, and BigInts take five times as long
  const halves = new Uint32Array(masks.buffer);
  let last = -1;
  for (let at = HEADER_BYTES; at < file.length; at += ROW_BYTES) {
    const row = view.getUint16(at, true);
    const low = view.getUint32(at + 2, true);
    const high = view.getUint32(at + 6, true);
    if (row <= last || !isReachRow(row)) throw refuse(`row ${row} is impossible or out of order`);
    if ((low | high) === 0 || high > ALL_PROVINCES_HIGH)
      throw refuse(`row ${row} names no province or one beyond the 34`);
    halves[2 * row] = low;
    halves[2 * row + 1] = high;
    last = row;
  }
  return masks;
}

/** CRC-32 of zip and gzip (reflected polynomial 0xEDB88320) by a table of bytes. */
function crc32(bytes: Uint8Array): number {
  const table = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    table[byte] = crc;
  }
  let crc = -1;
  // by index: at a start, before code is compiled, an iterator takes several times as long
  for (let i = 0; i < bytes.length; i++)
    crc = (crc >>> 8) ^ (table[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return ~crc >>> 0;
}
