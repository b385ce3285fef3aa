// Finds the position of rows for encode: in two columns, in one column of positions in any spelling, or inside nested
// values. Options name the columns, otherwise their names do; values decide where names do not.

import type { SchemaElement } from 'hyparquet';
import { listed } from '../../hexcodes/wire/bulk/csv-header.js';
import { repeatedMember } from '../../hexcodes/wire/params/json-grammar.js';
import { hemisphereFault } from '../../hexcodes/wire/params/names.js';
import { DIFFERS } from '../../hexcodes/wire/params/query.js';
import {
  codeColumns,
  columnCalled,
  columnsNamed,
  pairColumns,
} from '../../hexcodes/wire/rows/column-names.js';
import { plainNumber } from '../../hexcodes/wire/rows/csv-fields.js';
import {
  holdsObjects,
  holdsPositions,
  isPosition,
  otherSystemIn,
  positionInText,
  shapesIn,
  textsOf,
  type WholePosition,
  wholePosition,
} from '../../tables/positions.js';
import { mattersInGeoJson, POINT_HINT } from '../../tables/shapes/shapes.js';
import { type Input, openInput } from '../disk/input.js';
import { badInput, badUsage } from '../exit-codes.js';
import type { JsonDocument, TableColumn, TableRows } from '../formats/table.js';
import { codeTextOf, degreesOf } from '../formats/values/column-text.js';
import type { Run } from '../request.js';
import { type ColumnChoice, isNothing, noColumn, onlyOne, type Sample } from './columns.js';

// The column of hexcodes that decode reads: named by an option or by its name; in a list, the only column.

/**
 * Index of the column of hexcodes; -1 in NDJSON without rows.
 * @param hasHeader whether the names are those of a header row
 * @throws CliFailure BAD_INPUT that lists the columns of the file, and proposes one whose values are codes
 */
export function codeColumn(
  sample: Sample,
  choice: ColumnChoice,
  file: string,
  isCode: (text: string) => boolean,
  hasHeader = true,
): number {
  const { names } = sample;
  const chosen = choice.code;
  if (isNothing(sample)) return -1;
  const found =
    chosen === undefined ? onlyOne(names, codeColumns(names), 'hexcodes', file) : columnCalled(names, chosen);
  if (found >= 0) return found;
  const fitting = names.flatMap((_, i) => {
    const texts = textsOf(sample, i);
    return texts.length > 0 && texts.every((text) => text.length >= 4 && isCode(text)) ? [i] : [];
  });
  const isList = names.length === 1;
  if (chosen === undefined && isList && (!hasHeader || fitting.length === 1)) return 0;
  if (chosen === undefined && !hasHeader && fitting.length === 1) return fitting[0]!;
  const perhaps = listed(
    fitting.map((i) => `--column ${JSON.stringify(names[i])}`),
    ' or ',
  );
  const hint = perhaps === '' ? 'Name it with --column.' : `Name it with --column, perhaps ${perhaps}.`;
  throw noColumn(names, chosen ?? 'hexcodes', file, hint);
}

/**
 * Fills an array with lat and lng of each row, NaN if there is none.
 * @returns the number of rows whose position is only the middle of a map's view
 */
export type PositionReader = (rows: TableRows, latLngDeg: Float64Array) => number;

export function positionReader(columns: readonly TableColumn[], where: PositionColumns): PositionReader {
  return ({ rowCount, values, unread }, latLngDeg) => {
    let views = 0;
    for (let row = 0; row < rowCount; row++) {
      if (where.kind === 'pair') {
        latLngDeg[2 * row] = degreesOf(columns[where.lat]!, values[where.lat]?.[row], 'lat');
        latLngDeg[2 * row + 1] = degreesOf(columns[where.lng]!, values[where.lng]?.[row], 'lng');
        continue;
      }
      const text = codeTextOf(columns[where.column]!, values[where.column]?.[row]);
      const [latDeg, lngDeg, isView] = positionInText(text, where);
      latLngDeg[2 * row] = latDeg;
      latLngDeg[2 * row + 1] = lngDeg;
      if (isView) views++;
    }
    for (const row of unread?.keys() ?? []) latLngDeg.fill(Number.NaN, 2 * row, 2 * row + 2);
    return views;
  };
}

export const positionIndexes = (where: PositionColumns): readonly number[] =>
  where.kind === 'pair' ? [where.lat, where.lng] : [where.column];

/**
 * Rejects rows of JSON that give a member of these columns more than once with different values: one of the two is
 * wrong.
 * @param indexes of columns; negative for absent columns
 */
export function withoutContradictions(
  rows: TableRows,
  columns: readonly TableColumn[],
  indexes: readonly number[],
): TableRows {
  const unread = contradictions(rows, columns, indexes);
  return unread.size === 0 ? rows : { ...rows, unread };
}

/** Why rows are not read: earlier reasons, and those of `withoutContradictions`. */
export function contradictions(
  rows: TableRows,
  columns: readonly TableColumn[],
  indexes: readonly number[],
): Map<number, string> {
  const names = indexes.flatMap((index) => columns[index]?.name ?? []);
  const unread = new Map(rows.unread);
  /** Points of one line share one text. */
  let [before, twice]: (string | undefined)[] = [];
  const look = (row: number, { featureText, text }: JsonDocument): void => {
    const given = featureText ?? text;
    if (given !== before) {
      const isFeature = featureText !== undefined;
      twice = repeatedMember(
        given,
        isFeature ? mattersInGeoJson(names) : ([name = '']) => names.includes(name),
      );
      before = given;
    }
    if (twice !== undefined) unread.set(row, `${twice} ${DIFFERS}`);
  };
  const { documents = [] } = rows;
  for (let row = 0; row < documents.length; row++)
    if (documents[row]!.givesOnce !== true) look(row, documents[row]!);
  return unread;
}

/** Columns by index. */
export type PositionColumns =
  | { readonly kind: 'pair'; readonly lat: number; readonly lng: number }
  | WholePosition;

const LAT = 'lat or latitude';
const LNG = 'lng or longitude or lon';

/** The column of each row's own resolution; -1 if there is none. @throws CliFailure BAD_INPUT for several */
export function resolutionColumn(names: readonly string[], file: string): number {
  return onlyOne(names, columnsNamed(names, ['resolution']), 'resolution', file);
}

/**
 * The columns of positions; -1 in NDJSON without rows.
 * @throws CliFailure BAD_INPUT that lists the columns of the file, and proposes those whose values fit
 */
export function findPosition(
  sample: Sample,
  choice: ColumnChoice,
  file: string,
  hasHeader = true,
): PositionColumns {
  const { names } = sample;
  if (isNothing(sample)) return { kind: 'pair', lat: -1, lng: -1 };
  const isChosen = choice.lat !== undefined || choice.lng !== undefined;
  if (choice.position !== undefined) {
    if (isChosen) throw badUsage('--position and --lat or --lng exclude one another');
    const column = columnCalled(names, choice.position);
    if (column < 0) throw noColumn(names, choice.position, file);
    refuseDeclared(sample, [names[column]!]);
    refuseOtherSystems(sample, column, file);
    return declaredAt(sample, column);
  }
  const nested = chosenNested(names, choice);
  if (nested !== null) {
    if (nested.kind !== 'pair') refuseDeclared(sample, [names[nested.column]!]);
    return nested;
  }
  // Properties next to a geometry may have the names of coordinates.
  if (!isChosen && sample.position !== undefined) return { kind: 'pair', ...sample.position };
  const named = pairColumns(names);
  const lat = columnOf(sample, choice.lat, named.lat, 'lat', file);
  const lng = columnOf(sample, choice.lng, named.lng, 'lng', file);
  if (lat >= 0 && lat === lng)
    throw badUsage('--lat and --lng name one column', 'A column of whole positions is named by --position.');
  if (lat >= 0 && lng >= 0) {
    refuseHemispheres(names, file);
    if (!isChosen) refuseOtherUnits(sample, lat, lng, file);
    return { kind: 'pair', lat, lng };
  }
  if (!isChosen) {
    const { primary } = sample.geometries ?? {};
    if (primary !== undefined) refuseDeclared(sample, [primary]);
    const known = names.indexOf(primary ?? '');
    if (known >= 0) {
      refuseShapes(sample, [known], file);
      refuseOtherSystems(sample, known, file);
      return declaredAt(sample, known);
    }
    const whole = wholePosition(sample, hasHeader);
    if (whole !== null) {
      refuseDeclared(sample, [names[whole.column]!]);
      return whole;
    }
    refuseShapes(sample, [...names.keys()], file);
    for (const column of names.keys()) refuseOtherSystems(sample, column, file);
  }
  const fitting = { lat: columnsWithin(sample, 5, 25), lng: columnsWithin(sample, 99, 120) };
  const isClear = fitting.lat.length === 1 && fitting.lng.length === 1;
  if (!hasHeader && !isChosen && isClear) return { kind: 'pair', lat: fitting.lat[0]!, lng: fitting.lng[0]! };
  const missing = lat < 0 ? (choice.lat ?? LAT) : (choice.lng ?? LNG);
  throw noColumn(names, missing, file, hintFor(sample, lat < 0, lng < 0, fitting));
}

/** The column of one coordinate; -1 if there is none. */
function columnOf(
  { names }: Sample,
  chosen: string | undefined,
  named: readonly number[],
  wanted: string,
  file: string,
): number {
  if (chosen === undefined) return onlyOne(names, named, wanted, file);
  const column = columnCalled(names, chosen);
  if (column < 0) throw noColumn(names, chosen, file);
  return column;
}

/** `--lat location.lat --lng location.lng`, where `location` is a column and `location.lat` is not. */
function chosenNested(names: readonly string[], { lat, lng }: ColumnChoice): PositionColumns | null {
  if (lat === undefined || lng === undefined) return null;
  if (columnCalled(names, lat) >= 0 || columnCalled(names, lng) >= 0) return null;
  const [latName, ...latPath] = lat.split('.');
  const [lngName, ...lngPath] = lng.split('.');
  const column = columnCalled(names, latName!);
  if (column < 0 || latName !== lngName || latPath.length === 0 || lngPath.length === 0) return null;
  return { kind: 'nested', column, lat: latPath, lng: lngPath };
}

/** A column of whole positions that an option or the file names. */
function declaredAt(sample: Sample, column: number): WholePosition {
  const arePairs =
    sample.geometries?.arePairs(sample.names[column]!) === true && !holdsObjects(sample, column);
  return arePairs ? { kind: 'nested', column, lat: ['1'], lng: ['0'] } : { kind: 'text', column };
}

/** @throws CliFailure BAD_INPUT for columns that the file declares to be geometries of another system */
function refuseDeclared({ geometries }: Sample, columns: readonly string[]): void {
  for (const column of columns) {
    const fault = geometries?.faultOf(column) ?? null;
    if (fault !== null) throw fault;
  }
}

/** @throws CliFailure BAD_INPUT for a column whose geometries (EWKB, EWKT) name another system themselves */
function refuseOtherSystems(sample: Sample, column: number, file: string): void {
  const other = otherSystemIn(sample, column);
  if (other === null) return;
  throw badInput(
    { file, column: sample.names[column]! },
    `the geometries are in another system than WGS 84: ${other.called}`,
    `PostGIS converts them: SELECT ST_Transform(${sample.names[column]}, 4326).`,
  );
}

/** @throws CliFailure BAD_INPUT for a column of lines or areas, unless an option says which point is meant */
function refuseShapes(sample: Sample, columns: readonly number[], file: string): void {
  for (const column of columns) {
    const types = shapesIn(sample, column);
    if (types.length === 0) continue;
    throw badInput(
      { file, column: sample.names[column]! },
      `it holds lines or areas: ${types.join(', ')}`,
      POINT_HINT,
    );
  }
}

/** Columns whose values are all numbers within bounds. */
function columnsWithin(sample: Sample, least: number, most: number): number[] {
  return sample.names.flatMap((_, column) => {
    const texts = textsOf(sample, column);
    const isIn = (text: string): boolean => {
      const value = Number(plainNumber(text));
      return value >= least && value <= most;
    };
    return texts.length > 0 && texts.every(isIn) ? [column] : [];
  });
}

/** Columns of whole numbers within bounds. */
const wholeNumbersWithin = (sample: Sample, least: number, most: number): number[] =>
  columnsWithin(sample, least, most).filter((column) =>
    textsOf(sample, column).every((text) => /^\d+$/.test(text.trim())),
  );

/** @throws CliFailure BAD_INPUT for degrees whose sign is in separate columns */
function refuseHemispheres(names: readonly string[], file: string): void {
  const side = hemisphereFault(names);
  if (side !== undefined)
    throw badInput({ file, row: 1 }, `${JSON.stringify(side.parameter)} ${side.message}`);
}

/** @throws CliFailure BAD_INPUT for columns called x and y that hold, for instance, metres of another datum */
function refuseOtherUnits(sample: Sample, lat: number, lng: number, file: string): void {
  const name = sample.names[lng]!.trim().toLowerCase();
  const values = textsOf(sample, lng).map((text) => Number(plainNumber(text)));
  if (name !== 'x' || values.length === 0 || !values.every((value) => Math.abs(value) > 180)) return;
  const both = `${sample.names[lng]} and ${sample.names[lat]}`;
  throw badInput(
    { file, row: 1 },
    `${both} hold no degrees (${values[0]})`,
    'Positions are read in degrees of WGS 84. Metres of VN-2000 or UTM must be converted, with ogr2ogr or QGIS for instance.',
  );
}

/** The apparent form of columns of positions that cannot be read, and the remedy, by their values. */
function otherUnits(texts: readonly string[]): string | undefined {
  if (texts.length === 0) return undefined;
  const isAll = (form: RegExp): boolean => texts.every((text) => text.length < 100 && form.test(text.trim()));
  if (isAll(/^\d{4}\.\d+ ?,? ?[NS][ ,;]+\d{5}\.\d+ ?,? ?[EW]$/i))
    return `${texts[0]} looks like NMEA (ddmm.mmmm): write 21 01.7280N 105 51.1500E, with a blank after the degrees.`;
  return undefined;
}

function hintFor(
  sample: Sample,
  lacksLat: boolean,
  lacksLng: boolean,
  fitting: { lat: readonly number[]; lng: readonly number[] },
): string {
  const { names } = sample;
  const odd = names.flatMap((_, column) => otherUnits(textsOf(sample, column)) ?? [])[0];
  if (odd !== undefined) return odd;
  const first = sample.rows[0] ?? [];
  if (names.length === 1 && first.length === 2 && isPosition(first.join(',')))
    return `A field with a comma is written in quotes: "${first.join(',')}".`;
  const [latE7] = wholeNumbersWithin(sample, 80_000_000, 240_000_000);
  const [lngE7] = wholeNumbersWithin(sample, 1_020_000_000, 1_180_000_000);
  if (latE7 !== undefined && lngE7 !== undefined)
    return `${names[latE7]} and ${names[lngE7]} hold degrees times 10,000,000: divide them, in NDJSON by jq -c '.lat = .[${JSON.stringify(names[latE7])}] / 1e7 | .lng = .[${JSON.stringify(names[lngE7])}] / 1e7'.`;
  const option = (name: string, column: number): string => `${name} ${JSON.stringify(names[column])}`;
  const options = [...(lacksLat ? ['--lat'] : []), ...(lacksLng ? ['--lng'] : [])].join(' and ');
  const lat = lacksLat && fitting.lat.length === 1 ? [option('--lat', fitting.lat[0]!)] : [];
  const lng = lacksLng && fitting.lng.length === 1 ? [option('--lng', fitting.lng[0]!)] : [];
  const whole = names.flatMap((_, i) => (holdsPositions(sample, i) ? [option('--position', i)] : []));
  const perhaps = lat.length + lng.length > 0 ? [...lat, ...lng].join(' ') : listed(whole, ' or ');
  const other = lacksLat && lacksLng ? ', or a column of whole positions with --position' : '';
  return `Name ${options.includes(' ') ? 'them' : 'it'} with ${options}${other}${perhaps === '' ? '' : `; perhaps ${perhaps}`}.`;
}

// Inputs of typed columns whose positions are two columns of doubles, for the three pipelines that read them:
// by-chunks-plan.ts, by-rows.ts and points/parquet-points.ts.

/**
 * Calls `look` with each input while it is open.
 * @returns the first objection of `look`, or that an input is not a plain file; else undefined
 */
export async function lookAtFiles(
  { request }: Run,
  look: (input: Input) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const path of request.inputs) {
    if (path === '-') return 'the input is a pipe';
    const input = await openInput(path, request.input);
    try {
      if (input.file === null) return `${input.name} is packed or a pipe`;
      const reason = await look(input);
      if (reason !== undefined) return reason;
    } finally {
      input.close();
    }
  }
  return undefined;
}

/** Whether a column of Parquet is one of doubles or floats. */
export function isDouble(elements: readonly (SchemaElement | null)[], index: number): boolean {
  const { type, repetition_type: repetition, logical_type: logical, converted_type } = elements[index] ?? {};
  const isPlain = logical === undefined && converted_type === undefined && repetition !== 'REPEATED';
  return isPlain && (type === 'DOUBLE' || type === 'FLOAT');
}

/**
 * The columns of latitude and longitude, two of doubles; or a sentence why there are none.
 * @param isDegrees whether a column is one of doubles or floats
 */
export function columnsOfDegrees(
  choice: ColumnChoice,
  names: readonly string[],
  isDegrees: (index: number) => boolean,
  file: string,
): { readonly lat: number; readonly lng: number } | string {
  const where = findPosition({ names, rows: [] }, choice, file);
  if (where.kind !== 'pair') return 'positions are in one column';
  // The values of a column of this name are checked elsewhere.
  if (choice.lng === undefined && names[where.lng]!.trim().toLowerCase() === 'x') return 'x may hold metres';
  for (const index of [where.lat, where.lng])
    if (!isDegrees(index)) return `${names[index]} is not a column of doubles`;
  return where;
}
