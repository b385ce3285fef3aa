// The boundary data in use, as /v1/meta and /v1/admin-units show them.
import { createHash } from 'node:crypto';
import { ProvinceBorders } from '../../hexcodes/geometry/province-borders.js';
import { type IndexMeta, readIndexMeta } from '../../hexcodes/kernel/index-file.js';
import type { HexcodesData } from '../../hexcodes/library/hexcodes.js';
import { VERSION } from '../../hexcodes/version.js';
import { entityTag } from './freshness.js';

/** The boundary data in use. */
export interface BoundaryData {
  readonly meta: IndexMeta;
  readonly sha256: string;
  /** The entity tag of every answer that depends on nothing but this version and its data. */
  readonly tag: string;
  /** The provinces before July 2025 by unit of the index; null where it lacks them. */
  readonly formerProvinces: readonly string[] | null;
  /** The area of a province, by its admin number, as a GeoJSON geometry. */
  geometryOf(adminNumber: number): unknown;
}

export function boundaryData(
  { index, reach }: HexcodesData,
  formerProvinces: readonly string[] | null,
): BoundaryData {
  let borders: ProvinceBorders | undefined;
  return {
    meta: readIndexMeta(index),
    formerProvinces,
    sha256: createHash('sha256').update(index).digest('hex'),
    tag: entityTag(VERSION, index, reach),
    geometryOf: (admin) => {
      borders ??= new ProvinceBorders(index);
      return borders.ofAdmin(admin);
    },
  };
}
