// The point of a line or an area that is meant: its middle, its first, or each of its corners. Coordinates lie flat,
// longitude and latitude in turns, as degrees of a plane.

import { type OtherSystem, otherSystem } from '../../hexcodes/wire/rows/coordinate-system.js';
import type { Shape } from '../../hexcodes/wire/rows/well-known-binary.js';
import { TableError } from '../table-error.js';

export type PointChoice = 'centroid' | 'first' | 'each';
export const POINT_CHOICES = ['centroid', 'first', 'each'] as const satisfies readonly PointChoice[];

const TYPES = [
  'Geometry',
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
];

export function typeName({ type }: Shape): string {
  return TYPES[type] ?? 'Geometry';
}

/** The only point of a shape, longitude first; null where it has none or several, or more than points. */
export function lonePoint({ points, lines, polygons }: Shape): readonly [lng: number, lat: number] | null {
  const isLone = points.length === 2 && lines.length === 0 && polygons.length === 0;
  return isLone ? [points[0]!, points[1]!] : null;
}

/** The points that are meant, longitude first; none of a shape that is empty. */
export function pointsOf(shape: Shape, choice: PointChoice): (readonly [lng: number, lat: number])[] {
  const lone = lonePoint(shape);
  if (lone !== null) return [lone];
  if (choice === 'centroid') return centroid(shape);
  const lists = listsOf(shape);
  if (choice === 'each') return lists.flatMap(pairs);
  const first = lists.find((list) => list.length > 0);
  return first === undefined ? [] : pairs(first.slice(0, 2));
}

/** The positions of its points, lines and rings, in the order of the geometry. */
function listsOf({ points, lines, polygons, order }: Shape): (readonly number[])[] {
  const at = [0, 0, 0, 0];
  return order.flatMap((type) => {
    const part = at[type]!++;
    if (type === 1) return [points.slice(2 * part, 2 * part + 2)];
    return type === 2 ? [lines[part]!] : polygons[part]!.map(open);
  });
}

type Part =
  | readonly [type: 1, point: [number, number]]
  | [type: 2, line: number[]]
  | [type: 3, rings: number[][]];

/** Adds what comes next in a geometry: a point, a line, or the rings of an area. */
export function addPart(to: Lists, ...part: Part): void {
  to.order.push(part[0]);
  if (part[0] === 1) to.points.push(...part[1]);
  else if (part[0] === 2) to.lines.push(part[1]);
  else to.polygons.push(part[1]);
}

function pairs(list: readonly number[]): (readonly [number, number])[] {
  return Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i]!, list[2 * i + 1]!] as const);
}

/** A ring without its last corner, which is its first again. */
function open(ring: readonly number[]): readonly number[] {
  const last = ring.length - 2;
  const isClosed = last > 0 && ring[0] === ring[last] && ring[1] === ring[last + 1];
  return isClosed ? ring.slice(0, last) : ring;
}

/** The centre of areas by their area, else of lines by their length, else of all points. */
function centroid({ points, lines, polygons }: Shape): (readonly [number, number])[] {
  const first = [points, ...lines, ...polygons.flat()].find((list) => list.length > 0);
  if (first === undefined) return [];
  // Near the first point digits are not lost in differences of large numbers.
  const from = { x: first[0]!, y: first[1]! };
  const sum = { weight: 0, x: 0, y: 0 };
  const add = (weight: number, x: number, y: number): void => {
    sum.weight += weight;
    sum.x += weight * (x - from.x);
    sum.y += weight * (y - from.y);
  };
  for (const rings of polygons)
    rings.forEach((ring, i) => {
      addArea(ring, i === 0 ? 1 : -1, from, add);
    });
  if (sum.weight === 0) for (const line of [...lines, ...polygons.flat()]) addLength(line, add);
  if (sum.weight === 0)
    for (const [x, y] of [points, ...lines, ...polygons.flat()].flatMap(pairs)) add(1, x, y);
  return [[from.x + sum.x / sum.weight, from.y + sum.y / sum.weight]];
}

type Add = (weight: number, x: number, y: number) => void;

/** Adds the triangles between a ring's edges and one point. @param sign 1 for an outer ring, -1 for a hole */
function addArea(ring: readonly number[], sign: 1 | -1, from: { x: number; y: number }, add: Add): void {
  const triangles: [area: number, x: number, y: number][] = [];
  let whole = 0;
  for (let i = 0; i + 3 < ring.length; i += 2) {
    const [x1, y1] = [ring[i]! - from.x, ring[i + 1]! - from.y];
    const [x2, y2] = [ring[i + 2]! - from.x, ring[i + 3]! - from.y];
    const area = (x1 * y2 - x2 * y1) / 2;
    whole += area;
    triangles.push([area, from.x + (x1 + x2) / 3, from.y + (y1 + y2) / 3]);
  }
  // Whichever way around the ring is written.
  const turn = whole < 0 ? -sign : sign;
  for (const [area, x, y] of triangles) add(turn * area, x, y);
}

function addLength(line: readonly number[], add: Add): void {
  for (let i = 0; i + 3 < line.length; i += 2) {
    const [x1, y1, x2, y2] = [line[i]!, line[i + 1]!, line[i + 2]!, line[i + 3]!];
    add(Math.hypot(x2 - x1, y2 - y1), (x1 + x2) / 2, (y1 + y2) / 2);
  }
}

// Rows with shapes as rows with positions: points as they are, of lines and areas the point that is meant.

export interface ShapeRow<Value> {
  /** In the order of the columns. */
  readonly fields: readonly Value[];
  /** null where there is none. */
  readonly shape: Shape | null;
  /** Why a shape that is there cannot be read. */
  readonly fault?: string | undefined;
}

export interface PlacedRow<Value> {
  readonly fields: readonly Value[];
  /** null of a row without a shape, or with an empty one. */
  readonly point: readonly [lng: number, lat: number] | null;
  readonly fault?: string | undefined;
}

/** The remedy for lines and areas without an option for the point that is meant. */
export const POINT_HINT = `Say which point of them is meant: --point ${POINT_CHOICES.join(', or ')}.`;

/**
 * @param choice null where no lines and areas are expected @param passed is told which share of the rows is passed
 * @returns a row for each, and for `each` a row for each of their points
 * @throws TableError for lines and areas where none are expected, with their number
 */
export function placedRows<Value>(
  rows: readonly ShapeRow<Value>[],
  choice: PointChoice | null,
  passed: (share: number) => void = () => undefined,
): Iterable<PlacedRow<Value>> {
  if (choice === null) refuseOthers(rows.map(({ shape }) => shape));
  return (function* () {
    for (const [index, { fields, shape, fault }] of rows.entries()) {
      passed(index / rows.length);
      const points = shape === null ? [] : pointsOf(shape, choice ?? 'first');
      if (points.length === 0) yield { fields, point: null, fault };
      for (const point of points) yield { fields, point };
    }
    passed(1);
  })();
}

/** @throws TableError for lines and areas, with their number */
export function refuseOthers(shapes: Iterable<Shape | null>): void {
  const counts = new Map<string, number>();
  for (const shape of shapes) {
    if (shape === null || lonePoint(shape) !== null || pointsOf(shape, 'first').length === 0) continue;
    const type = typeName(shape);
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  if (counts.size === 0) return;
  const listed = [...counts].map(([type, count]) => `${count} ${type}`).join(', ');
  throw new TableError(`it holds lines or areas: ${listed}`, POINT_HINT);
}

// Geometries of GeoJSON (RFC 7946) as shapes.

const SHAPE_TYPES = ['', 'Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'];
const COLLECTION = 7;
const MAX_DEPTH = 16;

/** Whether a JSON object says by its type to be a geometry. */
export function isGeometry({ type }: Readonly<Record<string, unknown>>): boolean {
  return type === 'GeometryCollection' || (typeof type === 'string' && SHAPE_TYPES.indexOf(type) > 0);
}

/**
 * The system, where it is another than WGS 84, that a feature or geometry names, or one of the geometries in it: `crs`
 * of GeoJSON of 2008, `coordRefSys` of JSON-FG.
 */
export function otherSystemOf(value: unknown, depth = 0): OtherSystem | null {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return null;
  const { crs, coordRefSys, geometry, geometries } = value as Record<string, unknown>;
  const own = otherSystem(crs) ?? ('place' in value ? null : otherSystemOfJsonFg(coordRefSys));
  const inner: readonly unknown[] = Array.isArray(geometries) ? geometries : [geometry];
  return inner.reduce<OtherSystem | null>((found, each) => found ?? otherSystemOf(each, depth + 1), own);
}

/** Members of collections, features and geometries that say where something is. */
const POSITION_MEMBERS = new Set([
  'type',
  'geometry',
  'coordinates',
  'geometries',
  'crs',
  'coordRefSys',
  'place',
]);

/**
 * Whether a member of GeoJSON matters for positions, or for what is read of these properties, by its path: see
 * repeatedMember.
 */
export function mattersInGeoJson(names: readonly string[]): (path: readonly string[]) => boolean {
  return (path) => {
    const [outer, inner] = path[0] === 'features' ? path.slice(1) : path;
    if (outer !== 'properties') return outer === undefined || POSITION_MEMBERS.has(outer);
    return inner === undefined || names.includes(inner);
  };
}

/**
 * A system that JSON-FG names, where it is another than WGS 84. It is not the one of the geometry of a feature that has
 * a second one in this system, be it null.
 */
export function otherSystemOfJsonFg(coordRefSys: unknown): OtherSystem | null {
  const first: unknown = Array.isArray(coordRefSys) ? coordRefSys[0] : coordRefSys;
  const { href = first } = (first ?? {}) as { href?: unknown };
  return otherSystem(typeof href === 'string' ? href.replace(/^\[(.*)\]$/, '$1') : href);
}

/** null for a value that is not a geometry, or has something other than numbers in its place. */
export function shapeOfGeoJson(value: unknown): Shape | null {
  const shape = { points: [], lines: [], polygons: [], order: [] };
  const type = addGeometry(value, shape, 0);
  return type === null ? null : { ...shape, type, system: 0 };
}

type Lists = Pick<Shape, 'points' | 'lines' | 'polygons' | 'order'>;

function addGeometry(value: unknown, to: Lists, depth: number): number | null {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return null;
  const { type, coordinates, geometries } = value as Record<string, unknown>;
  if (type === 'GeometryCollection' && Array.isArray(geometries)) {
    const isWhole = geometries.every((each) => addGeometry(each, to, depth + 1) !== null);
    return isWhole ? COLLECTION : null;
  }
  const number = SHAPE_TYPES.indexOf(String(type));
  if (number < 1 || !Array.isArray(coordinates)) return null;
  try {
    switch (number) {
      case 1:
        if (coordinates.length > 0) addPart(to, 1, position(coordinates));
        break;
      case 2:
        addPart(to, 2, list(coordinates));
        break;
      case 3:
        addPart(to, 3, coordinates.map(list));
        break;
      case 4:
        for (const each of coordinates) addPart(to, 1, position(each));
        break;
      case 5:
        for (const each of coordinates) addPart(to, 2, list(each));
        break;
      default:
        for (const each of coordinates) addPart(to, 3, (each as unknown[]).map(list));
    }
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
  return number;
}

const list = (coordinates: unknown): number[] => (coordinates as unknown[]).flatMap(position);

/** @throws TypeError for what is not a position */
function position(value: unknown): [number, number] {
  const [lng, lat] = value as unknown[];
  if (typeof lng !== 'number' || typeof lat !== 'number') throw new TypeError('no position');
  return [lng, lat];
}
