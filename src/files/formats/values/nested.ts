// Lists, structs and maps of Arrow and Parquet as JSON text, each leaf by its own type.

import { isUtf8 } from 'node:buffer';
import { MAX_ROW_TEXT } from '../../held/row-windows.js';
import type { TableColumn } from '../table.js';
import { jsonTextOf, textOf } from './column-text.js';

// Bytes as text, without the replacement characters that decoders put in place of what is not UTF-8.

/** @throws Error for bytes that are not UTF-8 */
export function utf8Text(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new Error('text that is not UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** How the values of a type are read and written. */
export type Shape =
  | {
      readonly is: 'leaf';
      readonly column: Omit<TableColumn, 'name'>;
      /** The reader's value in the form that `ColumnKind` gives; absent where it is in this form. */
      readonly read?: (value: never) => unknown;
    }
  | { readonly is: 'list'; readonly of: Shape }
  | { readonly is: 'struct'; readonly fields: readonly (readonly [name: string, shape: Shape])[] }
  | { readonly is: 'map'; readonly key: Shape; readonly value: Shape };

/** @param read see Shape; absent where values need none */
export function leaf(column: Omit<TableColumn, 'name'>, read?: (value: never) => unknown): Shape {
  return read === undefined ? { is: 'leaf', column } : { is: 'leaf', column, read };
}

export const toBigInt = (value: number | bigint): bigint => BigInt(value);

/** @throws Error if two fields have one name: an object holds only one of them */
export function structOf(fields: readonly (readonly [name: string, shape: Shape])[]): Shape {
  const names = fields.map(([name]) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`a struct with two fields ${twice}`);
  return { is: 'struct', fields };
}

/** A column of a file. */
export interface ShapedColumn {
  readonly column: TableColumn;
  /** null where the values are not read. */
  readonly shape: Shape | null;
}

/** @param shapeOf throws an Error for a type that is not read */
export function shapedColumn(name: string, shapeOf: () => Shape): ShapedColumn {
  try {
    const shape = shapeOf();
    return { column: shape.is === 'leaf' ? { name, ...shape.column } : { name, kind: 'json' }, shape };
  } catch (error) {
    return { column: { name, kind: 'text', unread: (error as Error).message }, shape: null };
  }
}

/** A value of a column in the form that `ColumnKind` gives; null for null. */
export function readBy(shape: Shape): ((value: unknown) => unknown) | null {
  if (shape.is !== 'leaf')
    return (value) =>
      value === null || value === undefined ? null : shapedText(shape, value, new TextBudget());
  const { read } = shape;
  if (read === undefined) return null;
  return (value) => (value === null || value === undefined ? null : read(value as never));
}

/** Text that one value may become: its parts may be the same long text of a dictionary many times. */
class TextBudget {
  #left = MAX_ROW_TEXT;

  /** @throws Error where the text becomes too long */
  spent(text: string): string {
    this.#left -= text.length;
    if (this.#left < 0) throw new Error(`a value of more than ${MAX_ROW_TEXT / 2 ** 20} MiB of text`);
    return text;
  }
}

/** @param value lists in any kind of array, structs as objects, maps as objects or as lists of pairs */
function shapedText(shape: Shape, value: unknown, budget: TextBudget): string {
  if (value === null || value === undefined) return budget.spent('null');
  switch (shape.is) {
    case 'leaf':
      return budget.spent(
        jsonTextOf(shape.column, shape.read === undefined ? value : shape.read(value as never)),
      );
    case 'list':
      return `[${Array.from(value as ArrayLike<unknown>, (each) => shapedText(shape.of, each, budget)).join(',')}]`;
    case 'struct': {
      const members = shape.fields.map(
        ([name, field]) =>
          `${JSON.stringify(name)}:${shapedText(field, (value as Record<string, unknown>)[name], budget)}`,
      );
      return `{${members.join(',')}}`;
    }
    case 'map': {
      const pairs = (Array.isArray(value) ? value : Object.entries(value as object)) as [unknown, unknown][];
      const members = pairs.map(
        ([key, each]) =>
          `${JSON.stringify(keyText(shape.key, key, budget))}:${shapedText(shape.value, each, budget)}`,
      );
      return `{${members.join(',')}}`;
    }
  }
}

function keyText(shape: Shape, key: unknown, budget: TextBudget): string {
  if (shape.is !== 'leaf') return shapedText(shape, key, budget);
  return budget.spent(textOf(shape.column, shape.read === undefined ? key : shape.read(key as never)));
}
