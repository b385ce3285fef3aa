// Reads GeoJSON points (RFC 7946): a FeatureCollection of any length, or one feature a line. The text around the
// features of a collection is kept.

import type { Input } from '../../disk/input.js';
import { linesOf } from '../lines.js';
import type { CollectionFrame, JsonDocument, RowFit, TableSource } from '../table.js';
import { refuseOtherSystem } from './crs.js';
import { type KnownFeatures, knownOf, rowOf } from './feature-columns.js';
import { FeatureSplitter } from './feature-splitter.js';
import { DocumentBatch, narrowBatches, parseObject, valuesOf } from './json-columns.js';

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
  const frame: CollectionFrame = { head: '{"type":"FeatureCollection","features":[', tail: ']}' };
  const batches = featureBatches(input, frame);
  const first = (await batches.next()).value ?? [];
  const { columns, idName } = known ?? knownOf(first, fit);
  return {
    columns,
    frame,
    async *batches() {
      let row = 1;
      for (let batch: JsonDocument[] | undefined = first; batch !== undefined; ) {
        for (const documents of narrowBatches(batch, columns.length)) {
          const rows = documents.map((document, i) => rowOf(document, { idName, fit }, input.name, row + i));
          const positions = documents.map(({ value }) => pointOf(value));
          yield {
            rowCount: documents.length,
            values: [
              positions.map((position) => position?.[1] ?? null),
              positions.map((position) => position?.[0] ?? null),
              ...valuesOf(columns.slice(2), rows, input.name, row, fit),
            ],
            documents,
          };
          row += documents.length;
        }
        const next: IteratorResult<JsonDocument[], undefined> = await batches.next();
        batch = next.value;
      }
    },
  };
}

/** The coordinates of a point feature, longitude first; null for any other geometry. */
function pointOf(feature: Record<string, unknown>): readonly unknown[] | null {
  const geometry = feature.geometry as { type?: unknown; coordinates?: unknown } | null | undefined;
  return geometry?.type === 'Point' && Array.isArray(geometry.coordinates) ? geometry.coordinates : null;
}

/** Batches of features. @param frame gets the text around them */
export async function* featureBatches(
  input: Input,
  frame: CollectionFrame,
): AsyncGenerator<JsonDocument[], undefined> {
  const isCollection = /"FeatureCollection"|"features"/.test(Buffer.from(input.head).toString('latin1'));
  const batch = new DocumentBatch();
  let row = 0;
  for await (const texts of isCollection ? collectionFeatures(input, frame) : lineFeatures(input)) {
    for (const text of texts) if (batch.add(parseObject(text, input.name, ++row))) yield batch.take();
  }
  const last = batch.take();
  if (last.length > 0) yield last;
}

async function* lineFeatures(input: Input): AsyncGenerator<string[]> {
  for await (const lines of linesOf(input.chunks(), input.name)) yield lines.map(({ text }) => text);
}

/** Cuts a collection into the texts of its features. */
async function* collectionFeatures(input: Input, frame: CollectionFrame): AsyncGenerator<string[]> {
  const splitter = new FeatureSplitter(input.name);
  let hasHead = false;
  for await (const chunk of input.chunks()) {
    const texts = splitter.push(chunk);
    if (splitter.head !== null && !hasHead) {
      hasHead = true;
      refuseOtherSystem(splitter.head, input.name);
      frame.head = splitter.head;
    }
    if (texts.length > 0) yield texts;
  }
  frame.tail = splitter.end();
  refuseOtherSystem(frame.tail, input.name);
}
