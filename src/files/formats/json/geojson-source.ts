// Reads GeoJSON points (RFC 7946): collections of any length, features and geometries, one or many in a file. The text
// around the features of the first collection is kept.

import { otherSystem } from '../../../hexcodes/wire/rows/coordinate-system.js';
import { isJsonNumber, jsonText, parseExact } from '../../../tables/exact-json.js';
import { jsonTable } from '../../../tables/foreign-files.js';
import { isGeometry, shapeOfGeoJson } from '../../../tables/shapes/geojson-shape.js';
import { lonePoint, type PointChoice, pointsOf, typeName } from '../../../tables/shapes/shapes.js';
import { notRead } from '../../content/kinds.js';
import type { Input } from '../../disk/input.js';
import type { Output } from '../../disk/output.js';
import { isRest } from '../../disk/rests.js';
import { badInput } from '../../exit-codes.js';
import { requireBelowCeiling } from '../../held/ceiling.js';
import { shellWord } from '../../terminal/say.js';
import type {
  CollectionFrame,
  JsonDocument,
  RowFit,
  SinkColumns,
  TableColumn,
  TableRows,
  TableSink,
  TableSource,
} from '../table.js';
import { degreesOf, jsonWriterOf } from '../values/column-text.js';
import { GeoJsonSplitter } from './geojson-splitter.js';
import {
  DocumentBatch,
  FieldSurvey,
  parseObject,
  rowBatches,
  surveyedValue,
  valuesOf,
} from './json-columns.js';

// Writes GeoJSON as one FeatureCollection. Features from GeoJSON keep their geometry, id and other members, and the
// text around the features of a collection is passed on unchanged.

/** Letters of a document by which its kind is found. */
const MAX_SEEN = 4096;
/** The text of members, and their values where it is written. */
const COPIES = 8;

/** Indexes of a position among the columns of a sink; -1 where it is in none. */
export interface PointColumns {
  readonly lat: number;
  readonly lng: number;
  /** The column of binary geometries that the position is read from. */
  readonly shape?: number;
}

export function geoJsonSink(
  output: Output,
  columns: SinkColumns,
  position: PointColumns,
  frame: CollectionFrame | undefined,
): TableSink {
  const all = [...columns.kept, ...columns.added];
  const keptNames = new Set(columns.kept.map(({ name }) => name));
  let isFirst = true;
  const opening = (): string => {
    if (!isFirst) return '';
    isFirst = false;
    return `${frame?.head ?? EMPTY_HEAD}\n`;
  };
  const names = all.map(({ name }) => `${JSON.stringify(name)}:`);
  const writers = all.map(jsonWriterOf);
  const ofProperties = all.map((_, c) => c).filter((c) => c !== position.lat && c !== position.lng);
  /** A position that cannot be a geometry stays as it was. */
  const givenMembers = (given: readonly [lat: string, lng: string]): string[] =>
    given.flatMap((text, i) => {
      if (text === '') return [];
      return [
        `${names[i === 0 ? position.lat : position.lng]}${isJsonNumber(text) ? text : JSON.stringify(text)}`,
      ];
    });
  const textFrom = ({ values, givenOf }: TableRows, row: number): string => {
    const lat = degreesOf(all[position.lat]!, values[position.lat]?.[row], 'lat');
    const lng = degreesOf(all[position.lng]!, values[position.lng]?.[row], 'lng');
    const isPoint = Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
    const geometry = isPoint ? `{"type":"Point","coordinates":[${lng},${lat}]}` : 'null';
    const properties = isPoint || givenOf === undefined ? [] : givenMembers(givenOf(row));
    // Its binary form would say the point once more.
    for (const c of ofProperties)
      if (!isPoint || c !== position.shape) properties.push(`${names[c]}${writers[c]!(values[c]?.[row])}`);
    return `{"type":"Feature","geometry":${geometry},"properties":{${properties.join(',')}}}`;
  };
  /** A feature as it was, with our properties. */
  const extended = ({ value, hasBigints }: JsonDocument, { values }: TableRows, row: number): string => {
    const theirs = Object.entries(propertiesOf(value)).filter(
      ([name]) => columns.isWhole || keptNames.has(name),
    );
    const ours = columns.added.map(({ name }, c) => [name, values[columns.kept.length + c]?.[row] ?? null]);
    const feature = { ...value, properties: Object.fromEntries([...theirs, ...ours]) };
    return hasBigints ? jsonText(feature) : JSON.stringify(feature);
  };
  return {
    async write(rows: TableRows) {
      const parts: string[] = [];
      for (let row = 0; row < rows.rowCount; row++) {
        const before = isFirst ? opening() : ',\n';
        const document = rows.documents?.[row];
        const isFeature = document?.value.type === 'Feature';
        parts.push(before, isFeature ? extended(document, rows, row) : textFrom(rows, row));
      }
      await output.write(Buffer.from(parts.join('')));
    },
    async close() {
      await output.write(Buffer.from(`${opening()}\n${frame === undefined ? ']}' : tailOf(frame)}\n`));
    },
  };
}

const EMPTY_HEAD = '{"type":"FeatureCollection","features":[';
const EMPTY_TAIL = ']}';

/** The end of a file: members of further collections, where they say something else, follow those of the first. */
function tailOf({ tail, members }: CollectionFrame): string {
  const whole = tail.trimEnd();
  const [first = {}, ...further] = Array.from(members, (text) => parseExact(text) as Record<string, unknown>);
  const others = new Set<string>();
  for (const each of further) {
    const own = Object.entries(each).filter(
      ([name, value]) => !Object.hasOwn(first, name) || jsonText(first[name]) !== jsonText(value),
    );
    if (own.length > 0) others.add(jsonText(Object.fromEntries(own)));
  }
  if (others.size === 0) return whole;
  let name = 'collections';
  while (Object.hasOwn(first, name)) name += '_';
  return `${whole.slice(0, -1)},"${name}":[${[...others].join(',')}]}`;
}

/** A side of a collection without `bbox`, which need not be that of the features that are written. */
function withoutBox(side: 'head' | 'tail', text: string): string {
  const whole = side === 'head' ? `${text}]}` : `{"features":[${text}`;
  const texts = Object.entries(parseExact(whole) as Record<string, unknown>)
    .filter(([name]) => name !== 'bbox' && name !== 'features')
    .map(([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`);
  return side === 'head' ? `{${[...texts, '"features":['].join(',')}` : `${[']', ...texts].join(',')}}`;
}

/** The JSON text of members that another collection may say otherwise: its system is judged, its box not passed on. */
function ownMembers(members: Record<string, unknown>, text: () => string): string {
  if (Object.keys(members).every((name) => COMMON_MEMBERS.has(name))) return '{}';
  const own = Object.entries(parseExact(text()) as Record<string, unknown>);
  return jsonText(Object.fromEntries(own.filter(([name]) => !COMMON_MEMBERS.has(name))));
}
const COMMON_MEMBERS: ReadonlySet<string> = new Set(['type', 'features', 'crs', 'bbox']);

const POSITION_COLUMNS: readonly TableColumn[] = [
  { name: 'lat', kind: 'double' },
  { name: 'lng', kind: 'double' },
];

/** Facts about all features, from a survey. */
export interface KnownFeatures {
  readonly columns: readonly TableColumn[];
  readonly idName: IdName;
}

/** The column of feature ids: another than `id` where features have a property of this name and another value. */
type IdName = 'id' | 'feature_id';

/** @param fit whether kinds are those of a target with types */
function knownOf(documents: readonly JsonDocument[], fit: RowFit): KnownFeatures {
  const survey = new FeatureSurvey();
  survey.add(documents, fit === 'types');
  const known = survey.known(fit === 'types');
  // Documents that are passed on hold both ids.
  return fit === 'any' ? { ...known, idName: 'id' } : known;
}

export class FeatureSurvey {
  readonly #withId = new FieldSurvey();
  readonly #properties = new FieldSurvey();
  readonly #ids = new FieldSurvey();
  #isTwofold = false;

  add(documents: readonly JsonDocument[], isTyped: boolean): void {
    for (const document of documents) {
      const feature = isTyped ? surveyedValue(document) : document.value;
      const properties = tableProperties(feature);
      if (feature.id !== undefined) this.#ids.add({ feature_id: feature.id });
      if (hasOtherId(feature)) this.#isTwofold = true;
      this.#properties.add(properties);
      this.#withId.add(feature.id === undefined ? properties : { id: feature.id, ...properties });
    }
  }

  known(isTyped: boolean): KnownFeatures {
    if (!this.#isTwofold)
      return { idName: 'id', columns: [...POSITION_COLUMNS, ...this.#withId.columns(isTyped)] };
    const columns = [...this.#ids.columns(isTyped), ...this.#properties.columns(isTyped)];
    return { idName: 'feature_id', columns: [...POSITION_COLUMNS, ...columns] };
  }
}

function hasOtherId(feature: Record<string, unknown>): boolean {
  const properties = propertiesOf(feature);
  if (feature.id === undefined || !Object.hasOwn(properties, 'id')) return false;
  return jsonText(feature.id) !== jsonText(properties.id);
}

/**
 * A feature as the fields of a row, but for its position.
 * @throws CliFailure BAD_INPUT if it is none, or if the table has one column for two ids
 */
function rowOf(
  document: JsonDocument,
  { idName, fit }: { idName: IdName; fit: RowFit },
  file: string,
  row: number,
): Record<string, unknown> {
  const { value } = document;
  if (value.type !== 'Feature') {
    const found = row === 1 ? jsonTable(document.text.slice(0, MAX_SEEN)) : undefined;
    if (found !== undefined) throw notRead(found, file);
    if (value.type === 'FeatureCollection')
      throw badInput({ file, row }, 'a FeatureCollection without a list of features, or within another');
    throw badInput({ file, row }, `not a GeoJSON feature: ${document.text.slice(0, 40)}`);
  }
  const properties = tableProperties(value);
  if (value.id === undefined) return properties;
  if (idName === 'feature_id') return { feature_id: value.id, ...properties };
  if (fit !== 'any' && hasOtherId(value)) {
    throw badInput(
      { file, row, column: 'id' },
      `the feature's id ${jsonText(value.id)} is not its property id ${jsonText(propertiesOf(value).id)}`,
      'Write GeoJSON or NDJSON, which hold both.',
    );
  }
  return { id: value.id, ...properties };
}

/** Properties that become columns: a position is that of the geometry. */
function tableProperties(feature: Record<string, unknown>): Record<string, unknown> {
  const { lat: _lat, lng: _lng, ...properties } = propertiesOf(feature);
  return properties;
}

export function propertiesOf(feature: Record<string, unknown>): Record<string, unknown> {
  const properties = feature.properties;
  return typeof properties === 'object' && properties !== null ? (properties as Record<string, unknown>) : {};
}

/** @param crs the member of this name. @throws CliFailure BAD_INPUT if it names another system than WGS 84 */
export function refuseOtherSystem(crs: unknown, file: string, row?: number): void {
  const other = otherSystem(crs);
  if (other === null) return;
  throw badInput(
    { file, row },
    `its coordinates are in another system than WGS 84: ${JSON.stringify(other.called)}`,
    `ogr2ogr converts them: ogr2ogr -s_srs ${other.code ?? 'EPSG:…'} -t_srs EPSG:4326 -lco RFC7946=YES points.geojson ${shellWord(file)}`,
  );
}

/**
 * Columns: `lat` and `lng` of the geometry, `id` (or `feature_id`) if a feature has one, the properties but for those
 * named `lat` and `lng`.
 * @param known the columns, where all features have been surveyed; else they are those of the first batch
 */
export async function openGeoJson(
  input: Input,
  fit: RowFit,
  known: KnownFeatures | null,
): Promise<TableSource> {
  const frame: CollectionFrame = { head: EMPTY_HEAD, tail: EMPTY_TAIL, members: new Set() };
  const batches = pointBatches(featureBatches(input, frame), input.point ?? null);
  const first = (await batches.next()).value ?? [];
  const { columns, idName } = known ?? knownOf(first, fit);
  return {
    columns,
    position: { lat: 0, lng: 1 },
    frame,
    async *batches() {
      for await (const [documents, row] of rowBatches(first, batches, columns.length)) {
        const rows = documents.map((document, i) => rowOf(document, { idName, fit }, input.name, row + i));
        const positions = documents.map(({ value }) => pointOf(value));
        const others = documents.map(({ value }, i) => (positions[i] === null ? otherShape(value) : null));
        yield {
          rowCount: documents.length,
          values: [
            positions.map((position) => position?.[1] ?? null),
            positions.map((position) => position?.[0] ?? null),
            ...valuesOf(columns.slice(2), rows, input.name, row, fit),
          ],
          documents,
          ...(others.some((each) => each !== null) ? { others } : {}),
        };
      }
    },
  };
}

/** The coordinates of a feature of one point, longitude first; null for any other geometry. */
function pointOf({ geometry }: Record<string, unknown>): readonly unknown[] | null {
  const { type, coordinates } = (geometry ?? {}) as { type?: unknown; coordinates?: unknown };
  if (type === 'Point') return Array.isArray(coordinates) ? coordinates : null;
  const shape = shapeOfGeoJson(geometry);
  return shape === null ? null : lonePoint(shape);
}

/** The type of a geometry that is no point; null for features without one. */
function otherShape({ geometry }: Record<string, unknown>): string | null {
  const shape = shapeOfGeoJson(geometry);
  return shape === null || pointsOf(shape, 'first').length === 0 ? null : typeName(shape);
}

/** Features of lines and areas with the point that is meant: for `each`, one feature for each of their points. */
async function* pointBatches(
  batches: AsyncIterable<JsonDocument[]>,
  choice: PointChoice | null,
): AsyncGenerator<JsonDocument[], undefined> {
  for await (const documents of batches) {
    if (choice === null) {
      yield documents;
      continue;
    }
    const batch = new DocumentBatch();
    for (const document of documents)
      for (const each of atPoints(document, choice)) if (batch.add(each)) yield batch.take();
    const last = batch.take();
    if (last.length > 0) yield last;
  }
}

function* atPoints(document: JsonDocument, choice: PointChoice): Generator<JsonDocument> {
  const shape = shapeOfGeoJson(document.value.geometry);
  const points = shape === null || shape.type === 1 ? [] : pointsOf(shape, choice);
  if (points.length === 0) yield document;
  for (const point of points) {
    // A box would be that of the line or area.
    const { bbox: _, ...others } = document.value;
    const value = { ...others, geometry: { type: 'Point', coordinates: point } };
    yield { ...document, value, text: jsonText(value) };
  }
}

/** Batches of features, whatever holds them. @param frame gets the text around the features of a first collection */
export async function* featureBatches(
  input: Input,
  frame: CollectionFrame,
): AsyncGenerator<JsonDocument[], undefined> {
  const file = input.name;
  let memberBytes = 0;
  const splitter = new GeoJsonSplitter(file, {
    head(text, isFirst) {
      // Before a row is written; what is not whole yet is judged with the tail.
      const members = membersOf(`${text}]}`);
      refuseOtherSystem(members?.crs, file);
      if (isFirst) frame.head = members?.bbox === undefined ? text : withoutBox('head', text);
    },
    tail(head, text, members, isFirst) {
      refuseOtherSystem(members.crs, file);
      if (isFirst) frame.tail = members.bbox === undefined ? text : withoutBox('tail', text);
      // Features in front of the first collection have no members around them.
      else if (frame.members.size === 0) frame.members.add('{}');
      const own = ownMembers(members, () => head + text);
      if (frame.members.has(own)) return;
      memberBytes += COPIES * own.length;
      requireBelowCeiling({ file }, memberBytes, 'the text around its collections', 'Split it.');
      frame.members.add(own);
    },
  });
  const batch = new DocumentBatch();
  let row = 0;
  for await (const chunk of input.chunks()) {
    for (const text of splitter.push(chunk)) {
      row++;
      if (batch.add(asFeature(parseObject(text, file, row), file, row))) yield batch.take();
    }
    if (isRest(chunk) && batch.size > 0) yield batch.take();
  }
  splitter.end();
  const last = batch.take();
  if (last.length > 0) yield last;
}

function membersOf(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** An object that stands for a row: a geometry by itself is a feature without properties. */
function asFeature(document: JsonDocument, file: string, row: number): JsonDocument {
  const { value, text } = document;
  refuseOtherSystem(value.crs, file, row);
  const geometry = isGeometry(value) ? value : value.geometry;
  if (typeof geometry === 'object' && geometry !== null)
    refuseOtherSystem((geometry as Record<string, unknown>).crs, file, row);
  if (geometry !== value) return document;
  return {
    ...document,
    text: `{"type":"Feature","properties":{},"geometry":${text}}`,
    value: { type: 'Feature', properties: {}, geometry: value },
  };
}
