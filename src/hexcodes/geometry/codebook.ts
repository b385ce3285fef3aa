// The part of the library that geometry uses: texts to cells and back. A loaded `Hexcodes` implements it.

import { cellToBoundary } from 'h3-js';
import { HexcodesError } from '../errors.js';
import { shown } from '../wire/params/names.js';

// Types of positions in arguments.
/** A position in degrees, latitude first. */
export type LatLng = readonly [lat: number, lng: number];

/** A position in degrees, as a pair or as an object: an answer of `encode` or `decode` is one. */
export type Position = LatLng | { readonly lat: number; readonly lng: number };

/** @throws HexcodesError NOT_A_COORDINATE for anything but a latitude to ±90 and a longitude to ±180 */
export function latLngOf(given: Position): [lat: number, lng: number] {
  const { lat, lng } = Array.isArray(given)
    ? { lat: given[0] as number, lng: given[1] as number }
    : ((given ?? {}) as { lat: number; lng: number });
  if (!isWithin(lat, 90) || !isWithin(lng, 180))
    throw new HexcodesError(
      'NOT_A_COORDINATE',
      `A position is [lat, lng] or { lat, lng } in degrees, not ${shown(given)}`,
    );
  return [lat, lng];
}

/** Whether a value is a number of degrees up to a limit. */
export const isWithin = (given: unknown, limitDeg: number): boolean =>
  typeof given === 'number' && Math.abs(given) <= limitDeg;

/** The content of a hexcode, and the centre of its cell. */
export interface ReadCode {
  /** Canonical text. */
  readonly hexcodes: string;
  /** H3 index of the cell. */
  readonly cell: bigint;
  /** H3 resolution, 0 to 15. */
  readonly resolution: number;
  /** Province of the point that the code was made from. */
  readonly admin_code: string;
  /** Latitude of the cell's centre, degrees. */
  readonly lat: number;
  /** Longitude of the cell's centre, degrees. */
  readonly lng: number;
}

/** Reads and makes hexcodes: an instance of `Hexcodes`. */
export interface Codebook {
  /** Reads a hexcode in any accepted spelling; null for any other text. */
  read(text: string): ReadCode | null;
  /** The canonical hexcode of an H3 cell within a province; null if decode would not accept it. */
  pack(cell: bigint, adminCode: string): string | null;
  /** The admin code of a position in degrees; null outside the coverage. */
  adminCodeOf(lat: number, lng: number): string | null;
  /**
   * The lines between the coverage and what lies outside it: lng, lat, lng, lat, … in micro-degrees. Without them,
   * `cover` leaves out cells that the coverage touches with neither their centre nor a corner.
   */
  coverageEdges?(): readonly Int32Array[];
}

/** Reads a hexcode. @throws HexcodesError INVALID_HEXCODES if the text is not one */
export function readOrThrow(hexcodes: Codebook, code: string): ReadCode {
  const read = hexcodes.read(code);
  if (read === null) throw new HexcodesError('INVALID_HEXCODES', `${shown(code)} is not a hexcode`);
  return read;
}

/** An H3 index as h3-js takes it: lower-case hexadecimal. */
export function h3Text(cell: bigint): string {
  return cell.toString(16);
}

// Hexcodes as GeoJSON (RFC 7946): cells as polygons, centres as points. Longitude comes first; rings are closed and
// counter-clockwise.

// The outline of an H3 cell as GeoJSON has it, and the box around it.
/**
 * Corners of a cell, longitude first, counter-clockwise, the first one repeated at the end.
 * @param cell an H3 index in hexadecimal
 */
export function cellRing(cell: string): [lng: number, lat: number][] {
  const ring = cellToBoundary(cell).map(([lat, lng]): [number, number] => [lng!, lat!]);
  ring.push([...ring[0]!]);
  return ring;
}

/** Fraction of a degree to which boxes are rounded outwards; it exceeds the error of corners and positions. */
const PARTS = 1e7;
const RADIANS = Math.PI / 180;

/**
 * The box that holds every position of a cell, in degrees. Edges are arcs, so between their ends they may lie farther
 * north or south than both ends. Valid for cells that contain no pole and do not cross the 180th meridian.
 * @param cell an H3 index in hexadecimal
 */
export function cellBox(cell: string): [west: number, south: number, east: number, north: number] {
  let [west, south, east, north] = [180, 90, -180, -90];
  const ring = cellRing(cell);
  for (const [index, [lng, lat]] of ring.entries()) {
    west = Math.min(west, lng);
    east = Math.max(east, lng);
    const next = ring[index + 1];
    const turn = (next === undefined ? null : turningLat(lat, lng, next[1], next[0])) ?? lat;
    south = Math.min(south, lat, turn);
    north = Math.max(north, lat, turn);
  }
  const down = (deg: number): number => Math.floor(deg * PARTS) / PARTS;
  const up = (deg: number): number => Math.ceil(deg * PARTS) / PARTS;
  return [down(west), down(south), up(east), up(north)];
}

/** The latitude at which the great circle through two points turns, if it does so between them. */
function turningLat(latA: number, lngA: number, latB: number, lngB: number): number | null {
  const [xA, yA, zA] = vectorOf(latA, lngA);
  const [xB, yB, zB] = vectorOf(latB, lngB);
  const [x, y, z] = [yA * zB - zA * yB, zA * xB - xA * zB, xA * yB - yA * xB];
  // Direction in which the latitude changes at either end, towards the other.
  const cosine = xA * xB + yA * yB + zA * zB;
  const [fromA, fromB] = [zB - zA * cosine, zA - zB * cosine];
  if (fromA * fromB <= 0) return null;
  const deg = Math.atan2(Math.hypot(x, y), Math.abs(z)) / RADIANS;
  return fromA > 0 ? deg : -deg;
}

function vectorOf(lat: number, lng: number): [x: number, y: number, z: number] {
  const [phi, lambda] = [lat * RADIANS, lng * RADIANS];
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}

/** The properties of every feature. */
export interface CodeProperties {
  hexcodes: string;
  resolution: number;
  admin_code: string;
}

export interface CellFeature {
  type: 'Feature';
  id: string;
  geometry: { type: 'Polygon'; coordinates: [lng: number, lat: number][][] };
  properties: CodeProperties;
}

export interface CenterFeature {
  type: 'Feature';
  id: string;
  geometry: { type: 'Point'; coordinates: [lng: number, lat: number] };
  properties: CodeProperties;
}

export interface FeatureCollection<F> {
  type: 'FeatureCollection';
  features: F[];
}

/**
 * A code's cell as a GeoJSON polygon feature; its id is the canonical hexcode.
 *
 * @throws HexcodesError INVALID_HEXCODES
 */
export function cellFeature(hexcodes: Codebook, code: string): CellFeature {
  const read = readOrThrow(hexcodes, code);
  const ring = cellRing(h3Text(read.cell));
  return {
    type: 'Feature',
    id: read.hexcodes,
    geometry: { type: 'Polygon', coordinates: [ring] },
    properties: propertiesOf(read),
  };
}

/**
 * The centre of a code's cell as a GeoJSON point feature; its id is the canonical hexcode.
 *
 * @throws HexcodesError INVALID_HEXCODES
 */
export function centerFeature(hexcodes: Codebook, code: string): CenterFeature {
  const read = readOrThrow(hexcodes, code);
  return {
    type: 'Feature',
    id: read.hexcodes,
    geometry: { type: 'Point', coordinates: [read.lng, read.lat] },
    properties: propertiesOf(read),
  };
}

/**
 * The cells of many codes as one GeoJSON feature collection, in the order given.
 *
 * @throws HexcodesError INVALID_HEXCODES for the first text that is not a hexcode, BAD_ARGUMENT for no list
 */
export function cellCollection(hexcodes: Codebook, codes: Iterable<string>): FeatureCollection<CellFeature> {
  requireCodes(hexcodes, codes);
  return { type: 'FeatureCollection', features: Array.from(codes, (code) => cellFeature(hexcodes, code)) };
}

/** @throws HexcodesError BAD_ARGUMENT unless these are a library and a list; a text is one code */
export function requireCodes(hexcodes: unknown, codes: unknown): void {
  if (typeof (hexcodes as Partial<Codebook> | null | undefined)?.read !== 'function')
    throw new HexcodesError('BAD_ARGUMENT', `The first argument is a loaded library, not ${shown(hexcodes)}`);
  const isList = typeof codes === 'object' && codes !== null && Symbol.iterator in codes;
  if (!isList) throw new HexcodesError('BAD_ARGUMENT', `Codes are a list of texts, not ${shown(codes)}`);
}

function propertiesOf({ hexcodes, resolution, admin_code }: CodeProperties): CodeProperties {
  return { hexcodes, resolution, admin_code };
}
