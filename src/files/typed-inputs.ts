// Inputs of columns with types whose positions are two columns of doubles, as three ways want them: by-chunks-plan.ts,
// by-rows.ts and points/parquet-points.ts.

import type { SchemaElement } from 'hyparquet';
import type { ColumnChoice } from './columns/columns.js';
import { findPosition } from './columns/position-columns.js';
import { type Input, openInput } from './disk/input.js';
import type { Run } from './request.js';

/**
 * Calls `look` with each input while it is open.
 * @returns the first reason that `look` gives against this way, or that an input is not a plain file; else undefined
 */
export async function lookAtFiles(
  { request }: Run,
  look: (input: Input) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const path of request.inputs) {
    if (path === '-') return 'the input is a pipe';
    const input = await openInput(path, request.input);
    try {
      if (input.path === null || input.sizeBytes === null || input.isPacked)
        return `${input.name} is packed or a pipe`;
      const reason = await look(input);
      if (reason !== undefined) return reason;
    } finally {
      input.close();
    }
  }
  return undefined;
}

/** Whether a column of Parquet is one of doubles or floats. */
export function isDouble(elements: readonly (SchemaElement | null)[], index: number): boolean {
  const { type, logical_type: logical, converted_type: converted } = elements[index] ?? {};
  return (type === 'DOUBLE' || type === 'FLOAT') && logical === undefined && converted === undefined;
}

/**
 * The columns of latitude and longitude, two of doubles; or in words why there are none.
 * @param isDegrees whether a column is one of doubles or floats
 */
export function columnsOfDegrees(
  choice: ColumnChoice,
  names: readonly string[],
  isDegrees: (index: number) => boolean,
  file: string,
): { readonly lat: number; readonly lng: number } | string {
  const where = findPosition({ names, rows: [] }, choice, file);
  if (where.kind !== 'pair') return 'positions are in one column';
  // The values of a column of this name are checked elsewhere.
  if (choice.lng === undefined && names[where.lng]!.trim().toLowerCase() === 'x') return 'x may hold metres';
  for (const index of [where.lat, where.lng])
    if (!isDegrees(index)) return `${names[index]} is not a column of doubles`;
  return where;
}
