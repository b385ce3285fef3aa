// Writes Arrow IPC by flechette, one record batch at a time, so that the whole file is never held. Files (`.arrow`,
// `.feather`) have a magic word and a footer around the stream.

import {
  binary,
  bool,
  Column,
  columnFromArray,
  type DataType,
  dateDay,
  decimal128,
  decimal256,
  duration,
  fixedSizeBinary,
  float32,
  float64,
  int32,
  int64,
  type Table,
  TimeUnit,
  tableFromColumns,
  tableToIPC,
  time,
  timestamp,
  uint64,
  utf8,
} from '@uwdata/flechette';
import { Builder } from '@uwdata/flechette/src/encode/builder.js';
import { type Block, writeFooter } from '@uwdata/flechette/src/encode/footer.js';
import type { Output } from '../../disk/output.js';
import { textSizeOf } from '../../held/row-windows.js';
import type { SinkColumns, TableColumn, TableRows, TableSink } from '../table.js';
import { textOf, uuidBytes } from '../values/column-text.js';
import { EXTENSION_NAME, UUID_EXTENSION } from './arrow-types.js';
import { ByteQueue, messagesOf, once } from './messages.js';
import { SCHEMA } from './sound-metadata.js';

const BATCH_ROWS = 65_536;
/** Characters and bytes at which a record batch ends before. */
const MOST_HELD_TEXT = 64 * 1024 * 1024;
const MOST_DIGITS_OF_128_BITS = 38;

const UNITS = {
  s: TimeUnit.SECOND,
  ms: TimeUnit.MILLISECOND,
  us: TimeUnit.MICROSECOND,
  ns: TimeUnit.NANOSECOND,
} as const;

function columnOf(column: TableColumn, values: unknown[]): Column<unknown> {
  const build = (type: DataType, of: unknown[] = values): Column<unknown> =>
    columnFromArray(of as never, type) as Column<unknown>;
  // Integers here and in the file: built as integers, their type put on afterwards.
  const retyped = (type: DataType, stored: DataType, of?: unknown[]): Column<unknown> =>
    new Column([...build(stored, of).data], type);
  const unit = UNITS[column.unit ?? 'ms'];
  switch (column.kind) {
    case 'text':
    case 'json':
      return build(utf8());
    case 'binary':
      return build(binary());
    case 'uuid':
      return build(
        fixedSizeBinary(16),
        values.map((value) => (value === null ? null : uuidBytes(value as string))),
      );
    case 'double':
      return build(float64());
    case 'float':
      return build(float32());
    case 'int':
      return build(int32());
    case 'long':
      return build(int64());
    case 'ulong':
      return build(uint64());
    case 'boolean':
      return build(bool());
    case 'decimal': {
      const { precision = 38, scale = 0 } = column;
      return build(
        precision > MOST_DIGITS_OF_128_BITS ? decimal256(precision, scale) : decimal128(precision, scale),
      );
    }
    case 'date':
      return retyped(dateDay(), int32());
    case 'timestamp':
      return retyped(timestamp(unit, column.zone ?? (column.isUtc === true ? 'UTC' : null)), int64());
    case 'time': {
      // Times of UTC are a type of Parquet alone.
      if (column.isUtc === true) {
        return build(
          utf8(),
          values.map((value) => (value === null ? null : textOf(column, value))),
        );
      }
      const type = time(unit);
      if (type.bitWidth === 64) return retyped(type, int64());
      return retyped(
        type,
        int32(),
        values.map((value) => (value === null ? null : Number(value))),
      );
    }
    case 'duration':
      return retyped(duration(unit), int64());
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
  let heldText = 0;
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
    all.forEach(({ kind }, c) => {
      if (kind === 'uuid') table.schema.fields[c]!.metadata = new Map([[EXTENSION_NAME, UUID_EXTENSION]]);
    });
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
    heldText = 0;
  };
  return {
    async write({ rowCount, values }: TableRows) {
      for (let c = 0; c < all.length; c++) {
        const target = held[c]!;
        for (let row = 0; row < rowCount; row++) {
          const value = values[c]?.[row] ?? null;
          heldText += textSizeOf(value);
          target.push(value);
        }
      }
      heldRows += rowCount;
      if (heldRows >= BATCH_ROWS || heldText >= MOST_HELD_TEXT) await flush();
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
