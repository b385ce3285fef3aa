// Key values in the footer of Parquet describe its columns beside the schema: the zones in which people read instants,
// which Arrow's schema has (`ARROW:schema`, of pyarrow, pandas and Polars), and the geometries of GeoParquet (`geo`).

import type { KeyValue, SchemaElement } from 'hyparquet';
import {
  type DeclaredGeometries,
  declaredGeometries,
  geoMetadata,
  geometriesIn,
  type TypedGeometry,
} from '../geoparquet.js';
import type { TableColumn } from '../table.js';
import type { ShapedColumn } from '../values/nested.js';

const ARROW_SCHEMA = 'ARROW:schema';
const GEO = 'geo';

/** The columns with their zones and geometries. */
export async function describedFields(
  fields: readonly ShapedColumn[],
  said: readonly KeyValue[] | undefined,
): Promise<readonly ShapedColumn[]> {
  const saidOf = (wanted: string): string | undefined => said?.find(({ key }) => key === wanted)?.value;
  const geometries = geometriesIn(saidOf(GEO));
  const schema = fields.some(({ column }) => isInstant(column)) ? arrowSchemaIn(said) : undefined;
  const zones = schema === undefined ? null : await (await import('../arrow/schema-text.js')).zonesIn(schema);
  return fields.map(({ column, shape }) => {
    const zone = isInstant(column) ? zones?.get(column.name) : undefined;
    const geo = column.kind === 'binary' ? geometries.get(column.name) : undefined;
    return {
      column: { ...column, ...(zone === undefined ? {} : { zone }), ...(geo === undefined ? {} : { geo }) },
      shape,
    };
  });
}

/** The columns that a file declares to be geometries: by `geo`, by their logical types, by the schema of Arrow. */
export async function geometriesOf(
  elements: readonly (SchemaElement | null)[],
  said: readonly KeyValue[] | undefined,
  file: string,
): Promise<DeclaredGeometries | undefined> {
  const saidOf = (wanted: string): string | undefined => said?.find(({ key }) => key === wanted)?.value;
  const logical = elements.flatMap((element): TypedGeometry[] => {
    const type = element?.logical_type;
    if (type?.type !== 'GEOMETRY' && type?.type !== 'GEOGRAPHY') return [];
    // A system may be kept under a key of its own.
    const [, key] = /^projjson:(.*)$/.exec(type.crs ?? '') ?? [];
    const crs = key === undefined ? type.crs : (saidOf(key) ?? type.crs);
    return [{ name: element!.name, encoding: 'wkb', crs }];
  });
  const schema = arrowSchemaIn(said);
  const typed =
    schema === undefined ? [] : await (await import('../arrow/schema-text.js')).geoArrowColumns(schema);
  return declaredGeometries(saidOf(GEO), [...logical, ...typed], file);
}

/** The key value of Arrow's schema; undefined where a file has none. */
export function arrowSchemaIn(said: readonly KeyValue[] | undefined): string | undefined {
  return said?.find(({ key }) => key === ARROW_SCHEMA)?.value;
}

/**
 * The key values of columns that are written.
 * @param source Arrow's schema of the file whose columns the first ones are, as they were
 */
export async function keyValuesOf(
  columns: readonly TableColumn[],
  source?: { readonly text: string; readonly kept: number },
): Promise<KeyValue[]> {
  const said: KeyValue[] = [];
  const geo = geoMetadata(columns);
  if (geo !== undefined) said.push({ key: GEO, value: geo });
  if (
    source !== undefined ||
    columns.some((column) => isInstant(column) && (column.zone ?? 'UTC') !== 'UTC')
  ) {
    const { schemaText } = await import('../arrow/schema-text.js');
    said.push({ key: ARROW_SCHEMA, value: await schemaText(columns, source) });
  }
  return said;
}

function isInstant({ kind, isUtc }: TableColumn): boolean {
  return kind === 'timestamp' && isUtc === true;
}
