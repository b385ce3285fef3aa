// Columns for rows that are JSON objects: their names and kinds are taken from the first rows. A later row with a
// field that those did not have, or with another kind of value, cannot go into a table and is refused by name.

import { badInput } from '../../file-faults.js';
import type { ColumnKind, JsonDocument, TableColumn } from './table.js';

function kindOf(value: unknown): ColumnKind | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return 'double';
  if (typeof value === 'boolean') return 'boolean';
  return typeof value === 'string' ? 'text' : 'json';
}

/** The columns that the first rows have, in the order in which they appear. */
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
 * The values of some rows in columns.
 * @param firstRow number of the first of them, for messages
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
    const place = { file, row: firstRow + i };
    for (const name of Object.keys(object)) {
      if (!names.has(name)) {
        throw badInput(
          { ...place, column: name },
          'a field that none of the first rows has',
          'A table needs its columns at the start: name the fields to keep with --keep, or write NDJSON.',
        );
      }
    }
    columns.forEach(({ name, kind }) => {
      const found = kindOf(object[name]);
      if (found === null || kind === 'json' || found === kind) return;
      throw badInput(
        { ...place, column: name },
        `${JSON.stringify(object[name])} where the first rows have ${kind === 'double' ? 'a number' : `a ${kind}`}`,
        'Drop the column with --drop, or write NDJSON.',
      );
    });
  });
  return values;
}

/** Parses one JSON object of a file. */
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
