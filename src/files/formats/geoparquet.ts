// The metadata of GeoParquet, also in Arrow: the column of geometries, and whether its coordinates are degrees of
// WGS 84.

import { badInput, type CliFailure } from '../exit-codes.js';
import { shellWord } from '../terminal/say.js';

export interface GeometryColumn {
  readonly name: string;
  /** Why its values cannot be taken for positions; null where they can. */
  readonly fault: CliFailure | null;
}

/** A member of `columns` in the metadata, for another file: without what is true of the rows of one alone. */
export interface GeometryMember {
  readonly version: unknown;
  readonly isPrimary: boolean;
  readonly member: Readonly<Record<string, unknown>>;
}

const DEGREES: ReadonlySet<string> = new Set(['EPSG:4326', 'EPSG:4979', 'OGC:CRS84', 'OGC:CRS84H']);
/** Encodings that are read; all others hold no points. */
const READ: ReadonlySet<string> = new Set(['wkb', 'point']);

/** @param geo the text of the metadata `geo`; undefined where there is none, or none that can be read */
export function geometryIn(geo: string | undefined, file: string): GeometryColumn | undefined {
  if (geo === undefined) return undefined;
  let name: unknown;
  let column: { encoding?: unknown; crs?: unknown } | undefined;
  try {
    const read = JSON.parse(geo) as { primary_column?: unknown; columns?: Record<string, typeof column> };
    name = read.primary_column;
    column = typeof name === 'string' ? read.columns?.[name] : undefined;
  } catch {
    return undefined;
  }
  if (typeof name !== 'string' || typeof column !== 'object' || column === null) return undefined;
  return { name, fault: faultOf(name, column, file) };
}

/** The columns of geometries in well-known binary, by their names. */
export function geometriesIn(geo: string | undefined): ReadonlyMap<string, GeometryMember> {
  const found = new Map<string, GeometryMember>();
  if (geo === undefined) return found;
  try {
    const { version, primary_column: primary, columns } = JSON.parse(geo) as Record<string, unknown>;
    for (const [name, column] of Object.entries(columns as Record<string, Record<string, unknown>>)) {
      if (String(column['encoding']).toUpperCase() !== 'WKB') continue;
      // A box is that of all rows, and a covering names columns of boxes.
      const { bbox: _, covering: __, ...member } = column;
      found.set(name, { version, isPrimary: name === primary, member });
    }
  } catch {
    return new Map();
  }
  return found;
}

/** The metadata of GeoParquet for columns that are written; undefined where none is one of geometries. */
export function geoMetadata(
  columns: readonly { readonly name: string; readonly geo?: GeometryMember }[],
): string | undefined {
  const members = columns.flatMap(({ name, geo }) => (geo === undefined ? [] : [{ name, ...geo }]));
  const first = members.find(({ isPrimary }) => isPrimary) ?? members[0];
  if (first === undefined) return undefined;
  return JSON.stringify({
    version: first.version,
    primary_column: first.name,
    columns: Object.fromEntries(members.map(({ name, member }) => [name, member])),
  });
}

function faultOf(
  name: string,
  { encoding, crs }: { encoding?: unknown; crs?: unknown },
  file: string,
): CliFailure | null {
  const geopandas = (steps: string): string =>
    `geopandas converts it: python3 -c 'import sys, geopandas; geopandas.read_parquet(sys.argv[1])${steps}.to_parquet("points.parquet")' ${shellWord(file)}`;
  const system = systemOf(crs);
  if (system !== null)
    return badInput(
      { file, column: name },
      `the geometries are in another system than WGS 84: ${system}`,
      geopandas('.to_crs(4326)'),
    );
  if (READ.has(String(encoding).toLowerCase())) return null;
  return badInput(
    { file, column: name },
    `the geometries are encoded as ${JSON.stringify(encoding)}, which is not read`,
    geopandas(''),
  );
}

/** The name of a system of coordinates; null for WGS 84, and where nobody has named one. */
function systemOf(crs: unknown): string | null {
  if (crs === undefined || crs === null) return null;
  // Before version 0.4 of the format: WKT, which ends in the number of the system.
  if (typeof crs === 'string') {
    const [, authority = '', code = ''] = /ID\["(\w+)",\s*"?(\w+)"?\]\s*\]\s*$/i.exec(crs) ?? [];
    const called = `${authority}:${code}`;
    return DEGREES.has(called.toUpperCase()) ? null : called === ':' ? crs.slice(0, 40) : called;
  }
  const { id, name } = crs as { id?: { authority?: unknown; code?: unknown }; name?: unknown };
  const called = id === undefined ? '' : `${id.authority}:${id.code}`;
  if (DEGREES.has(called.toUpperCase())) return null;
  return called === '' ? String(name) : `${called} (${name})`;
}
