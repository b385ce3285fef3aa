// Finds the positions in the first rows of a table: in a pair of columns, in one column of whole positions, or inside
// JSON objects; and reads them. For the command and for the page.

import { delimiterOf } from '../hexcodes/wire/bulk/csv-header.js';
import type { Delimiter } from '../hexcodes/wire/job.js';
import { repeatedMember } from '../hexcodes/wire/params/json-grammar.js';
import { hemisphereFault } from '../hexcodes/wire/params/names.js';
import { parseAngle } from '../hexcodes/wire/rows/angle-text.js';
import {
  codeColumns,
  columnCalled,
  pairColumns,
  positionColumns,
} from '../hexcodes/wire/rows/column-names.js';
import { type OtherSystem, otherSystem } from '../hexcodes/wire/rows/coordinate-system.js';
import { csvFields, plainNumber } from '../hexcodes/wire/rows/csv-fields.js';
import { parsePosition } from '../hexcodes/wire/rows/position-text.js';
import { isLineOrArea, shapeInText, systemInText } from './shapes/shape-text.js';
import { lonePoint, otherSystemOf, typeName } from './shapes/shapes.js';
import type { Sheet } from './xlsx/workbook.js';

/** The first rows of an input as texts, from which columns are inferred. */
export interface FirstRows {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Texts of a column in the first rows, without those that are empty. */
export function textsOf({ rows }: FirstRows, column: number): string[] {
  return rows.map((row) => row[column] ?? '').filter((text) => text.trim() !== '');
}

/** A column that holds whole positions. */
export type WholePosition =
  /** Texts, and JSON objects by the members that each has. */
  | { readonly kind: 'text'; readonly column: number }
  /** Members of a JSON object that are chosen, outermost first. */
  | {
      readonly kind: 'nested';
      readonly column: number;
      readonly lat: readonly string[];
      readonly lng: readonly string[];
    };

/** The column that holds whole positions: by its name and its values, without a header by its values alone. */
export function wholePosition(sample: FirstRows, hasHeader: boolean): WholePosition | null {
  const { names } = sample;
  for (const column of positionColumns(names)) {
    if (holdsObjects(sample, column) || holdsPositions(sample, column)) return { kind: 'text', column };
  }
  const all = names.map((_, i) => i);
  const nested = all.filter((column) => holdsObjects(sample, column));
  if (nested.length === 1) return { kind: 'text', column: nested[0]! };
  const texts = all.filter((column) => holdsPositions(sample, column));
  const isOnly = texts.length === 1 && (!hasHeader || names.length === 1);
  return isOnly ? { kind: 'text', column: texts[0]! } : null;
}

/** Whether the first object of a column has a position. */
export function holdsObjects(sample: FirstRows, column: number): boolean {
  const first = textsOf(sample, column).find((text) => text.startsWith('{'));
  try {
    return first !== undefined && membersIn(JSON.parse(first)) !== null;
  } catch {
    return false;
  }
}

interface Members {
  readonly lat: readonly string[];
  readonly lng: readonly string[];
}

const OF_GEOJSON: Members = { lat: ['coordinates', '1'], lng: ['coordinates', '0'] };
/** The object before, whose names most objects of a column have. */
let last: { readonly joined: string; readonly members: Members | null } = { joined: '', members: null };

/** The members of an object that form a position: lat and lng in all their names, or a GeoJSON point. */
function membersIn(value: unknown): Members | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const object = value as Record<string, unknown>;
  if (object.type === 'Point' && Array.isArray(object.coordinates)) return OF_GEOJSON;
  const keys = Object.keys(object);
  const joined = keys.join('\0');
  if (joined !== last.joined) {
    const { lat, lng } = pairColumns(keys);
    const isPair = lat.length === 1 && lng.length === 1;
    last = { joined, members: isPair ? { lat: [keys[lat[0]!]!], lng: [keys[lng[0]!]!] } : null };
  }
  return last.members;
}

/** Whether most texts of a column are whole positions. */
export function holdsPositions(sample: FirstRows, column: number): boolean {
  const texts = textsOf(sample, column);
  return texts.length > 0 && texts.filter((text) => wholeIn(text) !== null).length > texts.length / 2;
}

/** A text as one position, also a geometry of several parts with only one point. */
function wholeIn(text: string): Position | null {
  const position = parsePosition(text);
  if (position !== null) return [position.latDeg, position.lngDeg, position.middleOf === 'view'];
  const shape = shapeInText(text);
  const point = shape === null ? null : lonePoint(shape);
  return point === null ? null : [point[1], point[0], false];
}

/**
 * Whether a column of a pair needs more than the kernel's number reader: degrees, minutes and seconds, a hemisphere,
 * a plus sign.
 */
export function holdsAngles(sample: FirstRows, column: number, axis: 'lat' | 'lng'): boolean {
  return textsOf(sample, column).some((text) => {
    const number = plainNumber(text);
    return number.startsWith('+') || (Number.isNaN(Number(number)) && parseAngle(text, axis) !== null);
  });
}

/** The kinds of the lines and areas of a column; empty where less than half of its texts are some. */
export function shapesIn(sample: FirstRows, column: number): string[] {
  const shapes = textsOf(sample, column).map(shapeInText);
  const types = shapes.flatMap((shape) => (shape !== null && isLineOrArea(shape) ? [typeName(shape)] : []));
  return types.length < shapes.length / 2 ? [] : [...new Set(types)];
}

/** The other coordinate system of the first geometry of a column; null for WGS 84 or none. */
export function otherSystemIn(sample: FirstRows, column: number): OtherSystem | null {
  for (const text of textsOf(sample, column)) {
    const system = systemInText(text);
    if (system !== null) return otherSystem(system);
  }
  return null;
}

/** `isView`: the middle of the view of a map, of a link without a pin. */
type Position = readonly [latDeg: number, lngDeg: number, isView: boolean];
const NONE: Position = [Number.NaN, Number.NaN, false];

/** The position in a text of a column of positions; NaN if there is none. */
export function positionInText(text: string, where: WholePosition): Position {
  // A column may have objects in some rows and texts in others, whichever the first rows have.
  if (!/^\s*[{[]/.test(text)) return wholeIn(text) ?? NONE;
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    return (where.kind === 'text' && wholeIn(text)) || NONE;
  }
  const at = where.kind === 'nested' ? where : membersIn(object);
  if (at === null) return wholeIn(text) ?? NONE;
  if (repeatedMember(text) !== undefined) return NONE;
  // Geometries of GeoJSON may give their system, and members next to the position a hemisphere.
  if (otherSystemOf(object) !== null || hemisphereFault(Object.keys(object ?? {})) !== undefined) return NONE;
  return [memberAt(object, at.lat, 'lat'), memberAt(object, at.lng, 'lng'), false];
}

function memberAt(object: unknown, path: readonly string[], axis: 'lat' | 'lng'): number {
  let value = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return Number.NaN;
    value = (value as Record<string, unknown>)[name];
  }
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? degreesInText(plainNumber(value), axis) : Number.NaN;
}

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * A text as a coordinate in degrees; NaN if it is not one. It must be a number, with a point or a comma, or degrees,
 * minutes and seconds; surrounding blanks are allowed.
 * @param axis the coordinate: a hemisphere of the other one (`21E` as a latitude) is rejected
 */
export function degreesInText(value: string, axis: 'lat' | 'lng'): number {
  const text = plainNumber(value);
  return NUMBER.test(text) ? Number(text) : (parseAngle(text, axis) ?? Number.NaN);
}

// Finds the header row of a table below titles: the first row with known names. For the command and for the page.

interface NamedColumns {
  readonly lat?: string | undefined;
  readonly lng?: string | undefined;
  readonly position?: string | undefined;
  readonly code?: string | undefined;
}

export const SEARCHED_ROWS = 20;

/**
 * The first row with known names, or with those of the caller; undefined if there is none.
 * @param rows at the beginning that are not blank, without line ends
 * @param given the delimiter, if known
 */
export function belowTitles(
  rows: readonly string[],
  columns: NamedColumns,
  given: Delimiter | null,
): { titleRows: number; delimiter: Delimiter } | undefined {
  for (let i = 1; i < Math.min(rows.length, SEARCHED_ROWS); i++) {
    const row = rows[i]!;
    const delimiter = given ?? delimiterOf(new TextEncoder().encode(row));
    const next = rows[i + 1];
    const below = next === undefined ? [] : fieldsIn(next, delimiter);
    if (isHeader(fieldsIn(row, delimiter), columns, below)) return { titleRows: i, delimiter };
  }
  return undefined;
}

const fieldsIn = (row: string, delimiter: Delimiter): readonly string[] =>
  csvFields(row, delimiter.charCodeAt(0)) ?? row.split(delimiter);

/**
 * Whether fields are names of columns that are read.
 * @param below the next row: below a name that is an everyday word it must have a position
 */
export function isHeader(
  fields: readonly string[],
  { lat, lng, position, code }: NamedColumns,
  below: readonly string[] | null = null,
): boolean {
  const chosen = [lat, lng, position, code].filter((name) => name !== undefined);
  if (chosen.length > 0) return chosen.every((name) => columnCalled(fields, name) >= 0);
  if (hasKnownNames(fields)) return true;
  return positionColumns(fields).some(
    (column) =>
      below === null ||
      isPosition(below[column] ?? '') ||
      holdsObjects({ names: fields, rows: [below] }, column),
  );
}

/** Whether names of a pair of coordinates or of codes are among them. */
function hasKnownNames(fields: readonly string[]): boolean {
  const { lat, lng } = pairColumns(fields);
  return (lat.length > 0 && lng.length > 0) || codeColumns(fields).length > 0;
}

/** Whether a text is a whole position with valid degrees. */
export function isPosition(text: string): boolean {
  const position = parsePosition(text);
  return position !== null && Math.abs(position.latDeg) <= 180 && Math.abs(position.lngDeg) <= 180;
}

/** The first sheet of a workbook with a row of known names; undefined if there is none. */
export function likelySheet(sheets: readonly Sheet[]): Sheet | undefined {
  return sheets.find((sheet) => sheet.firstRows(SEARCHED_ROWS).some(hasKnownNames));
}
