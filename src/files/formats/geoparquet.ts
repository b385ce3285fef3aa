// The columns of geometries that files of Parquet and Arrow declare, by the metadata of GeoParquet (`geo`) or by their
// own types, and whether their coordinates are degrees of WGS 84.

import { repeatedMember } from '../../hexcodes/wire/params/json-grammar.js';
import { otherSystem } from '../../hexcodes/wire/rows/coordinate-system.js';
import { badInput, type CliFailure } from '../exit-codes.js';
import { shellWord } from '../terminal/say.js';

export interface DeclaredGeometries {
  /** The column of the position; undefined where the file does not say which of several it is. */
  readonly primary: string | undefined;
  /** Whether the values of a column are lists of longitude and latitude, or structs of x and y. */
  arePairs(column: string): boolean;
  /** Why the values of a column cannot be used as positions; null where they can. */
  faultOf(column: string): CliFailure | null;
}

/** A column declared by its own type: a logical type of Parquet, an extension type of Arrow (`geoarrow.wkb`). */
export interface TypedGeometry {
  readonly name: string;
  readonly encoding: 'wkb' | 'wkt' | 'point';
  /** Coordinate system of the type; undefined if it has none. */
  readonly crs: unknown;
}

/** A member of `columns` in the metadata, for another file: without statements about the rows of one file. */
export interface GeometryMember {
  readonly version: unknown;
  readonly isPrimary: boolean;
  readonly member: Readonly<Record<string, unknown>>;
}

/** Encodings that are read; all others hold no points. */
const READ: ReadonlySet<string> = new Set(['wkb', 'point']);

/**
 * @param geo the text of the metadata `geo`; undefined where there is none
 * @param typed the columns whose own types declare them
 * @returns undefined where nothing is declared, or nothing that can be read
 */
export function declaredGeometries(
  geo: string | undefined,
  typed: readonly TypedGeometry[],
  file: string,
): DeclaredGeometries | undefined {
  const { primary_column: named, columns = {} } = geoIn(geo);
  const primary =
    typeof named === 'string' && Object.hasOwn(columns, named)
      ? named
      : new Set(typed.map(({ name }) => name)).size === 1
        ? typed[0]!.name
        : undefined;
  if (primary === undefined && typed.length === 0) return undefined;
  return {
    primary,
    arePairs: (column) => typed.some(({ name, encoding }) => name === column && encoding === 'point'),
    faultOf(column) {
      const twice = geo === undefined ? undefined : repeatedMember(geo);
      if (twice !== undefined)
        return badInput(
          { file, column },
          `the metadata geo gives ${JSON.stringify(twice)} more than once, with different values`,
          'Write the metadata with one value of it',
        );
      const described = Object.hasOwn(columns, column) ? columns[column] : undefined;
      const ofTypes = typed.flatMap((each) => (each.name === column ? (typedFault(each, file) ?? []) : []));
      return (described === undefined ? null : faultOf(column, described, file)) ?? ofTypes[0] ?? null;
    },
  };
}

/** An extension type with its metadata, as Arrow stores them with a field; undefined for any other field. */
export function geoArrowIn(
  name: string,
  metadata: ReadonlyMap<string, string> | null,
): TypedGeometry | undefined {
  const extension = metadata?.get('ARROW:extension:name');
  const [, encoding] = /^(?:geoarrow|ogc)\.(wkb|wkt|point)$/.exec(extension ?? '') ?? [];
  if (encoding === undefined) return undefined;
  const said = metadata?.get('ARROW:extension:metadata')?.trim() ?? '';
  return {
    name,
    encoding: encoding as TypedGeometry['encoding'],
    crs: said === '' ? undefined : crsIn(said),
  };
}

function crsIn(said: string): unknown {
  try {
    const { crs } = Object(JSON.parse(said)) as { crs?: unknown };
    return repeatedMember(said) === undefined ? crs : said;
  } catch {
    return said;
  }
}

function typedFault({ name, encoding, crs }: TypedGeometry, file: string): CliFailure | null {
  const other = otherSystem(crs);
  if (other === null) return null;
  const column = JSON.stringify(name);
  const system = JSON.stringify(other.code ?? 'EPSG:…');
  const series =
    encoding === 'point'
      ? `g.GeoSeries.from_xy(*zip(*(p.values() if isinstance(p, dict) else p for p in t[${column}])), crs=${system})`
      : `g.GeoSeries.from_${encoding}(t[${column}], crs=${system})`;
  const [read, write] = pandasFor(file);
  const program = `import sys, pandas, pyarrow.ipc, geopandas as g; t = ${read}; t[${column}] = ${series}.to_crs(4326).to_${encoding === 'wkt' ? 'wkt' : 'wkb'}(); t.${write}`;
  return badInput(
    { file, column: name },
    `the geometries are in another system than WGS 84: ${other.called}`,
    `geopandas converts it: python3 -c ${shellWord(program)} ${shellWord(file)}`,
  );
}

/** How pandas and geopandas read a file, after `pandas` or `geopandas`, and the method that writes it. */
function pandasFor(file: string, module = 'pandas'): [read: string, write: string] {
  if (/\.arrows$/i.test(file))
    return ['pyarrow.ipc.open_stream(sys.argv[1]).read_pandas()', 'to_feather("points.arrow")'];
  return /\.(?:arrow|feather|ipc)$/i.test(file)
    ? [`${module}.read_feather(sys.argv[1])`, 'to_feather("points.arrow")']
    : [`${module}.read_parquet(sys.argv[1])`, 'to_parquet("points.parquet")'];
}

interface GeoMetadata {
  readonly version?: unknown;
  readonly primary_column?: unknown;
  readonly columns?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

function geoIn(geo: string | undefined): GeoMetadata {
  if (geo === undefined) return {};
  try {
    const { columns, ...others } = JSON.parse(geo) as GeoMetadata;
    const isRead = (column: unknown): boolean => typeof column === 'object' && column !== null;
    if (!isRead(columns)) return {};
    return {
      ...others,
      columns: Object.fromEntries(Object.entries(columns!).filter(([, each]) => isRead(each))),
    };
  } catch {
    return {};
  }
}

/** The columns of geometries in well-known binary, by name. */
export function geometriesIn(geo: string | undefined): ReadonlyMap<string, GeometryMember> {
  const found = new Map<string, GeometryMember>();
  const { version, primary_column: primary, columns = {} } = geoIn(geo);
  for (const [name, column] of Object.entries(columns)) {
    if (String(column['encoding']).toUpperCase() !== 'WKB') continue;
    // A box covers all rows, and a covering names columns of boxes: neither holds for another file.
    const { bbox: _, covering: __, ...member } = column;
    found.set(name, { version, isPrimary: name === primary, member });
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
  const [read, write] = pandasFor(file, 'geopandas');
  const geopandas = (steps: string): string =>
    `geopandas converts it: python3 -c 'import sys, geopandas; ${read}${steps}.${write}' ${shellWord(file)}`;
  const system = otherSystem(crs);
  if (system !== null)
    return badInput(
      { file, column: name },
      `the geometries are in another system than WGS 84: ${system.called}`,
      geopandas('.to_crs(4326)'),
    );
  if (READ.has(String(encoding).toLowerCase())) return null;
  return badInput(
    { file, column: name },
    `the geometries are encoded as ${JSON.stringify(encoding)}, which is not read`,
    geopandas(''),
  );
}
