// A layer of a GeoPackage as rows in columns: `lat` and `lng` of its geometries stand after its other columns.

import { statSync } from 'node:fs';
import { type Layer, type LayerRows, type LayerValue, layerIn } from '../../tables/geopackage/geopackage.js';
import { TableError } from '../../tables/table-error.js';
import { asInputFault, held } from '../content/brought.js';
import type { Input } from '../disk/input.js';
import { addValue } from '../rows/text-rows.js';
import { BATCH_ROWS, POSITION_COLUMNS, type TableRows, type TableSource } from './table.js';

/** @throws CliFailure BAD_INPUT */
export async function openGeoPackage(input: Input): Promise<TableSource> {
  const { bytes, hold } = await held(input.chunks(), input.name);
  try {
    refuseChangesBeside(input.name);
    const layer = layerIn(bytes, input.sheet ?? null, input.point ?? null, hold, input.passed);
    const columns = [...layer.columns, ...POSITION_COLUMNS];
    return {
      columns,
      position: { lat: columns.length - 2, lng: columns.length - 1 },
      async *batches() {
        for (const batch of layer.batches(BATCH_ROWS)) yield tableRows(layer, batch);
      },
    };
  } catch (error) {
    throw asInputFault(error, input.name);
  }
}

function tableRows({ columns, valueAt }: Layer, { rows, points }: LayerRows): TableRows {
  const longAt = (c: number, row: number): LayerValue => {
    const value = valueAt(c, row);
    return columns[c]!.kind === 'long' && typeof value === 'number' ? BigInt(value) : value;
  };
  const degrees = (axis: 0 | 1, count: number): (number | null)[] =>
    rows.slice(0, count).map((_, i) => orNull(points[2 * i + axis]!));
  const first = (count: number): TableRows['values'] => [
    ...columns.map((_, c) => rows.slice(0, count).map((row) => longAt(c, row))),
    degrees(1, count),
    degrees(0, count),
  ];
  return {
    rowCount: rows.length,
    get values() {
      return first(rows.length);
    },
    firstValues: first,
    asBytes({ adders, isTyped }) {
      const wanted = [...adders.keys()].filter((c) => adders[c] !== null);
      const read = isTyped ? longAt : valueAt;
      return {
        values: [],
        add(i, text, ranges, to) {
          for (const c of wanted) {
            const value =
              c < columns.length
                ? read(c, rows[i]!)
                : orNull(points[2 * i + (c === columns.length ? 1 : 0)]!);
            addValue(text, ranges[c]!, to, value, adders[c]!);
          }
          return true;
        },
        readPositions(latLngDeg) {
          for (let i = 0; i < points.length; i += 2) {
            latLngDeg[i] = points[i + 1]!;
            latLngDeg[i + 1] = points[i]!;
          }
        },
      };
    },
  };
}

const orNull = (degrees: number): number | null => (Number.isNaN(degrees) ? null : degrees);

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
