// Arrow's schema in base 64, as files of Parquet have it beside their own: their timestamps know of no zone but UTC.

import {
  columnFromArray,
  type DataType,
  type Field,
  Type,
  tableFromColumns,
  tableFromIPC,
  tableToIPC,
  utf8,
} from '@uwdata/flechette';
import { geoArrowIn, type TypedGeometry } from '../geoparquet.js';
import type { TableColumn } from '../table.js';
import { arrowType } from './arrow-sink.js';
import { ByteQueue, messagesOf, once } from './messages.js';
import { SCHEMA } from './sound-metadata.js';

/** The zones of timestamps by the names of their columns; none where the text is no schema. */
export async function zonesIn(text: string): Promise<ReadonlyMap<string, string>> {
  // The instants are the same without it.
  const zones = new Map<string, string>();
  for (const { name, type } of await fieldsIn(Buffer.from(text, 'base64')))
    if (type.typeId === Type.Timestamp && type.timezone) zones.set(name, type.timezone);
  return zones;
}

const ARROW_SCHEMA = 'ARROW:schema';

/** The columns with geometries as Arrow's types of extension. */
export async function geoArrowColumns(text: string): Promise<TypedGeometry[]> {
  const bytes = Buffer.from(text, 'base64');
  if (!bytes.includes('ARROW:extension:name')) return [];
  return (await fieldsIn(bytes)).flatMap(({ name, metadata }) => geoArrowIn(name, metadata) ?? []);
}

/** The fields of a schema; none where it is none. */
async function fieldsIn(bytes: Uint8Array): Promise<readonly Field[]> {
  try {
    const messages = messagesOf(new ByteQueue(once(bytes)), ARROW_SCHEMA, false);
    const first = (await messages.next()).value;
    return first?.kind === SCHEMA ? tableFromIPC([first.bytes]).schema.fields : [];
  } catch {
    return [];
  }
}

/** The schema of columns that Parquet holds. */
export function schemaText(columns: readonly TableColumn[]): string {
  const table = tableFromColumns(
    columns.map((column) => [column.name, columnFromArray([], storedType(column) as never)]) as never,
  );
  const stream = tableToIPC(table, { format: 'stream' }) as Uint8Array;
  // Eight bytes, the second four of which say how many follow.
  const size = new DataView(stream.buffer, stream.byteOffset).getInt32(4, true);
  return Buffer.from(stream.subarray(0, 8 + size)).toString('base64');
}

/** The type as which Parquet's values are read: it has no seconds, and durations are texts there. */
function storedType(column: TableColumn): DataType {
  if (column.kind === 'duration') return utf8();
  const unit = column.unit === 's' ? 'ms' : column.unit;
  return arrowType({
    ...column,
    ...(unit === undefined ? {} : { unit }),
    ...(column.kind === 'time' ? { isUtc: false } : {}),
  }).type;
}
