// A layer of a GeoPackage as rows in columns: `lat` and `lng` of its geometries stand after its other columns.

import { statSync } from 'node:fs';
import { type LayerValue, layerIn } from '../../tables/geopackage/geopackage.js';
import type { PlacedRow } from '../../tables/shapes/shape-rows.js';
import { TableError } from '../../tables/table-error.js';
import { asInputFault, held } from '../content/brought.js';
import type { Input } from '../disk/input.js';
import { BATCH_ROWS, type TableColumn, type TableRows, type TableSource } from './table.js';

/** @throws CliFailure BAD_INPUT */
export async function openGeoPackage(input: Input): Promise<TableSource> {
  const { bytes, hold } = await held(input.chunks(), input.name);
  try {
    refuseChangesBeside(input.name);
    const layer = layerIn(bytes, input.sheet ?? null, input.point ?? null, hold, input.passed);
    const columns: TableColumn[] = [
      ...layer.columns,
      { name: 'lat', kind: 'double' },
      { name: 'lng', kind: 'double' },
    ];
    return {
      columns,
      position: { lat: columns.length - 2, lng: columns.length - 1 },
      async *batches() {
        let rows: PlacedRow<LayerValue>[] = [];
        for (const row of layer.rows()) {
          if (rows.push(row) < BATCH_ROWS) continue;
          yield inColumns(columns, rows);
          rows = [];
        }
        if (rows.length > 0) yield inColumns(columns, rows);
      },
    };
  } catch (error) {
    throw asInputFault(error, input.name);
  }
}

function inColumns(columns: readonly TableColumn[], rows: readonly PlacedRow<LayerValue>[]): TableRows {
  const own = columns.slice(0, -2).map(({ kind }, c) =>
    rows.map(({ fields }) => {
      const value = fields[c]!;
      return kind === 'long' && typeof value === 'number' ? BigInt(value) : value;
    }),
  );
  const ofPoint = (axis: 0 | 1): (number | null)[] => rows.map(({ point }) => point?.[axis] ?? null);
  return { rowCount: rows.length, values: [...own, ofPoint(1), ofPoint(0)] };
}

/** @throws TableError for a database whose last changes are in a log or a journal beside it */
function refuseChangesBeside(file: string): void {
  for (const beside of [`${file}-wal`, `${file}-journal`]) {
    const log = statSync(beside, { throwIfNoEntry: false });
    if (log === undefined || log.size === 0) continue;
    throw new TableError(
      `its last changes are in ${beside}`,
      'Close it in the program that has it open, or convert it: ogr2ogr -t_srs EPSG:4326 points.geojson FILE',
    );
  }
}
