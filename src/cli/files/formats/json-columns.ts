// Columns for rows that are JSON objects, with the names and kinds of the first batch. A table cannot take a later row
// with another field or another kind of value; such a row is refused, and the message names the field.

import { badInput } from '../../file-faults.js';
import type { ColumnKind, JsonDocument, TableColumn } from './table.js';

function kindOf(value: unknown): ColumnKind | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return 'double';
  if (typeof value === 'boolean') return 'boolean';
  return typeof value === 'string' ? 'text' : 'json';
}

/** The columns of some rows, in the order in which they appear. */
export function columnsOf(objects: readonly Record<string, unknown>[]): TableColumn[] {
  const kinds = new Map<string, ColumnKind | null>();
  for (const object of objects) {
    for (const [name, value] of Object.entries(object)) {
      const known = kinds.get(name);
      const kind = kindOf(value);
      if (known === undefined || known === null) kinds.set(name, kind);
      else if (kind !== null && kind !== known) kinds.set(name, 'json');
    }
  }
  return Array.from(kinds, ([name, kind]) => ({ name, kind: kind ?? 'text' }));
}

/**
 * The values of a batch in columns.
 * @param firstRow number of its first row, for messages
 * @param isStrict whether a row that does not fit the columns is refused
 * @throws CliFailure BAD_INPUT that names row and field
 */
export function valuesOf(
  columns: readonly TableColumn[],
  objects: readonly Record<string, unknown>[],
  file: string,
  firstRow: number,
  isStrict: boolean,
): unknown[][] {
  const names = new Set(columns.map(({ name }) => name));
  const values = columns.map(({ name }) => objects.map((object) => object[name] ?? null));
  if (!isStrict) return values;
  objects.forEach((object, i) => {
    const location = { file, row: firstRow + i };
    for (const name of Object.keys(object)) {
      if (!names.has(name)) {
        throw badInput(
          { ...location, column: name },
          'a field that none of the first rows has',
          'A table needs its columns at the start: name the fields to keep with --keep, or write NDJSON.',
        );
      }
    }
    columns.forEach(({ name, kind }) => {
      const found = kindOf(object[name]);
      if (found === null || kind === 'json' || found === kind) return;
      throw badInput(
        { ...location, column: name },
        `${JSON.stringify(object[name])} where the first rows have ${kind === 'double' ? 'a number' : `a ${kind}`}`,
        'Drop the column with --drop, or write NDJSON.',
      );
    });
  });
  return values;
}

/** Parses one JSON object of a file. @throws CliFailure BAD_INPUT for any other JSON, and for text that is none */
export function parseObject(text: string, file: string, row: number): JsonDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badInput({ file, row }, `not JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badInput({ file, row }, `not a JSON object: ${text.slice(0, 40)}`);
  }
  return { text, value: value as Record<string, unknown> };
}
