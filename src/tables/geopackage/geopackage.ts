// A layer of a GeoPackage (OGC 12-128) as rows.

import { type Shape, shapeOfWkb } from '../../hexcodes/wire/rows/well-known-binary.js';
import { type ShapeRow, shapesAsCsv } from '../shapes/shape-rows.js';
import type { PointChoice } from '../shapes/shapes.js';
import { TableError } from '../table-error.js';
import { SqliteFile, type SqlValue } from './sqlite-file.js';

/** WGS 84, and the two numbers for a system that nobody has named. */
const DEGREES = new Set([4326, 0, -1]);
const ENVELOPE_BYTES = [0, 32, 48, 48, 64];
const FIELD_BYTES = 32;

/**
 * @param layer its name; null for the only one
 * @param hold is told of bytes that are held, and throws where they are too many
 * @throws TableError
 */
export function geoPackageAsCsv(
  content: Uint8Array,
  layer: string | null,
  choice: PointChoice | null,
  hold: (bytes: number) => void,
): Iterable<Uint8Array> {
  const file = new SqliteFile(content);
  const table = layerOf(file, layer);
  const names = file.columnsOf(table.name);
  const shapeAt = names.findIndex((name) => name.toLowerCase() === table.column.toLowerCase());
  if (shapeAt < 0) throw new TableError(`the layer ${table.name} has no column ${table.column}`);
  const rows: ShapeRow[] = [];
  for (const values of file.rows(table.name)) {
    const fields = values.filter((_, i) => i !== shapeAt).map(textOf);
    for (const field of fields) hold(FIELD_BYTES + 2 * (field?.length ?? 0));
    rows.push({ fields, shape: shapeIn(values[shapeAt]) });
  }
  return shapesAsCsv(
    names.filter((_, i) => i !== shapeAt),
    rows,
    choice,
  );
}

function layerOf(file: SqliteFile, wanted: string | null): { name: string; column: string } {
  if (!file.has('gpkg_geometry_columns'))
    throw new TableError(
      'it is a SQLite database without layers of a GeoPackage',
      file.has('geometry_columns')
        ? 'Convert it: ogr2ogr -t_srs EPSG:4326 points.geojson FILE'
        : `Export its table as CSV: sqlite3 -header -csv FILE 'SELECT * FROM "${file.tableNames[0] ?? '…'}"' | hexcodes …`,
    );
  const columns = file.columnsOf('gpkg_geometry_columns');
  const layers = [...file.rows('gpkg_geometry_columns')].map((row) => {
    const of = (name: string): SqlValue => row[columns.indexOf(name)] ?? null;
    return {
      name: String(of('table_name')),
      column: String(of('column_name')),
      system: Number(of('srs_id')),
    };
  });
  const listed = layers.map(({ name }) => JSON.stringify(name)).join(', ');
  const chosen = wanted === null ? layers : layers.filter(({ name }) => name === wanted);
  if (chosen.length !== 1) {
    const fault = wanted === null ? `${layers.length} layers` : `no layer ${wanted}`;
    const hint = layers.length === 0 ? undefined : `Name one: --sheet ${JSON.stringify(layers[0]!.name)}.`;
    throw new TableError(layers.length === 0 ? 'it has no layers' : `${fault}: it has ${listed}`, hint);
  }
  const layer = chosen[0]!;
  if (!DEGREES.has(layer.system))
    throw new TableError(
      `the layer ${layer.name} is in another system than WGS 84: ${layer.system}`,
      'ogr2ogr converts it: ogr2ogr -t_srs EPSG:4326 points.geojson FILE',
    );
  return layer;
}

/** A geometry: a head with an extent, and then well-known binary. */
function shapeIn(value: SqlValue | undefined): Shape | null {
  if (!(value instanceof Uint8Array) || value[0] !== 0x47 || value[1] !== 0x50) return null;
  const envelope = ENVELOPE_BYTES[((value[3] ?? 0) >> 1) & 7];
  return envelope === undefined ? null : shapeOfWkb(value.subarray(8 + envelope));
}

function textOf(value: SqlValue): string | undefined {
  if (value === null) return undefined;
  if (!(value instanceof Uint8Array)) return String(value);
  let binary = '';
  for (const byte of value) binary += String.fromCharCode(byte);
  return btoa(binary);
}
