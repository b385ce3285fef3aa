// Reads a user's boundaries: GeoJSON polygons with the code of their province in a property, any number of features a
// province (wards will do). All faults of single features are reported together.
import { readFileSync } from 'node:fs';
import { ADMIN_UNITS } from '#dist/hexcodes/admin-units.js';
import { Buckets, cellsOfLine, openRing, type Ring, STEPS_PER_DEGREE } from '../plane/grid.js';

/** The faults of a file, one sentence each. */
export class BoundaryFileError extends Error {
  override readonly name = 'BoundaryFileError';
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

export interface UserPolygon {
  /** Its feature, for messages: `Feature 3 (An Giang)`. */
  readonly name: string;
  /** Index in ADMIN_UNITS. */
  readonly admin: number;
  /** The outer ring, then holes; open, in steps. */
  readonly rings: readonly Ring[];
}

interface UserFile {
  readonly polygons: readonly UserPolygon[];
  readonly featureCount: number;
  readonly vertexCount: number;
  /** The file's own `notice`, if it has one. */
  readonly notice: string | undefined;
}

const MAX_FAULTS = 20;

/** Degrees; a boundary index can cover no more. */
const DOMAIN = { west: 100, south: 5, east: 119, north: 25 };

/** Rings are tested for crossing themselves before they are rounded to steps, on this finer grid. */
const FINE_PER_DEGREE = 10_000_000;

/** Throws a BoundaryFileError. @param codeProperty name of the property that holds the code of the province */
export function readUserFile(path: string, codeProperty: string): UserFile {
  const faults: string[] = [];
  const fault = (text: string) => {
    if (faults.length < MAX_FAULTS) faults.push(text);
    else if (faults.length === MAX_FAULTS) faults.push('… and more.');
  };
  const file = parse(path);
  const polygons: UserPolygon[] = [];
  let vertexCount = 0;
  file.features.forEach((feature, n) => {
    if (typeof feature !== 'object' || feature === null) {
      fault(`Feature ${n} is not a feature.`);
      return;
    }
    const name = `Feature ${n}${nameOf(feature.properties)}`;
    const admin = adminOf(feature.properties?.[codeProperty]);
    if (admin < 0) {
      fault(`${name}: its "${codeProperty}" is ${codeText(feature.properties?.[codeProperty])}.`);
      return;
    }
    const { type, coordinates } = feature.geometry ?? {};
    if ((type === 'Polygon' || type === 'MultiPolygon') && !Array.isArray(coordinates)) {
      fault(`${name}: its ${type} has no list of coordinates.`);
      return;
    }
    if ((type !== 'Polygon' && type !== 'MultiPolygon') || !Array.isArray(coordinates)) {
      fault(`${name}: a Polygon or MultiPolygon is wanted, this is ${type ?? 'without geometry'}.`);
      return;
    }
    for (const rings of (type === 'Polygon' ? [coordinates] : coordinates) as unknown[][]) {
      if (!Array.isArray(rings)) {
        fault(`${name}: a polygon is not a list of rings.`);
        continue;
      }
      const read = rings.map((ring, k) => readRing(ring, (text) => fault(`${name}, ring ${k}: ${text}`)));
      for (const ring of read) vertexCount += (ring?.length ?? 0) / 2;
      const whole = read.filter((ring) => ring !== null && ring.length >= 6) as Ring[];
      if (read[0] && read[0].length >= 6) polygons.push({ name, admin, rings: whole });
    }
  });
  const given = new Set(polygons.map(({ admin }) => admin));
  const missing = ADMIN_UNITS.filter((_, admin) => !given.has(admin)).map(({ code }) => code);
  if (missing.length > 0) fault(`No feature with a polygon has the code ${missing.join(', ')}.`);
  if (faults.length > 0) throw new BoundaryFileError(faults);
  return {
    polygons,
    featureCount: file.features.length,
    vertexCount,
    notice: typeof file.notice === 'string' ? file.notice : undefined,
  };
}

interface UserFeature {
  readonly properties?: Readonly<Record<string, unknown>> | null;
  readonly geometry?: { readonly type?: string; readonly coordinates?: unknown } | null;
}

/**
 * Names of WGS84 in the `crs` member that some programs write. Degrees of another datum look the same and mean other
 * positions, those of VN-2000 about 200 m away.
 */
const WGS84 = /(CRS:?84|EPSG:([\d.]*:)?4326)$/i;

function parse(path: string): { features: readonly UserFeature[]; notice?: unknown } {
  let file: {
    type?: unknown;
    features?: unknown;
    notice?: unknown;
    crs?: { properties?: { name?: unknown } } | null;
  };
  try {
    file = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new BoundaryFileError([`${path} cannot be read as JSON: ${(error as Error).message}`]);
  }
  if (file?.type !== 'FeatureCollection' || !Array.isArray(file.features))
    throw new BoundaryFileError([`${path} is not a GeoJSON FeatureCollection.`]);
  const crs = file.crs?.properties?.name ?? file.crs ?? 'CRS84';
  if (typeof crs !== 'string' || !WGS84.test(crs))
    throw new BoundaryFileError([
      `${path} says that its positions are in ${JSON.stringify(crs)}: degrees of WGS84 are wanted.`,
    ]);
  return { features: file.features as UserFeature[], notice: file.notice };
}

function nameOf(properties: UserFeature['properties']): string {
  const name = properties?.name ?? properties?.NAME ?? properties?.ten;
  return typeof name === 'string' ? ` (${name})` : '';
}

const adminOf = (code: unknown) => ADMIN_UNITS.findIndex((unit) => unit.code === code);

function codeText(code: unknown): string {
  if (code === undefined || code === null || code === '') return 'missing';
  return `${JSON.stringify(code).slice(0, 40)}, none of the 34 codes of provinces`;
}

/** The ring, open and in steps; null, and one fault, where it is not usable. */
function readRing(ring: unknown, fault: (text: string) => void): Ring | null {
  if (!Array.isArray(ring) || ring.length < 4) {
    fault('it has fewer than four positions.');
    return null;
  }
  const fine = new Int32Array(ring.length * 2);
  const steps: number[] = [];
  for (let i = 0; i < ring.length; i++) {
    const [lngDeg, latDeg] = Array.isArray(ring[i]) ? (ring[i] as unknown[]) : [];
    if (typeof lngDeg !== 'number' || typeof latDeg !== 'number') {
      fault(`position ${i} is not a pair of numbers.`);
      return null;
    }
    const inside = (x: number, y: number) =>
      x >= DOMAIN.west && x <= DOMAIN.east && y >= DOMAIN.south && y <= DOMAIN.north;
    if (!inside(lngDeg, latDeg)) {
      const hint = inside(latDeg, lngDeg)
        ? ': longitude comes first in GeoJSON'
        : ', which is not near Viet Nam: degrees of WGS84 are wanted';
      fault(`position ${i} is ${lngDeg}, ${latDeg}${hint}.`);
      return null;
    }
    fine[2 * i] = Math.round(lngDeg * FINE_PER_DEGREE);
    fine[2 * i + 1] = Math.round(latDeg * FINE_PER_DEGREE);
    steps.push(Math.round(lngDeg * STEPS_PER_DEGREE), Math.round(latDeg * STEPS_PER_DEGREE));
  }
  if (fine[0] !== fine.at(-2) || fine[1] !== fine.at(-1)) {
    fault('it is open: its last position is not its first.');
    return null;
  }
  const crossing = selfCrossing(fine);
  if (crossing) {
    fault(`it crosses itself near ${crossing.latDeg.toFixed(5)} N, ${crossing.lngDeg.toFixed(5)} E.`);
    return null;
  }
  return openRing(steps);
}

/** A point where two segments of a closed ring cross between their ends; touching is not crossing. */
function selfCrossing(ring: Int32Array): { latDeg: number; lngDeg: number } | null {
  const count = ring.length / 2 - 1;
  const lines = new Int32Array(count * 4);
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < count; i++) {
    lines.set(ring.subarray(2 * i, 2 * i + 4), i * 4);
    west = Math.min(west, ring[2 * i]!);
    east = Math.max(east, ring[2 * i]!);
    south = Math.min(south, ring[2 * i + 1]!);
    north = Math.max(north, ring[2 * i + 1]!);
  }
  const cell = Math.max(16, Math.ceil(Math.max(east - west, north - south) / Math.ceil(Math.sqrt(count))));
  const columns = Math.floor((east - west + 1) / cell) + 2;
  const rows = Math.floor((north - south + 1) / cell) + 2;
  const { starts, items } = new Buckets(columns * rows, count, (line, visit) =>
    cellsOfLine(lines, line, west, south, cell, (column, row) => visit(row * columns + column)),
  );
  for (let b = 0; b < columns * rows; b++) {
    for (let k = starts[b]!; k < starts[b + 1]!; k++) {
      for (let l = k + 1; l < starts[b + 1]!; l++) {
        const i = items[k]! * 4;
        if (cross(lines, i, items[l]! * 4))
          return { latDeg: lines[i + 1]! / FINE_PER_DEGREE, lngDeg: lines[i]! / FINE_PER_DEGREE };
      }
    }
  }
  return null;
}

/** Whether the ends of each segment lie strictly on both sides of the other. */
function cross(lines: Int32Array, i: number, j: number): boolean {
  const side = (line: number, point: number) =>
    Math.sign(
      (lines[line + 2]! - lines[line]!) * (lines[point + 1]! - lines[line + 1]!) -
        (lines[line + 3]! - lines[line + 1]!) * (lines[point]! - lines[line]!),
    );
  return side(i, j) * side(i, j + 2) < 0 && side(j, i) * side(j, i + 2) < 0;
}
