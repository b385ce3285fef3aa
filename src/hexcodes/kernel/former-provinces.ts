// The 63 provinces before July 2025, as units of a boundary index. The shipped index has them as its units; an index
// that users make of new boundaries has the 34 provinces alone.

import { ADMIN_UNITS } from '../admin-units.js';
import { readIndexMeta } from './index-file.js';

/**
 * The names of the units in their order, as in `mergedUnits` of ADMIN_UNITS; null unless they are all those provinces.
 */
export function formerProvincesOf(index: Uint8Array): readonly string[] | null {
  let units: readonly { readonly name: string; readonly admin: number }[];
  try {
    units = readIndexMeta(index).units;
  } catch {
    return null;
  }
  const wanted = ADMIN_UNITS.flatMap(({ mergedUnits }, admin) =>
    mergedUnits.map((name) => `${admin} ${name}`),
  );
  const found = new Set(units.map(({ name, admin }) => `${admin} ${name}`));
  const areAll = units.length === wanted.length && wanted.every((each) => found.has(each));
  return areAll ? units.map(({ name }) => name) : null;
}
