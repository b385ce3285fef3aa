// Arrow IPC by flechette, one record batch at a time: flechette is given single messages, so that neither reading nor
// writing holds the whole file. Files (`.arrow`, `.feather`) have a magic word and a footer around the stream.

import {
  binary,
  bool,
  Column,
  columnFromArray,
  type DataType,
  dateDay,
  decimal128,
  float64,
  int32,
  int64,
  type Table,
  TimeUnit,
  Type,
  tableFromColumns,
  tableFromIPC,
  tableToIPC,
  timestamp,
  utf8,
} from '@uwdata/flechette';
import { Builder } from '@uwdata/flechette/src/encode/builder.js';
import { type Block, writeFooter } from '@uwdata/flechette/src/encode/footer.js';
import { badInput, reasonOf } from '../../../file-faults.js';
import type { Input } from '../../disk/input.js';
import type { Output } from '../../disk/output.js';
import {
  jsonBigint,
  type SinkColumns,
  type TableColumn,
  type TableRows,
  type TableSink,
  type TableSource,
} from '../table.js';
import { ByteQueue, DICTIONARY, type Message, messagesOf, once, RECORDS, SCHEMA } from './messages.js';

const BATCH_ROWS = 65_536;

export async function openArrow(input: Input): Promise<TableSource> {
  const queue = new ByteQueue(input.chunks());
  const isFile = Buffer.from(input.head.subarray(0, 6)).toString('latin1') === 'ARROW1';
  if (isFile) await queue.take(8);
  const messages = messagesOf(queue, input.name, isFile);
  const opening: Uint8Array[] = [];
  const tableOf = (records: Uint8Array[], row: number): Table => {
    try {
      return tableFromIPC([...opening, ...records], { useBigInt: true, useDecimalInt: true });
    } catch (error) {
      throw badInput({ file: input.name, row }, `cannot be read as Arrow (${reasonOf(error)})`);
    }
  };
  const first = (await messages.next()).value as Message | undefined;
  if (first?.kind !== SCHEMA)
    throw badInput({ file: input.name }, 'not Arrow IPC: it does not start with a schema');
  opening.push(first.bytes);
  const columns = tableOf([], 1).schema.fields.map(
    (field): TableColumn => ({ name: field.name, ...typeOf(field.type) }),
  );
  return {
    columns,
    async *batches() {
      let row = 1;
      for await (const message of messages) {
        if (message.kind === DICTIONARY) opening.push(message.bytes);
        if (message.kind !== RECORDS) continue;
        const table = tableOf([message.bytes], row);
        const rowCount = table.numRows;
        const values = columns.map((column, c) => valuesOf(column, table.getChildAt(c)));
        for (let start = 0; start < rowCount; start += BATCH_ROWS) {
          const end = Math.min(start + BATCH_ROWS, rowCount);
          yield { rowCount: end - start, values: values.map((each) => each.slice(start, end)) };
        }
        row += rowCount;
      }
    },
  };
}

const UNIT_OF: Record<number, Omit<TableColumn, 'name'>> = {
  [TimeUnit.SECOND]: { kind: 'timestamp', unit: 'ms' },
  [TimeUnit.MILLISECOND]: { kind: 'timestamp', unit: 'ms' },
  [TimeUnit.MICROSECOND]: { kind: 'timestamp', unit: 'us' },
  [TimeUnit.NANOSECOND]: { kind: 'timestamp', unit: 'ns' },
};

function typeOf(type: DataType): Omit<TableColumn, 'name'> {
  switch (type.typeId) {
    case Type.Dictionary:
      return typeOf(type.dictionary);
    case Type.Bool:
      return { kind: 'boolean' };
    case Type.Int:
      if (type.bitWidth === 64)
        return type.signed ? { kind: 'long' } : { kind: 'decimal', precision: 20, scale: 0 };
      return { kind: type.bitWidth === 32 && !type.signed ? 'long' : 'int' };
    case Type.Float:
      return { kind: 'double' };
    case Type.Decimal:
      return { kind: 'decimal', precision: type.precision, scale: type.scale };
    case Type.Timestamp:
      return { ...UNIT_OF[type.unit]!, isUtc: type.timezone !== null };
    case Type.Date:
      return { kind: 'date' };
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return { kind: 'text' };
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return { kind: 'binary' };
    default:
      return { kind: 'json' };
  }
}

function valuesOf(column: TableColumn, child: Column<unknown>): unknown[] {
  const { typeId } = child.type;
  if (typeId === Type.Timestamp) {
    // From the buffers: flechette's own values are milliseconds in a double.
    const factor = child.type.unit === TimeUnit.SECOND ? 1000n : 1n;
    return child.data.flatMap((batch) =>
      Array.from({ length: batch.length }, (_, i) =>
        batch.at(i) === null ? null : (batch.values as BigInt64Array)[i]! * factor,
      ),
    );
  }
  const values = Array.from(child.toArray() as ArrayLike<unknown>);
  const convert: ((value: never) => unknown) | undefined =
    typeId === Type.Date
      ? (ms: number) => Math.floor(ms / 86_400_000)
      : column.kind === 'long' || column.kind === 'decimal'
        ? (value: number | bigint) => BigInt(value)
        : column.kind === 'double'
          ? (value: number) => Number(value)
          : undefined;
  if (convert === undefined) return values;
  return values.map((value) => (value === null || value === undefined ? null : convert(value as never)));
}

const UNITS = { ms: TimeUnit.MILLISECOND, us: TimeUnit.MICROSECOND, ns: TimeUnit.NANOSECOND } as const;

function columnOf(column: TableColumn, values: unknown[]): Column<unknown> {
  const build = (type: DataType): Column<unknown> =>
    columnFromArray(values as never, type) as Column<unknown>;
  switch (column.kind) {
    case 'text':
      return build(utf8());
    case 'binary':
      return build(binary());
    case 'double':
      return build(float64());
    case 'int':
      return build(int32());
    case 'long':
      return build(int64());
    case 'boolean':
      return build(bool());
    case 'decimal':
      return build(decimal128(column.precision ?? 38, column.scale ?? 0));
    // Dates and timestamps are integers here and in the file: built as integers, their type put on afterwards.
    case 'date':
      return new Column([...build(int32()).data], dateDay());
    case 'timestamp': {
      const type = timestamp(UNITS[column.unit ?? 'ms'], column.isUtc === true ? 'UTC' : null);
      return new Column([...build(int64()).data], type);
    }
    case 'json': {
      const texts = values.map((value) => (value === null ? null : JSON.stringify(value, jsonBigint)));
      return columnFromArray(texts as never, utf8()) as Column<unknown>;
    }
  }
}

/** @param hasFooter writes a file, with magic word and footer; else the bare stream */
export function arrowSink(output: Output, columns: SinkColumns, hasFooter: boolean): TableSink {
  const all = [...columns.kept, ...columns.added];
  const magic = Buffer.from('ARROW1\0\0', 'latin1');
  const blocks: Block[] = [];
  let offset = 0;
  let schema: Table['schema'] | null = null;
  let held: unknown[][] = all.map(() => []);
  let heldRows = 0;
  const emit = async (bytes: Uint8Array): Promise<void> => {
    offset += bytes.length;
    await output.write(bytes);
  };
  const flush = async (): Promise<void> => {
    const entries = all.map((column, c): [string, Column<unknown>] => [
      column.name,
      columnOf(column, held[c]!),
    ]);
    const table = tableFromColumns(entries as never);
    const encoded = tableToIPC(table, { format: 'stream' }) as Uint8Array;
    for await (const message of messagesOf(new ByteQueue(once(encoded)), '(memory)', false)) {
      if (message.kind === SCHEMA) {
        if (schema !== null) continue;
        schema = table.schema;
        if (hasFooter) await emit(magic);
      } else {
        const bodyLength = message.bytes.length - message.metadataBytes;
        blocks.push({ offset, metadataLength: message.metadataBytes, bodyLength });
      }
      await emit(message.bytes);
    }
    held = all.map(() => []);
    heldRows = 0;
  };
  return {
    async write({ rowCount, values }: TableRows) {
      for (let c = 0; c < all.length; c++) {
        const target = held[c]!;
        for (let row = 0; row < rowCount; row++) target.push(values[c]?.[row] ?? null);
      }
      heldRows += rowCount;
      if (heldRows >= BATCH_ROWS) await flush();
    },
    async close() {
      if (heldRows > 0 || schema === null) await flush();
      const ending: Uint8Array[] = [Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0)];
      if (hasFooter && schema !== null) {
        const sink = {
          write: (bytes: Uint8Array) => void ending.push(bytes.slice()),
          pad: (count: number) => void ending.push(new Uint8Array(count)),
        };
        writeFooter(new Builder(sink), schema, [], blocks, null);
      }
      await emit(Buffer.concat(ending));
    },
  };
}
