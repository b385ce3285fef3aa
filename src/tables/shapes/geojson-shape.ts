// Geometries of GeoJSON (RFC 7946) as shapes.

import { type OtherSystem, otherSystem } from '../../hexcodes/wire/rows/coordinate-system.js';
import type { Shape } from '../../hexcodes/wire/rows/well-known-binary.js';

const TYPES = ['', 'Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'];
const COLLECTION = 7;
const MAX_DEPTH = 16;

/** Whether a JSON object says by its type to be a geometry. */
export function isGeometry({ type }: Readonly<Record<string, unknown>>): boolean {
  return type === 'GeometryCollection' || (typeof type === 'string' && TYPES.indexOf(type) > 0);
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
  const shape = { points: [], lines: [], polygons: [] };
  const type = addGeometry(value, shape, 0);
  return type === null ? null : { ...shape, type, system: 0 };
}

type Lists = Pick<Shape, 'points' | 'lines' | 'polygons'>;

function addGeometry(value: unknown, to: Lists, depth: number): number | null {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return null;
  const { type, coordinates, geometries } = value as Record<string, unknown>;
  if (type === 'GeometryCollection' && Array.isArray(geometries)) {
    const isWhole = geometries.every((each) => addGeometry(each, to, depth + 1) !== null);
    return isWhole ? COLLECTION : null;
  }
  const number = TYPES.indexOf(String(type));
  if (number < 1 || !Array.isArray(coordinates)) return null;
  try {
    switch (number) {
      case 1:
        if (coordinates.length > 0) to.points.push(...position(coordinates));
        break;
      case 2:
        to.lines.push(list(coordinates));
        break;
      case 3:
        to.polygons.push(coordinates.map(list));
        break;
      case 4:
        for (const each of coordinates) to.points.push(...position(each));
        break;
      case 5:
        for (const each of coordinates) to.lines.push(list(each));
        break;
      default:
        for (const each of coordinates) to.polygons.push((each as unknown[]).map(list));
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
