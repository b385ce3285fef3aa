// Arrow's schema in base 64, as files of Parquet have it in addition to their own: their timestamps have no time zone
// but UTC.

import { type DataType, type Field, Table, Type, tableFromIPC, tableToIPC, utf8 } from '@uwdata/flechette';
import { geoArrowIn, type TypedGeometry } from '../geoparquet.js';
import type { TableColumn } from '../table.js';
import { arrowType } from './arrow-stream.js';
import { ByteQueue, messagesOf, once, SCHEMA } from './messages.js';

/** The time zones of timestamps by column name; empty where the text is not a schema. */
export async function zonesIn(text: string): Promise<ReadonlyMap<string, string>> {
  // The instants are the same without it.
  const zones = new Map<string, string>();
  for (const { name, type } of await fieldsIn(Buffer.from(text, 'base64')))
    if (type.typeId === Type.Timestamp && type.timezone) zones.set(name, type.timezone);
  return zones;
}

const ARROW_SCHEMA = 'ARROW:schema';

/** The columns with geometries, by Arrow's extension types. */
export async function geoArrowColumns(text: string): Promise<TypedGeometry[]> {
  const bytes = Buffer.from(text, 'base64');
  if (!bytes.includes('ARROW:extension:name')) return [];
  return (await fieldsIn(bytes)).flatMap(({ name, metadata }) => geoArrowIn(name, metadata) ?? []);
}

/** The fields of a schema; none where it is not one. */
async function fieldsIn(bytes: Uint8Array): Promise<readonly Field[]> {
  try {
    const messages = messagesOf(new ByteQueue(once(bytes)), ARROW_SCHEMA, false);
    const first = (await messages.next()).value;
    return first?.kind === SCHEMA ? tableFromIPC([first.bytes]).schema.fields : [];
  } catch {
    return [];
  }
}

/**
 * The schema of the columns of a Parquet file.
 * @param source schema of the input file; its first columns are written unchanged
 */
export async function schemaText(
  columns: readonly TableColumn[],
  source?: { readonly text: string; readonly kept: number },
): Promise<string> {
  const known = source === undefined ? [] : await fieldsIn(Buffer.from(source.text, 'base64'));
  const fields = columns.map((column, c): Field => {
    const same = c < (source?.kept ?? 0) ? known.find(({ name }) => name === column.name) : undefined;
    return same ?? { name: column.name, type: storedType(column), nullable: true, metadata: new Map() };
  });
  const stream = tableToIPC(new Table({ fields }, []), { format: 'stream' }) as Uint8Array;
  // The first eight bytes, of which the last four give the length of the rest.
  const size = new DataView(stream.buffer, stream.byteOffset).getInt32(4, true);
  return Buffer.from(stream.subarray(0, 8 + size)).toString('base64');
}

/** The type as which Parquet's values are read: it has no seconds, and durations are texts. */
function storedType(column: TableColumn): DataType {
  if (column.kind === 'duration') return utf8();
  const unit = column.unit === 's' ? 'ms' : column.unit;
  return arrowType({
    ...column,
    ...(unit === undefined ? {} : { unit }),
    ...(column.kind === 'time' ? { isUtc: false } : {}),
  });
}
