// The boundary index as a file, read for people: its description and its arcs. assembly/region/layout.ts defines layout
// and grammar. The kernel checks every byte before it takes a file into use; files read here have been accepted there,
// or are about to be.

import { HexcodesError } from '../errors.js';

// How sure the province of a position is: the distance to the nearest border between two provinces, and the share of
// right provinces that was measured at such distances. The index carries the measured shares, as they are those of its
// own borders.
/** `borderOf` and `borderBatch` of the kernel: no border between two provinces within 5 km. */
export const NO_BORDER = 65_535;
/** The most bands that an index may have. */
const MAX_BANDS = 16;

/** Positions whose distance to a border is below `belowM`, and not below that of the band before. */
export interface Band {
  /** Metres; Infinity for the last band. */
  readonly belowM: number;
  /** The share of them whose province is right, 0 to 1. */
  readonly share: number;
}

/** Bands as an index has them: `belowM`, null for the last, and `share`. */
export type BandPairs = readonly (readonly [belowM: number | null, share: number])[];

/** How sure the province of a position is. */
export interface Border {
  /** Whole metres to the nearest border between two provinces; null beyond 5 km. */
  readonly borderM: number | null;
  /** The share of positions at such a distance whose province is right, 0 to 1; null where the index has no shares. */
  readonly certainty: number | null;
}

/** The bands of an index, from near to far; none where their accuracy was not measured. */
export function bandsOf(pairs: BandPairs = []): readonly Band[] {
  return pairs.map(([belowM, share]) => ({ belowM: belowM ?? Number.POSITIVE_INFINITY, share }));
}

/** Whether what an index says of its bands can be used: at most MAX_BANDS, ascending, the last one without an end. */
export function areBands(given: unknown): given is BandPairs {
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
/** Unit id of everything that no unit claims; its admin number is NO_ADMIN. */
export const OUTSIDE_UNIT = 63;
export const NO_ADMIN = 255;
/** Micro-degrees between neighbouring positions of a vertex. */
export const INDEX_VERTEX_STEP = 10;

/** The description of the index: the JSON block of the file. */
export interface IndexMeta {
  /**
   * The most exact unit that the map tells apart (for the shipped map a province from before July 2025), by unit id.
   */
  readonly units: readonly { readonly name: string; readonly admin: number }[];
  /** Credit and licence line that must be shown with the map. */
  readonly notice: string;
  /** SPDX identifier, or words. */
  readonly licence: string;
  readonly source: { readonly name: string; readonly date: string };
  /**
   * Shares of positions on land with the right province by distance to a border of this map: metres that the distance
   * is below, ascending, null for the last; the share, 0 to 1. Absent where nobody has measured it.
   */
  readonly bands?: BandPairs;
  /** The truth that the shares were measured on, and how good it is, in words. */
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
 * @throws HexcodesError BAD_DATA if the description is not JSON, lacks something, or names other units than the header
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
