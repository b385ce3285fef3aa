// Writes GeoJSON as one FeatureCollection. Features from GeoJSON keep their geometry, id and other members, and the
// text around the features of a collection is passed on unchanged.

import type { Output } from '../../disk/output.js';
import type { CollectionFrame, JsonDocument, SinkColumns, TableRows, TableSink } from '../table.js';
import { degreesOf, jsonWriterOf } from '../values/column-text.js';
import { jsonText } from '../values/exact-json.js';
import { propertiesOf } from './feature-columns.js';

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
  const names = all.map(({ name }) => `${JSON.stringify(name)}:`);
  const writers = all.map(jsonWriterOf);
  const ofProperties = all.map((_, c) => c).filter((c) => c !== position.lat && c !== position.lng);
  const textFrom = ({ values }: TableRows, row: number): string => {
    const properties = ofProperties.map((c) => `${names[c]}${writers[c]!(values[c]?.[row])}`).join(',');
    const lat = degreesOf(all[position.lat]!, values[position.lat]?.[row]);
    const lng = degreesOf(all[position.lng]!, values[position.lng]?.[row]);
    const isPoint = Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
    const geometry = isPoint ? `{"type":"Point","coordinates":[${lng},${lat}]}` : 'null';
    return `{"type":"Feature","geometry":${geometry},"properties":{${properties}}}`;
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
      await output.write(Buffer.from(`${opening()}\n${frame?.tail.trimEnd() ?? ']}'}\n`));
    },
  };
}
