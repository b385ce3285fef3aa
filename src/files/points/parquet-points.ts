// Positions of Parquet from two columns of doubles, with the values of requested columns: no other column is read.

import type { ColumnChoice } from '../columns/columns.js';
import { columnsOfDegrees, isDouble } from '../columns/position-columns.js';
import type { Input } from '../disk/input.js';
import {
  columnReader,
  groupsOf,
  interleave,
  type ParquetFile,
  readCoordinates,
  readParquet,
} from '../formats/parquet/parquet-source.js';
import type { TableColumn } from '../formats/table.js';
import { requireBelowCeiling, rowWindows, type ValueReader } from '../held/ceiling.js';
import { indexesOf, type PointRows, type WantedColumns, type WantedNames } from './values.js';

const SMALLER_GROUPS = 'Write smaller row groups.';

/**
 * All rows of an input, if its position is in two columns that are read here; null otherwise.
 * @throws CliFailure BAD_INPUT as the source of formats/parquet
 */
export async function parquetPoints(
  input: Input,
  choice: ColumnChoice,
  wanted: WantedNames,
): Promise<{ columns: readonly TableColumn[]; rows: () => AsyncGenerator<PointRows> } | null> {
  const file = await readParquet(input);
  const columns = file.fields.map(({ column }) => column);
  const names = columns.map(({ name }) => name);
  const isDegrees = (index: number): boolean => isDouble(file.elements, index);
  let where: ReturnType<typeof columnsOfDegrees>;
  try {
    where = columnsOfDegrees(choice, names, isDegrees, input.name);
  } catch {
    // Values may show it.
    return null;
  }
  if (typeof where === 'string') return null;
  const { lat, lng } = where;
  return { columns, rows: () => pointsOf(input.name, file, lat, lng, indexesOf(columns, wanted)) };
}

async function* pointsOf(
  fileName: string,
  file: ParquetFile,
  lat: number,
  lng: number,
  { numbers, others }: WantedColumns,
): AsyncGenerator<PointRows> {
  const { fields } = file;
  for await (const reading of groupsOf(file, fileName)) {
    const { rows, groupStart } = reading;
    const location = { file: fileName, row: groupStart + 1 };
    requireBelowCeiling(location, 16 * rows, `a row group of ${rows} rows`, SMALLER_GROUPS);
    const doublesOf = (index: number) => readCoordinates(reading, fields[index]!.column.name);
    const { degrees: lats } = await doublesOf(lat);
    const { degrees: lngs } = await doublesOf(lng);
    const wanted = [...new Set([...numbers, ...others])];
    const readers: ValueReader[] = [];
    for (const index of wanted) {
      if (isDouble(file.elements, index)) {
        const { degrees, defined } = await doublesOf(index);
        readers.push(
          defined === null ? (row) => degrees[row] : (row) => (defined[row] ? degrees[row] : null),
        );
      } else readers.push(await columnReader(reading, index, { bytes: 0 }));
    }
    const names = wanted.map((index) => fields[index]!.column.name);
    let from = 0;
    for (const read of rowWindows(rows, readers, { file: fileName, firstRow: location.row, names })) {
      const { rowCount } = read;
      const latLngDeg = new Float64Array(2 * rowCount);
      interleave(latLngDeg, lats, lngs, from, rowCount);
      from += rowCount;
      const values: ArrayLike<unknown>[] = [];
      for (const [n, index] of wanted.entries()) values[index] = read.values[n]!;
      yield { rows: { rowCount, values }, latLngDeg };
    }
  }
}
