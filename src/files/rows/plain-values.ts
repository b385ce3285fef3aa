// Values as the bytes of Parquet's plain encoding: texts without their size, booleans in a byte each.

import { storedBy } from '../formats/parquet/parquet-sink.js';
import { elementOf } from '../formats/parquet/parquet-types.js';
import type { TableColumn } from '../formats/table.js';
import { textOf, uuidBytes } from '../formats/values/column-text.js';
import { type GrowingBytes, type TextRows, textAt } from './text-rows.js';

/** Adds a value that is not null. @throws Error for one that the column's type does not hold */
export function addPlain(into: GrowingBytes, column: TableColumn, value: unknown): void {
  const { type, type_length: length, converted_type: converted } = elementOf(column);
  const stored = storedBy(column)?.(value) ?? value;
  const width = length ?? 8;
  into.reserve(width);
  const { bytes, at } = into;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at);
  switch (type) {
    case 'DOUBLE':
      view.setFloat64(0, numberOf(stored), true);
      break;
    case 'FLOAT':
      view.setFloat32(0, numberOf(stored), true);
      into.at += 4;
      return;
    case 'INT32':
      view.setInt32(0, int32Of(stored, converted === 'UINT_32'), true);
      into.at += 4;
      return;
    case 'INT64':
      view.setBigInt64(0, int64Of(stored, converted === 'UINT_64'), true);
      break;
    case 'BOOLEAN':
      bytes[at] = stored === true ? 1 : 0;
      into.at++;
      return;
    case 'FIXED_LEN_BYTE_ARRAY':
      bytes.set(fixedOf(stored, width), at);
      break;
    default:
      if (typeof stored === 'string') into.addText(stored);
      else if (stored instanceof Uint8Array) into.add(stored);
      else throw new Error(`parquet expected Uint8Array value, got ${typeof stored}`);
      return;
  }
  into.at += width;
}

// The same refusals as those of hyparquet-writer.

export function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw new Error(`parquet expected number value, got ${String(value)}`);
  return value;
}

/** @param value a number, or the bigint of a decimal */
export function int32Of(value: unknown, isUnsigned: boolean): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (!Number.isSafeInteger(number)) throw new Error(`parquet expected integer value, got ${String(value)}`);
  const stored = isUnsigned ? (number as number) >>> 0 : (number as number) | 0;
  if (stored !== number)
    throw new Error(`parquet expected ${isUnsigned ? 'uint32' : 'int32'} value, got ${String(value)}`);
  return stored | 0;
}

export function int64Of(value: unknown, isUnsigned: boolean): bigint {
  if (typeof value !== 'bigint') throw new Error(`parquet expected bigint value, got ${String(value)}`);
  const fits = isUnsigned ? BigInt.asUintN(64, value) === value : BigInt.asIntN(64, value) === value;
  if (!fits) throw new RangeError(`parquet INT64 value out of range: ${value}`);
  return value;
}

/** A UUID, or the integer of a decimal in two's complement, big-endian. */
export function fixedOf(value: unknown, width: number): Uint8Array {
  if (typeof value === 'string') return uuidBytes(value);
  const bytes = new Uint8Array(width);
  let left = value as bigint;
  for (let at = width - 1; at >= 0; at--) {
    bytes[at] = Number(left & 255n);
    left >>= 8n;
  }
  return bytes;
}

/** A plain value of a row as a text for messages; of texts, numbers and integers. */
export function plainTextAt(
  rows: TextRows,
  columns: readonly TableColumn[],
  index: number,
  row: number,
): string {
  const column = columns[index]!;
  const start = rows.columns[index]!.starts[row]!;
  if (start < 0) return '';
  const { bytes } = rows.text;
  const view = new DataView(bytes.buffer, bytes.byteOffset + start);
  if (column.kind === 'double') return textOf(column, view.getFloat64(0, true));
  if (column.kind === 'float') return textOf(column, view.getFloat32(0, true));
  return column.kind === 'long' ? view.getBigInt64(0, true).toString() : textAt(rows, index, row);
}
