// GeoJSON points (RFC 7946): a FeatureCollection of any length, or one feature a line. The text around the features of a
// collection is passed on unchanged.

import { badInput } from '../../file-faults.js';
import type { Input } from '../disk/input.js';
import type { Output } from '../disk/output.js';
import { FeatureSplitter } from './feature-splitter.js';
import { columnsOf, parseObject, valuesOf } from './json-columns.js';
import { linesOf } from './lines.js';
import {
  BATCH_ROWS,
  type CollectionFrame,
  type JsonDocument,
  jsonBigint,
  jsonOf,
  type SinkColumns,
  type TableColumn,
  type TableRows,
  type TableSink,
  type TableSource,
} from './table.js';

const POSITION_COLUMNS: readonly TableColumn[] = [
  { name: 'lat', kind: 'double' },
  { name: 'lng', kind: 'double' },
];

/**
 * Columns: `lat` and `lng` of the geometry, `id` if a feature of the first batch has one, the properties.
 * @param isStrict whether later features must fit the columns of the first batch, as targets that are tables need
 */
export async function openGeoJson(input: Input, isStrict: boolean): Promise<TableSource> {
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

/** The coordinates of a point feature, longitude first; null for any other geometry. */
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

/** Indexes of a position among the columns of a sink; -1 where it is in none. */
export interface PositionColumns {
  readonly lat: number;
  readonly lng: number;
}

export function geoJsonSink(
  output: Output,
  columns: SinkColumns,
  position: PositionColumns,
  frame: CollectionFrame | undefined,
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
