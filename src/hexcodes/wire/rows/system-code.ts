// Systems of coordinates by the number or identifier that a registry gives them.

/** A system other than WGS 84. */
export interface OtherSystem {
  /** Its name for messages, at most some 80 letters. */
  readonly called: string;
  /** As programs take it, `EPSG:4756`; null where it has no number. */
  readonly code: string | null;
}

/** WGS 84 in two and in three dimensions, and its realizations, which differ by centimetres. */
export const DEGREES: ReadonlySet<string> = new Set([
  'EPSG:4326',
  'EPSG:4979',
  'OGC:CRS84',
  'OGC:CRS84H',
  'CRS:CRS84',
  'CRS:84',
  'EPSG:9053',
  'EPSG:9054',
  'EPSG:9055',
  'EPSG:9056',
  'EPSG:9057',
  'EPSG:9755',
]);
const MAX_SHOWN = 60;

/** A system that is known by a name alone. */
export function unknown(called: string): OtherSystem {
  return { called: called.length > MAX_SHOWN ? `${called.slice(0, MAX_SHOWN)}…` : called, code: null };
}

/** @returns null for WGS 84 */
export function byCode(authority: unknown, code: unknown, name?: unknown): OtherSystem | null {
  // PostGIS and Parquet number systems as EPSG does.
  const of = /^srid$/i.test(String(authority)) ? 'EPSG' : String(authority).toUpperCase();
  const id = `${of}:${String(code).toUpperCase()}`;
  if (DEGREES.has(id)) return null;
  const { called } = unknown(id);
  return { called: typeof name === 'string' ? `${called} (${unknown(name).called})` : called, code: id };
}

/** The system that geometries number, as EWKB and GeoPackage do: null for WGS 84, and for 0 and -1, which name none. */
export const byNumber = (code: number): OtherSystem | null =>
  code === 0 || code === -1 ? null : byCode('EPSG', code);
