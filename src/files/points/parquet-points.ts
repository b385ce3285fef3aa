// Positions of Parquet from two columns of doubles, with values for those columns only that are wanted: no other column
// is read.

import type { ColumnChoice } from '../columns/columns.js';
import { findPosition, type PositionColumns } from '../columns/position-columns.js';
import type { Input } from '../disk/input.js';
import { badInput, CliFailure, reasonOf } from '../exit-codes.js';
import { UnpackedPages } from '../formats/parquet/codecs.js';
import { readCoordinates } from '../formats/parquet/coordinates.js';
import { chunksOf, type ParquetFile, readParquet, scanOf } from '../formats/parquet/parquet-source.js';
import { checkPages, walkPages } from '../formats/parquet/sound-chunk.js';
import type { TableColumn } from '../formats/table.js';
import { readBy } from '../formats/values/nested.js';
import { ceilingBytes, requireBelowCeiling } from '../held/ceiling.js';
import type { ValueReader } from '../held/row-windows.js';
import { indexesOf, type PointRows, type WantedColumns, type WantedNames } from './wanted.js';

/** Rows of a batch. */
const BATCH_ROWS = 16_384;
const SMALLER_GROUPS = 'Write smaller row groups.';

/** Whether a column of a file holds doubles or floats without any other meaning. */
function isPlainNumber({ elements }: ParquetFile, index: number): boolean {
  const { type, logical_type: logical, converted_type: converted } = elements[index] ?? {};
  return (type === 'DOUBLE' || type === 'FLOAT') && logical === undefined && converted === undefined;
}

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
  let where: PositionColumns;
  try {
    where = findPosition({ names, rows: [] }, choice, input.name);
  } catch {
    // Values may show it.
    return null;
  }
  if (where.kind !== 'pair') return null;
  const { lat, lng } = where;
  // The values of a column of this name are looked at.
  if (choice.lng === undefined && names[lng]!.trim().toLowerCase() === 'x') return null;
  if (!isPlainNumber(file, lat) || !isPlainNumber(file, lng)) return null;
  return { columns, rows: () => pointsOf(input.name, file, lat, lng, indexesOf(columns, wanted)) };
}

async function* pointsOf(
  fileName: string,
  file: ParquetFile,
  lat: number,
  lng: number,
  { numbers, others }: WantedColumns,
): AsyncGenerator<PointRows> {
  const { fields, metadata } = file;
  const pages = new UnpackedPages();
  const scan = await scanOf(file, pages);
  let groupStart = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const location = { file: fileName, row: groupStart + 1 };
    requireBelowCeiling(location, 16 * rows, `a row group of ${rows} rows`, SMALLER_GROUPS);
    const doublesOf = (index: number) =>
      readCoordinates(file, scan, pages, group, groupStart, fields[index]!.column.name, fileName);
    const { degrees: lats } = await doublesOf(lat);
    const { degrees: lngs } = await doublesOf(lng);
    const readers: ValueReader[] = [];
    for (const index of new Set([...numbers, ...others])) {
      const { column, shape } = fields[index]!;
      if (shape === null) continue;
      if (isPlainNumber(file, index)) {
        const { degrees, defined } = await doublesOf(index);
        readers[index] =
          defined === null ? (row) => degrees[row] : (row) => (defined[row] ? degrees[row] : null);
        continue;
      }
      const at = { ...location, column: column.name };
      try {
        const sound = (await chunksOf(file.buffer, metadata, group, column.name, at)).map((chunk) =>
          walkPages(chunk, rows),
        );
        const heldBytes = sound.reduce((sum, each) => sum + each.heldBytes, 0);
        requireBelowCeiling(at, heldBytes, 'a row group', SMALLER_GROUPS);
        for (const each of sound) checkPages(each, pages, ceilingBytes());
        const values = await scan.readColumn({
          column: column.name,
          rowStart: groupStart,
          rowEnd: groupStart + rows,
        });
        if (values.length !== rows) throw new Error(`${values.length} values where ${rows} are due`);
        const read = readBy(shape);
        readers[index] = read === null ? (row) => values[row] : (row) => read(values[row]);
      } catch (error) {
        if (error instanceof CliFailure) throw error;
        throw badInput(at, `cannot be read from here on (${reasonOf(error)})`);
      } finally {
        pages.clear();
      }
    }
    for (let from = 0; from < rows; from += BATCH_ROWS) {
      const rowCount = Math.min(BATCH_ROWS, rows - from);
      const latLngDeg = new Float64Array(2 * rowCount);
      for (let row = 0; row < rowCount; row++) {
        latLngDeg[2 * row] = lats[from + row]!;
        latLngDeg[2 * row + 1] = lngs[from + row]!;
      }
      const values: unknown[][] = [];
      readers.forEach((read, index) => {
        const column = new Array<unknown>(rowCount);
        for (let row = 0; row < rowCount; row++) {
          try {
            column[row] = read(from + row);
          } catch (error) {
            if (error instanceof CliFailure) throw error;
            const at = {
              file: fileName,
              row: groupStart + from + row + 1,
              column: fields[index]!.column.name,
            };
            throw badInput(at, `cannot be read from here on (${reasonOf(error)})`);
          }
        }
        values[index] = column;
      });
      yield { rows: { rowCount, values }, latLngDeg };
    }
    groupStart += rows;
  }
}
