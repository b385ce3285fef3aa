// Features as rows: values in a known shape stay in the bytes of the file for writers of bytes, all others are
// parsed.

import type { MemberChoice } from '../../../hexcodes/wire/bulk/convert-lines.js';
import { jsonText } from '../../../hexcodes/wire/params/json-grammar.js';
import { jsonTable } from '../../../tables/foreign-files.js';
import { lonePoint, pointsOf, shapeOfGeoJson, typeName } from '../../../tables/shapes/shapes.js';
import { notRead } from '../../content/kinds.js';
import { badInput } from '../../exit-codes.js';
import {
  addValue,
  GrowingBytes,
  numberIn,
  type ValueAdder,
  type ValueRanges,
  wasUsual,
} from '../../rows/text-rows.js';
import { openObject } from '../ndjson/ndjson.js';
import { addNested } from '../ndjson/nested-json.js';
import type {
  JsonDocument,
  RowBytes,
  RowFit,
  SinkColumns,
  TableColumn,
  TableRows,
  WantedBytes,
} from '../table.js';
import { degreesOf } from '../values/column-text.js';
import { valueIn, valuesOf } from '../values/json-columns.js';
import { type FeatureShape, isOpen, ShapedFeature, type Sides } from './feature-shapes.js';

/** Letters of a document by which its kind is found. */
const MAX_SEEN = 4096;
/** Bytes of features that are copied at once where they are in one chunk. */
const COPIED_BYTES = 1 << 16;
const [QUOTE, LETTER_A, LETTER_N] = [34, 97, 110] as const;

/** The column of feature ids: `feature_id` where features have a property `id` with another value. */
export type IdName = 'id' | 'feature_id';

export function hasOtherId(feature: Record<string, unknown>): boolean {
  const properties = propertiesOf(feature);
  if (feature.id === undefined || !Object.hasOwn(properties, 'id')) return false;
  return jsonText(feature.id) !== jsonText(properties.id);
}

/**
 * A feature as the fields of a row, without its position.
 * @throws CliFailure BAD_INPUT if it is not one, or if the table has one column for two ids
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
    const hint = row === 1 ? 'Objects on lines of their own are read with --from ndjson.' : undefined;
    throw badInput({ file, row }, `not a GeoJSON feature: ${document.text.slice(0, 40)}`, hint);
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
export function tableProperties(feature: Record<string, unknown>): Record<string, unknown> {
  const { lat: _lat, lng: _lng, ...properties } = propertiesOf(feature);
  return properties;
}

function propertiesOf(feature: Record<string, unknown>): Record<string, unknown> {
  const properties = feature.properties;
  return typeof properties === 'object' && properties !== null ? (properties as Record<string, unknown>) : {};
}

/** A batch of features, whose values are made on request. @param row number of the first one */
export function featureRows(
  fields: FeatureFields,
  documents: readonly JsonDocument[],
  row: number,
): TableRows {
  let values: unknown[][] | undefined;
  return {
    rowCount: documents.length,
    documents,
    get values() {
      values ??= fields.valuesOf(documents, row);
      return values;
    },
    get others() {
      return othersOf(documents);
    },
    firstValues: (rows) => fields.valuesOf(documents, row, rows),
    asBytes: (wanted) => fields.bytesOf(documents, row, wanted),
  };
}

/** The types of geometries that are not points. */
function othersOf(documents: readonly JsonDocument[]): Map<number, string> {
  const others = new Map<number, string>();
  for (let row = 0; row < documents.length; row++) {
    const document = documents[row]!;
    const type = document instanceof ShapedFeature ? null : otherShape(document);
    if (type !== null) others.set(row, type);
  }
  return others;
}

/** Reads the columns of features: their positions, then their ids and properties. */
export class FeatureFields {
  /**
   * Index of the value for each column, -1 if the shape has none; null where the shape has a property without a
   * column.
   */
  readonly #indexes = new Map<FeatureShape, Int32Array | null>();
  readonly #copies = new ChunkCopies();
  /** The columns of ids and properties. */
  readonly #fields: readonly TableColumn[];

  constructor(
    private readonly columns: readonly TableColumn[],
    private readonly idName: IdName,
    private readonly fit: RowFit,
    private readonly file: string,
  ) {
    this.#fields = columns.slice(2);
  }

  /**
   * @param row number of the first one
   * @param wanted rows whose values are wanted
   * @throws CliFailure BAD_INPUT for a feature that does not fit
   */
  valuesOf(documents: readonly JsonDocument[], row: number, wanted = documents.length): unknown[][] {
    const values = this.columns.map(() => new Array<unknown>(documents.length).fill(null));
    this.#make(documents, row, values, (feature, i) => this.#take(feature, i < wanted ? values : null, i));
    return values;
  }

  /** As `valuesOf`, but values of fitting shapes are left in place. */
  bytesOf(
    documents: readonly JsonDocument[],
    row: number,
    { adders, isTyped, sides }: WantedBytes,
  ): RowBytes {
    const values: unknown[][] = this.columns.map(() => []);
    const fitting = new Array<ShapedFeature | null>(documents.length).fill(null);
    this.#make(documents, row, values, (feature, i) => {
      const fits = this.#take(feature, null, i);
      if (fits) fitting[i] = feature;
      return fits;
    });
    const kept = this.columns.flatMap((column, c) => {
      const add = adders[c] ?? null;
      return add === null ? [] : [{ c, column, add, way: wayOf(column, isTyped) }];
    });
    return {
      values,
      add: (row, text, ranges, to) => {
        const feature = fitting[row]!;
        if (feature === null) return false;
        this.#copies.hold(feature, text);
        this.#addFields(feature, kept, ranges, to);
        if (sides !== null) this.#copies.addSides(feature, sides, ranges, to);
        return true;
      },
      readPositions: (latLngDeg) => {
        for (let i = 0; i < fitting.length; i++) {
          const feature = fitting[i]!;
          if (feature !== null) feature.readPosition(latLngDeg, 2 * i);
          else {
            latLngDeg[2 * i] = degreesOf(this.columns[0]!, values[0]![i], 'lat');
            latLngDeg[2 * i + 1] = degreesOf(this.columns[1]!, values[1]![i], 'lng');
          }
        }
      },
    };
  }

  #addFields(
    feature: ShapedFeature,
    kept: readonly KeptColumn[],
    ranges: readonly ValueRanges[],
    to: number,
  ): void {
    const indexes = this.#indexesOf(feature.shape)!;
    const copies = this.#copies;
    for (let i = 0; i < kept.length; i++) {
      const { c, column, add, way } = kept[i]!;
      const n = indexes[c]!;
      if (copies.range(feature, n, way, ranges[c]!, to)) continue;
      addValue(copies.text, ranges[c]!, to, valueIn(column, feature.at(n), this.fit), add);
    }
  }

  /** Parses the values of all documents that are not used in place. */
  #make(
    documents: readonly JsonDocument[],
    row: number,
    values: unknown[][],
    take: (feature: ShapedFeature, i: number) => boolean,
  ): void {
    const made: number[] = [];
    for (let i = 0; i < documents.length; i++) {
      const document = documents[i]!;
      if (!(document instanceof ShapedFeature && take(document, i))) made.push(i);
    }
    if (made.length === 0) return;
    let parsed: unknown[][];
    try {
      parsed = this.#parsedValues(
        made.map((i) => documents[i]!),
        row,
      );
    } catch (error) {
      // The reported fault is the first of the batch, with its own row.
      this.#parsedValues(documents, row);
      throw error;
    }
    for (const [c, column] of values.entries())
      for (const [k, i] of made.entries()) column[i] = parsed[c]![k];
  }

  #parsedValues(documents: readonly JsonDocument[], row: number): unknown[][] {
    const positions = documents.map(pointOf);
    const shape = { idName: this.idName, fit: this.fit };
    const rows = documents.map((document, i) => rowOf(document, shape, this.file, row + i));
    const fields = valuesOf(this.#fields, rows, this.file, row, this.fit);
    return [
      positions.map((position) => this.#coordinate(position?.[1], 'lat')),
      positions.map((position) => this.#coordinate(position?.[0], 'lng')),
      ...fields,
    ];
  }

  /** A column with a type holds numbers: a text is the degrees in it, and any other value is not a number. */
  #coordinate(value: unknown, axis: 'lat' | 'lng'): unknown {
    return this.fit === 'types' && value != null
      ? degreesOf(this.columns[axis === 'lat' ? 0 : 1]!, value, axis)
      : (value ?? null);
  }

  /**
   * @param values null for a check only
   * @returns false for a feature that does not fit the columns
   */
  #take(feature: ShapedFeature, values: unknown[][] | null, row: number): boolean {
    const indexes = this.#indexesOf(feature.shape);
    if (indexes === null) return false;
    for (let c = 0; c < indexes.length; c++) {
      const n = indexes[c]!;
      const column = this.columns[c]!;
      if (values === null && (n < 0 || feature.isOf(n, column.kind))) continue;
      const value = n < 0 ? null : valueIn(column, feature.at(n), this.fit);
      if (value === undefined) return false;
      if (values !== null) values[c]![row] = value;
    }
    return true;
  }

  #indexesOf(shape: FeatureShape): Int32Array | null {
    const known = this.#indexes.get(shape);
    if (known !== undefined) return known;
    const indexes = new Int32Array(this.columns.length).fill(-1);
    indexes[0] = shape.lng + 1;
    indexes[1] = shape.lng;
    let isWhole = true;
    for (const [n, name] of shape.names.entries()) {
      const own = n === shape.id ? this.idName : name;
      const c = own === null ? -1 : this.columns.findIndex((column) => column.name === own);
      if (c >= 2) indexes[c] = n;
      else if (c < 0 && own !== null && own !== 'lat' && own !== 'lng') isWhole = false;
    }
    const fitting = this.fit !== 'any' && !isWhole ? null : indexes;
    this.#indexes.set(shape, fitting);
    return fitting;
  }
}

/** Cuts features at our properties, without properties that are omitted or have our names. */
export class FeatureSides {
  readonly #isKept: (name: string) => boolean;
  readonly #shaped = new Map<FeatureShape, boolean>();

  constructor({ added, chosen }: SinkColumns) {
    const listed = new Set(chosen?.names);
    const ours = added.map(({ name }) => name);
    this.#isKept = (name) => listed.has(name) === (chosen?.isKept === true) && !ours.includes(name);
  }

  of(document: JsonDocument): Sides {
    if (!(document instanceof ShapedFeature)) return sidesOf(document, this.#isKept);
    return document.around(this.#keepsAll(document.shape) ? null : this.#isKept);
  }

  /** How the two sides of a feature are added, one after the other. */
  readonly adders: readonly ValueAdder[] = [
    (into, document) => {
      this.#last = this.of(document as JsonDocument);
      addSide(into, this.#last[0]);
    },
    (into) => addSide(into, this.#last[1]),
  ];
  #last: Sides = ['', ''];

  /** Where the two sides of a feature that is written unchanged meet; -1 for any other. */
  splitOf(feature: ShapedFeature): number {
    return this.#keepsAll(feature.shape) ? feature.split : -1;
  }

  /** Whether features of a shape keep all of their properties. */
  #keepsAll(shape: FeatureShape): boolean {
    let keepsAll = this.#shaped.get(shape);
    if (keepsAll === undefined) {
      keepsAll = shape.names.every((name) => name === null || this.#isKept(name));
      this.#shaped.set(shape, keepsAll);
    }
    return keepsAll;
  }
}

/** Cuts features that become lines: before the closing brace. */
export class LineSides {
  readonly #replaced: MemberChoice;
  readonly #chosen: MemberChoice | undefined;
  readonly #cut = new Map<FeatureShape, boolean>();

  constructor({ added, chosen }: SinkColumns) {
    this.#replaced = { isKept: false, names: added.map(({ name }) => name) };
    this.#chosen = chosen;
  }

  readonly adders: readonly ValueAdder[] = [
    (into, document) => into.addText(openObject(document as JsonDocument, this.#replaced, this.#chosen)),
    (into) => into.addText('}'),
  ];

  splitOf({ shape, end }: ShapedFeature): number {
    let isCut = this.#cut.get(shape);
    if (isCut === undefined) {
      isCut = shape.isLine && !this.#replaced.names.some((name) => shape.members.has(name));
      this.#cut.set(shape, isCut);
    }
    return isCut ? end - 1 : -1;
  }
}

function sidesOf({ value, hasBigints }: JsonDocument, isKept: (name: string) => boolean): Sides {
  const write = hasBigints ? jsonText : JSON.stringify;
  const textOf = (members: [string, unknown][]): string[] =>
    members.map(([name, each]) => `${JSON.stringify(name)}:${write(each)}`);
  const members = Object.entries(value);
  const found = members.findIndex(([name]) => name === 'properties');
  const at = found < 0 ? members.length : found;
  const before = textOf(members.slice(0, at)).map((member) => `${member},`);
  const after = textOf(members.slice(at + 1)).map((member) => `,${member}`);
  const theirs = textOf(Object.entries(propertiesOf(value)).filter(([name]) => isKept(name)));
  return [`{${before.join('')}"properties":{${theirs.join(',')}`, `}${after.join('')}}`];
}

interface KeptColumn {
  readonly c: number;
  readonly column: TableColumn;
  readonly add: ValueAdder;
  readonly way: Way;
}

/** How values become ranges: as texts without quotes, unchanged as numbers or words, or only if they are null. */
type Way = 'text' | 'number' | 'word' | 'none';

function wayOf({ kind }: TableColumn, isTyped: boolean): Way {
  if (kind === 'text') return 'text';
  return isTyped ? 'none' : kind === 'double' ? 'number' : kind === 'boolean' ? 'word' : 'none';
}

function addSide(into: GrowingBytes, side: string | Buffer): void {
  if (typeof side === 'string') into.addText(side);
  else into.add(side);
}

/** Copies of chunks in the text of a window, where values are ranges: a part of one holds many features. */
class ChunkCopies {
  /** The text that holds the latest feature. */
  text = new GrowingBytes(0);
  #chunk: Buffer | null = null;
  /** How often it had been emptied. */
  #turn = -1;
  #end = 0;
  /** The number that is added to offsets of a feature. */
  #base = 0;

  /** Copies the bytes of a feature to a text that does not have them yet. */
  hold({ bytes, start, end }: ShapedFeature, text: GrowingBytes): void {
    const isHeld = text === this.text && text.turns === this.#turn;
    this.text = text;
    if (isHeld && bytes === this.#chunk && end <= this.#end) return;
    this.#turn = text.turns;
    this.#chunk = bytes;
    this.#end = Math.min(bytes.length, Math.max(end, start + COPIED_BYTES));
    this.#base = text.at - start;
    text.add(bytes.subarray(start, this.#end));
  }

  /**
   * Makes the range of a value of the current feature.
   * @returns false if the value must be parsed
   */
  range(feature: ShapedFeature, n: number, way: Way, { starts, ends }: ValueRanges, row: number): boolean {
    const start = n < 0 ? 0 : feature.startOf(n);
    const first = feature.bytes[start]!;
    if (n < 0 || first === LETTER_N) {
      starts[row] = -1;
      return true;
    }
    const end = feature.endOf(n);
    const base = this.#base;
    if (isOpen(first)) {
      const { text } = this;
      starts[row] = text.at;
      const isAdded = addNested(text, base + start, base + end);
      ends[row] = text.at;
      return isAdded;
    }
    const isText = first === QUOTE;
    const isNumber = !isText && first < LETTER_A;
    if (way === 'none' || (way === 'text') !== isText || (way === 'number') !== isNumber) return false;
    if (isText && feature.isEscaped(n)) return false;
    if (isNumber && !feature.isUsual) {
      const value = numberIn(feature.bytes, start, end);
      if (Number.isNaN(value)) return false;
      if (!wasUsual()) {
        const { text } = this;
        starts[row] = text.at;
        text.addNumber(value);
        ends[row] = text.at;
        return true;
      }
    }
    const quote = isText ? 1 : 0;
    starts[row] = base + start + quote;
    ends[row] = base + end - quote;
    return true;
  }

  addSides(
    feature: ShapedFeature,
    sides: NonNullable<WantedBytes['sides']>,
    ranges: readonly ValueRanges[],
    row: number,
  ): void {
    const [before, after] = [ranges[ranges.length - 2], ranges[ranges.length - 1]];
    const split = sides.splitOf(feature);
    if (split < 0) {
      const [addBefore, addAfter] = sides.adders;
      addValue(this.text, before!, row, feature, addBefore!);
      addValue(this.text, after!, row, feature, addAfter!);
      return;
    }
    const base = this.#base;
    before!.starts[row] = base + feature.start;
    before!.ends[row] = after!.starts[row] = base + split;
    after!.ends[row] = base + feature.end;
  }
}

/** The coordinates of a feature of one point, longitude first; null for any other geometry. */
function pointOf(feature: JsonDocument): readonly unknown[] | null {
  if (feature instanceof ShapedFeature) {
    const { lng } = feature.shape;
    return [feature.at(lng), feature.at(lng + 1)];
  }
  const { geometry } = feature.value;
  const { type, coordinates } = (geometry ?? {}) as { type?: unknown; coordinates?: unknown };
  if (type === 'Point') return Array.isArray(coordinates) ? coordinates : null;
  const shape = shapeOfGeoJson(geometry);
  return shape === null ? null : lonePoint(shape);
}

/** The type of a geometry that is not a point; null for points, and for features without one. */
function otherShape(feature: JsonDocument): string | null {
  if (pointOf(feature) !== null) return null;
  const shape = shapeOfGeoJson(feature.value.geometry);
  return shape === null || pointsOf(shape, 'first').length === 0 ? null : typeName(shape);
}
