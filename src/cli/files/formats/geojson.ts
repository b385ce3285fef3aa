// GeoJSON points: a FeatureCollection of any length, read feature by feature, or features one a line. What stands
// around the features of a collection is passed on as it was.

import { badInput } from '../../file-faults.js';
import type { Input } from '../disk/input.js';
import type { Output } from '../disk/output.js';
import { columnsOf, parseObject, valuesOf } from './json-columns.js';
import { linesOf } from './lines.js';
import {
  BATCH_ROWS,
  type JsonDocument,
  jsonBigint,
  jsonOf,
  type SinkColumns,
  type TableColumn,
  type TableRows,
  type TableSink,
  type TableSource,
} from './table.js';

/** One feature at most, and all that stands before or after the features. */
const MAX_OBJECT_BYTES = 16 * 1024 * 1024;

/** What stands around the features of a collection; the tail is complete when the last batch was read. */
export interface CollectionFrame {
  head: string;
  tail: string;
}

export interface GeoJsonSource extends TableSource {
  readonly frame: CollectionFrame;
}

const POSITION_COLUMNS: readonly TableColumn[] = [
  { name: 'lat', kind: 'double' },
  { name: 'lng', kind: 'double' },
];

/** Columns are the properties, `id` if the first features have one, and `lat` and `lng` of the geometry. */
export async function openGeoJson(input: Input, isStrict: boolean): Promise<GeoJsonSource> {
  const frame: CollectionFrame = { head: '{"type":"FeatureCollection","features":[', tail: ']}' };
  const batches = featureBatches(input, frame);
  const first = (await batches.next()).value ?? [];
  const hasId = first.some(({ value }) => value.id !== undefined);
  const rowOf = (document: JsonDocument, row: number): Record<string, unknown> => {
    const { value } = document;
    if (value.type !== 'Feature') {
      throw badInput({ file: input.name, row }, `not a GeoJSON feature: ${document.text.slice(0, 40)}`);
    }
    const { lat: _lat, lng: _lng, ...properties } = propertiesOf(value);
    return hasId ? { id: value.id, ...properties } : properties;
  };
  const columns = [...POSITION_COLUMNS, ...columnsOf(first.map((document, i) => rowOf(document, i + 1)))];
  return {
    columns,
    rowCount: null,
    frame,
    async *batches() {
      let row = 1;
      for (let batch: JsonDocument[] | undefined = first; batch !== undefined; ) {
        const objects = batch.map((document, i) => rowOf(document, row + i));
        const positions = batch.map(({ value }) => pointOf(value));
        yield {
          rowCount: batch.length,
          values: [
            positions.map((position) => position?.[1] ?? null),
            positions.map((position) => position?.[0] ?? null),
            ...valuesOf(columns.slice(2), objects, input.name, row, isStrict),
          ],
          documents: batch,
        };
        row += batch.length;
        const next: IteratorResult<JsonDocument[], undefined> = await batches.next();
        batch = next.value;
      }
    },
  };
}

function propertiesOf(feature: Record<string, unknown>): Record<string, unknown> {
  const properties = feature.properties;
  return typeof properties === 'object' && properties !== null ? (properties as Record<string, unknown>) : {};
}

/** The position of a point feature, longitude first; null for every other geometry. */
function pointOf(feature: Record<string, unknown>): readonly unknown[] | null {
  const geometry = feature.geometry as { type?: unknown; coordinates?: unknown } | null | undefined;
  return geometry?.type === 'Point' && Array.isArray(geometry.coordinates) ? geometry.coordinates : null;
}

async function* featureBatches(
  input: Input,
  frame: CollectionFrame,
): AsyncGenerator<JsonDocument[], undefined> {
  const isCollection = /"FeatureCollection"|"features"/.test(Buffer.from(input.head).toString('latin1'));
  let batch: JsonDocument[] = [];
  let row = 0;
  for await (const texts of isCollection ? collectionFeatures(input, frame) : lineFeatures(input)) {
    for (const text of texts) {
      batch.push(parseObject(text, input.name, ++row));
      if (batch.length < BATCH_ROWS) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

async function* lineFeatures(input: Input): AsyncGenerator<string[]> {
  for await (const lines of linesOf(input.chunks(), input.name)) yield lines.map(({ text }) => text);
}

/** Cuts a collection into the texts of its features. */
async function* collectionFeatures(input: Input, frame: CollectionFrame): AsyncGenerator<string[]> {
  const splitter = new FeatureSplitter(input.name);
  for await (const chunk of input.chunks()) {
    const texts = splitter.push(chunk);
    if (splitter.head !== null) frame.head = splitter.head;
    if (texts.length > 0) yield texts;
  }
  frame.tail = splitter.end();
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Finds the features of a collection by counting braces outside strings; the JSON itself is parsed later. */
class FeatureSplitter {
  /** What stands before the first feature, once it is known. */
  head: string | null = null;
  readonly #file: string;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #part: 'head' | 'features' | 'tail' = 'head';
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Start of a string at depth 1 of the head, as far as it is in this chunk; the key before a colon. */
  #key = '';
  #isFeaturesKey = false;
  #features = 0;

  constructor(file: string) {
    this.#file = file;
  }

  push(chunk: Uint8Array): string[] {
    const texts: string[] = [];
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i] as number;
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
        else if (this.#part === 'head' && this.#depth === 1 && this.#key.length < 16) {
          this.#key += String.fromCharCode(byte);
        }
        continue;
      }
      if (this.#part === 'tail') continue;
      if (byte === QUOTE) {
        this.#isInString = true;
        this.#key = '';
      } else if (byte === OPEN || byte === OPEN_LIST) {
        if (this.#part === 'features' && this.#depth === 0) {
          if (byte !== OPEN) throw this.#broken('a list where a feature should stand');
          start = i;
        }
        this.#depth++;
        if (this.#part === 'head' && byte === OPEN_LIST && this.#depth === 2 && this.#isFeaturesKey) {
          this.head = this.#take(chunk.subarray(start, i + 1));
          this.#part = 'features';
          this.#depth = 0;
          start = i + 1;
        }
        this.#isFeaturesKey = false;
      } else if (byte === CLOSE || byte === CLOSE_LIST) {
        if (this.#part === 'features' && this.#depth === 0) {
          if (byte !== CLOSE_LIST) throw this.#broken('an unexpected }');
          this.#held = [];
          this.#heldBytes = 0;
          this.#part = 'tail';
          start = i;
        } else {
          this.#depth--;
          if (this.#part === 'features' && this.#depth === 0) {
            texts.push(this.#take(chunk.subarray(start, i + 1)));
            this.#features++;
            start = i + 1;
          }
        }
      } else if (byte === COLON) {
        this.#isFeaturesKey = this.#part === 'head' && this.#depth === 1 && this.#key === 'features';
      } else if (this.#part === 'features' && this.#depth === 0) {
        if (byte !== COMMA && byte > 0x20) throw this.#broken('something that is no feature');
        start = i + 1;
      }
    }
    if (start < chunk.length) {
      this.#held.push(chunk.subarray(start));
      this.#heldBytes += chunk.length - start;
      if (this.#heldBytes > MAX_OBJECT_BYTES) {
        throw this.#broken(`more than ${MAX_OBJECT_BYTES / 2 ** 20} MiB without a whole feature`);
      }
    }
    return texts;
  }

  /** What stands after the last feature. */
  end(): string {
    if (this.#part === 'head') throw this.#broken('no list of features');
    if (this.#part === 'features') throw this.#broken('the file ends in the middle');
    const tail = this.#take(new Uint8Array(0));
    if (!tail.trimEnd().endsWith('}')) throw this.#broken('the file ends in the middle');
    return tail;
  }

  #take(bytes: Uint8Array): string {
    const all = this.#heldBytes === 0 ? bytes : Buffer.concat([...this.#held, bytes]);
    this.#held = [];
    this.#heldBytes = 0;
    try {
      return this.#decoder.decode(all);
    } catch {
      throw this.#broken('not UTF-8');
    }
  }

  #broken(what: string): Error {
    const row = this.#part === 'features' ? this.#features + 1 : undefined;
    return badInput({ file: this.#file, row }, what);
  }
}

/** Where a row's position stands among the sink's columns. */
export interface PositionColumns {
  readonly lat: number;
  readonly lng: number;
}

export function geoJsonSink(
  output: Output,
  columns: SinkColumns,
  position: PositionColumns,
  frame: CollectionFrame | null,
): TableSink {
  const all = [...columns.kept, ...columns.added];
  const keptNames = new Set(columns.kept.map(({ name }) => name));
  let isFirst = true;
  const opening = (): string => {
    if (!isFirst) return '';
    isFirst = false;
    return `${frame?.head ?? '{"type":"FeatureCollection","features":['}\n`;
  };
  const featureOf = ({ values, documents }: TableRows, row: number): unknown => {
    const feature = documents?.[row]?.value;
    const properties: Record<string, unknown> = {};
    if (feature?.type === 'Feature') {
      for (const [name, value] of Object.entries(propertiesOf(feature))) {
        if (columns.isWhole || keptNames.has(name)) properties[name] = value;
      }
      columns.added.forEach((column, c) => {
        properties[column.name] = jsonOf(column, values[columns.kept.length + c]?.[row]);
      });
      return { ...feature, properties };
    }
    all.forEach((column, c) => {
      if (c !== position.lat && c !== position.lng) {
        properties[column.name] = jsonOf(column, values[c]?.[row]);
      }
    });
    const lat = Number(values[position.lat]?.[row] ?? Number.NaN);
    const lng = Number(values[position.lng]?.[row] ?? Number.NaN);
    const isPoint = Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
    const geometry = isPoint ? { type: 'Point', coordinates: [lng, lat] } : null;
    return { type: 'Feature', geometry, properties };
  };
  return {
    async write(rows: TableRows) {
      const parts: string[] = [];
      for (let row = 0; row < rows.rowCount; row++) {
        const before = isFirst ? opening() : ',\n';
        parts.push(before, JSON.stringify(featureOf(rows, row), jsonBigint));
      }
      await output.write(Buffer.from(parts.join('')));
    },
    async close() {
      await output.write(Buffer.from(`${opening()}\n${frame?.tail.trimEnd() ?? ']}'}\n`));
    },
  };
}
