// Reads GeoJSON points (RFC 7946): collections of any length, features and geometries, one or many in a file. The text
// around the features of the first collection is kept.

import { jsonText, parseExact, repeatedMember } from '../../../hexcodes/wire/params/json-grammar.js';
import { DIFFERS } from '../../../hexcodes/wire/params/query.js';
import { type OtherSystem, otherSystem } from '../../../hexcodes/wire/rows/coordinate-system.js';
import {
  isGeometry,
  otherSystemOf,
  otherSystemOfJsonFg,
  type PointChoice,
  pointsOf,
  shapeOfGeoJson,
} from '../../../tables/shapes/shapes.js';
import { type Input, isFlush } from '../../disk/input.js';
import { badInput } from '../../exit-codes.js';
import { requireBelowCeiling } from '../../held/ceiling.js';
import type { Run } from '../../request.js';
import { shellWord } from '../../terminal/say.js';
import {
  type CollectionFrame,
  type FeatureFrame,
  type JsonDocument,
  POSITION_COLUMNS,
  type RowFit,
  type TableColumn,
  type TableSource,
} from '../table.js';
import {
  DocumentBatch,
  FieldInference,
  inferredValue,
  MET_IN,
  parseObject,
  rowBatches,
} from '../values/json-columns.js';
import { FeatureFields, featureRows, hasOtherId, type IdName, tableProperties } from './feature-rows.js';
import { type FeatureShape, hasMember, ShapedFeature } from './feature-shapes.js';
import { GeoJsonSplitter } from './geojson-splitter.js';

/** The text of members, and their values where it is written. */
const COPIES = 8;

export const frameOf = (frame: CollectionFrame): FeatureFrame => ({
  lead: `${frame.head}\n`,
  end: () => `\n${tailOf(frame)}\n`,
});

const EMPTY_HEAD = '{"type":"FeatureCollection","features":[';
const EMPTY_TAIL = ']}';

/** The end of a file: members of further collections, if they differ, follow those of the first. */
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

/** A side of a collection without `bbox`, which may not fit the written features. */
function withoutBox(side: 'head' | 'tail', text: string): string {
  const whole = side === 'head' ? `${text}]}` : `{"features":[${text}`;
  const texts = Object.entries(parseExact(whole) as Record<string, unknown>)
    .filter(([name]) => name !== 'bbox' && name !== 'features')
    .map(([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`);
  return side === 'head' ? `{${[...texts, '"features":['].join(',')}` : `${[']', ...texts].join(',')}}`;
}

/**
 * The JSON text of members in which another collection may differ: its system is checked, its box is not passed on.
 */
function ownMembers(members: Record<string, unknown>, text: () => string): string {
  if (Object.keys(members).every((name) => COMMON_MEMBERS.has(name))) return '{}';
  const own = Object.entries(parseExact(text()) as Record<string, unknown>);
  return jsonText(Object.fromEntries(own.filter(([name]) => !COMMON_MEMBERS.has(name))));
}
const OF_COLLECTION = ['type', 'crs', 'coordRefSys'];
const COMMON_MEMBERS: ReadonlySet<string> = new Set(['type', 'features', 'crs', 'bbox']);

/** Facts about all features, inferred from them. */
export interface KnownFeatures {
  readonly columns: readonly TableColumn[];
  readonly idName: IdName;
}

/** @param fit whether kinds are those of a target with types */
function knownOf(documents: readonly JsonDocument[], fit: RowFit): KnownFeatures {
  const inference = new FeatureInference();
  inference.add(documents, fit === 'types');
  const known = inference.known(fit === 'types');
  // Documents that are passed on hold both ids.
  return fit === 'any' ? { ...known, idName: 'id' } : known;
}

class FeatureInference {
  readonly #withId = new FieldInference();
  readonly #properties = new FieldInference();
  readonly #ids = new FieldInference();
  /** Kinds of the values of features with shapes. */
  readonly #met = new Map<FeatureShape, Uint8Array>();
  #isTwofold = false;

  add(documents: readonly JsonDocument[], isTyped: boolean): void {
    for (const document of documents) {
      if (document instanceof ShapedFeature) {
        this.#addShaped(document);
        continue;
      }
      const feature = isTyped ? inferredValue(document) : document.value;
      const properties = tableProperties(feature);
      if (feature.id !== undefined) this.#ids.add({ feature_id: feature.id });
      if (hasOtherId(feature)) this.#isTwofold = true;
      this.#properties.add(properties);
      this.#withId.add(feature.id === undefined ? properties : { id: feature.id, ...properties });
    }
  }

  #addShaped(feature: ShapedFeature): void {
    const { names, id } = feature.shape;
    let met = this.#met.get(feature.shape);
    if (met === undefined) {
      met = new Uint8Array(names.length);
      this.#met.set(feature.shape, met);
      // Fields are in order of first appearance.
      this.#meet(feature.shape, met);
    }
    for (let n = 0; n < names.length; n++) {
      const kind = names[n] === null && n !== id ? null : feature.kindAt(n);
      if (kind !== null) met[n]! |= MET_IN[kind];
    }
  }

  #meet({ names, id }: FeatureShape, met: Uint8Array): void {
    if (id >= 0) {
      this.#ids.meet('feature_id', met[id]!);
      this.#withId.meet('id', met[id]!);
    }
    for (const [n, name] of names.entries()) {
      if (name === null || name === 'lat' || name === 'lng') continue;
      this.#properties.meet(name, met[n]!);
      this.#withId.meet(name, met[n]!);
    }
  }

  known(isTyped: boolean): KnownFeatures {
    for (const [shape, met] of this.#met) this.#meet(shape, met);
    if (!this.#isTwofold)
      return { idName: 'id', columns: [...POSITION_COLUMNS, ...this.#withId.columns(isTyped)] };
    const columns = [...this.#ids.columns(isTyped), ...this.#properties.columns(isTyped)];
    return { idName: 'feature_id', columns: [...POSITION_COLUMNS, ...columns] };
  }
}

/** The columns of the features of all inputs together. @throws CliFailure BAD_INPUT for what is not GeoJSON */
export async function inferFeatures(run: Run): Promise<KnownFeatures> {
  const { inferInputs } = await import('../ndjson/infer-ndjson.js');
  const inference = new FeatureInference();
  await inferInputs(run, async (input, tick) => {
    for await (const documents of featureBatches(input, { head: '', tail: '', members: new Set() })) {
      inference.add(documents, true);
      tick();
    }
  });
  return inference.known(true);
}

/** @throws CliFailure BAD_INPUT for another system of coordinates than WGS 84 */
export function refuseOther(other: OtherSystem | null, file: string, row?: number): void {
  if (other === null) return;
  throw badInput(
    { file, row },
    `its coordinates are in another system than WGS 84: ${JSON.stringify(other.called)}`,
    `ogr2ogr converts them: ogr2ogr -s_srs ${other.code ?? 'EPSG:…'} -t_srs EPSG:4326 -lco RFC7946=YES points.geojson ${shellWord(file)}`,
  );
}

/**
 * Columns: `lat` and `lng` of the geometry, `id` (or `feature_id`) if a feature has one, the properties except `lat`
 * and `lng`.
 * @param known the columns, if they were inferred from all features; otherwise the first batch determines them
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
  const fields = new FeatureFields(columns, idName, fit, input.name);
  return {
    columns,
    position: { lat: 0, lng: 1 },
    frame,
    async *batches() {
      for await (const [documents, row] of rowBatches(first, batches, columns.length))
        yield featureRows(fields, documents, row);
    },
  };
}

/** Replaces features of lines and areas by the chosen point; for `each`, by a feature for each of their points. */
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

/**
 * Batches of features, of any document.
 * @param frame gets the text around the features of a first collection
 */
async function* featureBatches(
  input: Input,
  frame: CollectionFrame,
): AsyncGenerator<JsonDocument[], undefined> {
  const file = input.name;
  let memberBytes = 0;
  /** Another coordinate system of second geometries of JSON-FG in a collection, and its first feature without one. */
  let ofSecond: OtherSystem | null = null;
  let firstWithout: number | undefined;
  const splitter = new GeoJsonSplitter(file, {
    head(text, isFirst) {
      // Checked before a row is written; members that are incomplete are checked with the tail.
      const members = membersOf(`${text}]}`);
      refuseOther(otherSystem(members?.crs), file);
      ofSecond = otherSystemOfJsonFg(members?.coordRefSys);
      firstWithout = undefined;
      if (isFirst) frame.head = members?.bbox === undefined ? text : withoutBox('head', text);
    },
    tail(head, text, members, isFirst) {
      const twice = repeatedMember(head + text, ([name = '']) => OF_COLLECTION.includes(name));
      if (twice !== undefined) throw badInput({ file, column: twice }, `${twice} ${DIFFERS}`);
      refuseOther(otherSystem(members.crs), file);
      if (firstWithout !== undefined)
        refuseOther(otherSystemOfJsonFg(members.coordRefSys), file, firstWithout);
      ofSecond = null;
      if (isFirst) frame.tail = members.bbox === undefined ? text : withoutBox('tail', text);
      // Features before the first collection have no members around them.
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
    for (const each of splitter.push(chunk)) {
      const documents =
        typeof each === 'string' ? [asFeature(parseObject(each, file, row + 1), file, row + 1)] : each;
      const isLooked = ofSecond !== null || firstWithout === undefined;
      const without = isLooked ? documents.findIndex((document) => !hasMember(document, 'place')) : -1;
      if (without >= 0) firstWithout ??= row + 1 + without;
      // Points made of lines and areas have no bytes of their own.
      if (typeof each === 'string' && input.point === undefined) splitter.shapes.learn(documents[0]!);
      const whole = without >= 0 && ofSecond !== null ? without : documents.length;
      for (let taken = 0; taken < whole; ) {
        taken = batch.addFrom(documents, taken, whole);
        if (batch.isFull) yield batch.take();
      }
      if (without >= 0) refuseOther(ofSecond, file, row + 1 + without);
      row += documents.length;
    }
    if (isFlush(chunk) && batch.size > 0) yield batch.take();
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
  refuseOther(otherSystemOf(value), file, row);
  if (!isGeometry(value)) return { ...document, featureText: text };
  return {
    ...document,
    featureText: text,
    text: `{"type":"Feature","properties":{},"geometry":${text}}`,
    value: { type: 'Feature', properties: {}, geometry: value },
  };
}
