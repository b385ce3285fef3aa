// A layer of a GeoPackage (OGC 12-128) as rows in columns with kinds, or as CSV.

import { type OtherSystem, otherSystem } from '../../hexcodes/wire/rows/coordinate-system.js';
import { type Shape, shapeOfWkb } from '../../hexcodes/wire/rows/well-known-binary.js';
import { rowsAsCsv } from '../rows-as-csv.js';
import { lonePoint, type PlacedRow, type PointChoice, pointsOf, refuseOthers } from '../shapes/shapes.js';
import { shellWord, TableError } from '../table-error.js';
import { notRead, type SqlColumn, SqliteFile, type SqlValue } from './sqlite-file.js';

/** A column without the geometry. The values of its rows are all of the kind, or null. */
export interface LayerColumn {
  readonly name: string;
  readonly kind: 'long' | 'double' | 'boolean' | 'text' | 'binary';
}

export interface Layer {
  readonly columns: readonly LayerColumn[];
  /** A value of a row of the file; longs are numbers or bigints. */
  valueAt(column: number, row: number): LayerValue;
  /** Rows with their positions, a number of them at most at a time. */
  batches(most: number): Iterable<LayerRows>;
}

export interface LayerRows {
  /** Numbers of rows of the file: one with several points is there several times. */
  readonly rows: readonly number[];
  /** Longitude and latitude of each; NaN of a row without a shape, or with an empty one. */
  readonly points: readonly number[];
}

export type LayerValue = null | number | bigint | boolean | string | Uint8Array;

const ENVELOPE_BYTES = [0, 32, 48, 48, 64];
const EXTENDED = 0x20;
const ROW_BYTES = 64;
const FIELD_BYTES = 32;
/** Rows that become CSV at a time. */
const CSV_ROWS = 1024;

/**
 * @param layer its name; null for the only one
 * @param hold is told of bytes that are held, and throws where they are too many
 * @param passed is told which share of the rows has come
 * @throws TableError
 */
export function layerIn(
  content: Uint8Array,
  layer: string | null,
  choice: PointChoice | null,
  hold: (bytes: number) => void,
  passed?: (share: number) => void,
): Layer {
  const file = new SqliteFile(content);
  const { name, column, systems } = layerOf(file, layer);
  const all = file.columnsOf(name);
  const shapeAt = all.findIndex((each) => each.name.toLowerCase() === column.toLowerCase());
  if (shapeAt < 0) throw new TableError(`the layer ${name} has no column ${column}`);
  // The position is that of the geometry.
  const kept = all.flatMap(({ name }, i) => (i === shapeAt || /^(?:lat|lng)$/i.test(name) ? [] : [i]));
  const kinds = kept.map((i) => new KindInference(all[i]!));
  const held: SqlValue[][] = kept.map(() => []);
  /** Longitudes and latitudes; NaN of a row without a point, and of one with another shape. */
  const points: number[] = [];
  const others = new Map<number, Shape>();
  for (const values of file.rows(name)) {
    let bytes = ROW_BYTES;
    for (let k = 0; k < kept.length; k++) {
      const value = values[kept[k]!]!;
      held[k]!.push(value);
      kinds[k]!.meet(value);
      bytes += FIELD_BYTES;
      if (typeof value === 'string') bytes += 2 * value.length;
      else if (typeof value === 'object') bytes += value?.length ?? 0;
    }
    hold(bytes);
    const shape = shapeIn(values[shapeAt], name, systems);
    const point = shape === null ? null : lonePoint(shape);
    if (shape !== null && point === null) others.set(points.length / 2, shape);
    points.push(point?.[0] ?? Number.NaN, point?.[1] ?? Number.NaN);
  }
  if (choice === null) refuseOthers(others.values());
  const columns = kept.map((i, k) => ({ name: all[i]!.name, kind: kinds[k]!.kind }));
  return {
    columns,
    valueAt: (column, row) => inKind(held[column]![row]!, columns[column]!.kind),
    batches: (most) => batchesOf(points, others, most, choice, passed),
  };
}

function* batchesOf(
  points: readonly number[],
  others: ReadonlyMap<number, Shape>,
  most: number,
  choice: PointChoice | null,
  passed: (share: number) => void = () => undefined,
): Generator<LayerRows> {
  let batch: { rows: number[]; points: number[] } = { rows: [], points: [] };
  for (let row = 0; 2 * row < points.length; row++) {
    passed((2 * row) / points.length);
    const shape = others.get(row);
    const several = shape === undefined ? [] : pointsOf(shape, choice ?? 'first');
    for (let n = 0; n < Math.max(1, several.length); n++) {
      batch.rows.push(row);
      batch.points.push(several[n]?.[0] ?? points[2 * row]!, several[n]?.[1] ?? points[2 * row + 1]!);
      if (batch.rows.length < most) continue;
      yield batch;
      batch = { rows: [], points: [] };
    }
  }
  if (batch.rows.length > 0) yield batch;
  passed(1);
}

/** The layer as CSV: bytes as base 64, booleans as `true` and `false`. */
export function geoPackageAsCsv(
  content: Uint8Array,
  layer: string | null,
  choice: PointChoice | null,
  hold: (bytes: number) => void,
): Iterable<Uint8Array> {
  const { columns, valueAt, batches } = layerIn(content, layer, choice, hold);
  const texts = function* (): Generator<PlacedRow<string | undefined>> {
    for (const { rows, points } of batches(CSV_ROWS))
      for (const [i, row] of rows.entries()) {
        const point = [points[2 * i]!, points[2 * i + 1]!] as const;
        yield {
          fields: columns.map((_, c) => textOf(valueAt(c, row))),
          point: Number.isNaN(point[0]) ? null : point,
        };
      }
  };
  return rowsAsCsv(
    columns.map(({ name }) => name),
    texts(),
  );
}

/** Finds the kind of a column: what it is declared to be, where all values are so, else what they are. */
class KindInference {
  #numbers = 0;
  #wholes = 0;
  #flags = 0;
  #texts = 0;
  #blobs = 0;
  #unsafe = 0;

  constructor(private readonly column: SqlColumn) {}

  meet(value: SqlValue): void {
    if (value === null) return;
    if (typeof value === 'string') this.#texts++;
    else if (typeof value === 'object') this.#blobs++;
    else {
      this.#numbers++;
      if (typeof value === 'bigint' || Number.isInteger(value)) this.#wholes++;
      if (typeof value === 'bigint') this.#unsafe++;
      if (value === 0 || value === 1) this.#flags++;
    }
  }

  get kind(): LayerColumn['kind'] {
    const { type, affinity } = this.column;
    if (this.#texts + this.#blobs + this.#numbers === 0)
      return isBoolean(type)
        ? 'boolean'
        : affinity === 'integer'
          ? 'long'
          : affinity === 'real'
            ? 'double'
            : type === 'BLOB'
              ? 'binary'
              : 'text';
    if (this.#texts + this.#numbers === 0) return 'binary';
    if (this.#texts + this.#blobs > 0) return 'text';
    if (isBoolean(type) && this.#flags === this.#numbers) return 'boolean';
    if (affinity !== 'real' && this.#wholes === this.#numbers) return 'long';
    return this.#unsafe === 0 ? 'double' : 'text';
  }
}

const isBoolean = (type: string): boolean => type === 'BOOLEAN' || type === 'BOOL';

function inKind(value: SqlValue, kind: LayerColumn['kind']): LayerValue {
  if (value === null) return null;
  if (kind === 'boolean') return value === 1;
  return kind === 'text' ? textOf(value)! : value;
}

/** A system of coordinates by its number in the file. */
type Systems = (id: number) => OtherSystem | null;

function layerOf(
  file: SqliteFile,
  wanted: string | null,
): { name: string; column: string; systems: Systems } {
  if (!file.has('gpkg_geometry_columns'))
    throw new TableError(
      'it is a SQLite database without layers of a GeoPackage',
      file.has('geometry_columns')
        ? 'Convert it: ogr2ogr -t_srs EPSG:4326 points.geojson FILE'
        : `Export its table as CSV: sqlite3 -header -csv FILE 'SELECT * FROM "${file.tableNames[0] ?? '…'}"' | hexcodes …`,
    );
  const layers = recordsOf(file, 'gpkg_geometry_columns').map((of) => ({
    name: String(of('table_name')),
    column: String(of('column_name')),
    system: Number(of('srs_id')),
  }));
  const isRead = ({ name }: { name: string }): boolean => !file.isView(name);
  const listed = layers
    .map((layer) => `${JSON.stringify(layer.name)}${isRead(layer) ? '' : ' (a view, which is not read)'}`)
    .join(', ');
  const chosen = wanted === null ? layers : layers.filter(({ name }) => name === wanted);
  if (chosen.length !== 1) {
    const fault = wanted === null ? `${layers.length} layers` : `no layer ${wanted}`;
    const named = layers.find(isRead) ?? layers[0];
    const hint = named === undefined ? undefined : `Name one: --sheet ${JSON.stringify(named.name)}.`;
    throw new TableError(layers.length === 0 ? 'it has no layers' : `${fault}: it has ${listed}`, hint);
  }
  const { name, column, system } = chosen[0]!;
  if (file.isView(name)) throw notRead(`the layer ${name} is a view, which is not read`, name);
  const systems = systemsOf(file);
  const other = systems(system);
  if (other !== null)
    throw new TableError(
      `the layer ${name} is in another system than WGS 84: ${other.called}`,
      `ogr2ogr converts it: ogr2ogr ${other.code === null ? '-s_srs EPSG:… ' : ''}-t_srs EPSG:4326 points.geojson FILE ${shellWord(name)}`,
    );
  return { name, column, systems };
}

/** The rows of a table, each as a reading of its columns by name. */
function recordsOf(file: SqliteFile, table: string): ((column: string) => SqlValue)[] {
  const columns = file.columnsOf(table).map(({ name }) => name.toLowerCase());
  return [...file.rows(table)].map((row) => (column) => row[columns.indexOf(column)] ?? null);
}

/** Numbers of systems are the file's own: a table says what they stand for. */
function systemsOf(file: SqliteFile): Systems {
  const known = new Map<number, OtherSystem | null>();
  if (file.has('gpkg_spatial_ref_sys'))
    for (const of of recordsOf(file, 'gpkg_spatial_ref_sys')) {
      const [id, authority, code] = [
        Number(of('srs_id')),
        of('organization'),
        of('organization_coordsys_id'),
      ];
      const isNamed =
        typeof authority === 'string' && !/^(?:none|custom|)$/i.test(authority) && code !== null;
      // Without an authority its definition says what it is; 0 and -1 are systems that nobody has named.
      const other = isNamed ? otherSystem(`${authority}:${code}`) : otherSystem(of('definition'));
      known.set(
        id,
        id === 0 || id === -1 ? null : isNamed || other === null ? other : { ...other, code: null },
      );
    }
  return (id) => (known.has(id) ? known.get(id)! : otherSystem(id));
}

/** A geometry: a head with an extent, and then well-known binary. @throws TableError for one in another system */
function shapeIn(value: SqlValue | undefined, layer: string, systems: Systems): Shape | null {
  if (!(value instanceof Uint8Array) || value.length < 8 || value[0] !== 0x47 || value[1] !== 0x50)
    return null;
  const flags = value[3]!;
  const envelope = ENVELOPE_BYTES[(flags >> 1) & 7];
  if (envelope === undefined || (flags & EXTENDED) !== 0) return null;
  const shape = shapeOfWkb(value, 8 + envelope);
  const [a, b, c, d] = (flags & 1) === 1 ? [7, 6, 5, 4] : [4, 5, 6, 7];
  const system = (value[a!]! << 24) | (value[b!]! << 16) | (value[c!]! << 8) | value[d!]!;
  const other = systems(system) ?? otherSystem(shape?.system);
  if (other !== null)
    throw notRead(
      `a geometry of the layer ${layer} is in another system than the layer: ${other.called}`,
      layer,
    );
  return shape;
}

function textOf(value: LayerValue): string | undefined {
  if (value === null) return undefined;
  if (!(value instanceof Uint8Array)) return String(value);
  let binary = '';
  for (const byte of value) binary += String.fromCharCode(byte);
  return btoa(binary);
}
