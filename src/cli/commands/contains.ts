// `hexcodes contains FILES --in LIST`: which points lie in the cells of a list of codes, and in which zone.

import type { Command } from 'commander';
import { otherColumns } from '../../files/columns/columns.js';
import { codeColumn, withoutContradictions } from '../../files/columns/position-columns.js';
import { badInput, badUsage } from '../../files/exit-codes.js';
import { type FileFormat, FORMATS } from '../../files/format.js';
import { refuseUnreadRows } from '../../files/formats/csv/csv.js';
import { sampled } from '../../files/formats/open.js';
import { type TableColumn, type TableRows, typesOf } from '../../files/formats/table.js';
import { codeTextOf } from '../../files/formats/values/column-text.js';
import { requireBelowCeiling } from '../../files/held/ceiling.js';
import { loadLibrary } from '../../files/library.js';
import { cellsOf, runPoints } from '../../files/points/run-points.js';
import { duration } from '../../files/terminal/progress.js';
import { counted, grouped } from '../../files/terminal/say.js';
import { HexcodesError } from '../../hexcodes/errors.js';
import { CellSet } from '../../hexcodes/geometry/cover.js';
import { OK } from '../../hexcodes/kernel/kernel.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { columnCalled } from '../../hexcodes/wire/rows/column-names.js';
import { codeIn } from '../../hexcodes/wire/rows/csv-fields.js';
import { addPointOptions, formatTo, openTable, type PointOptions, pointFilesOf } from '../point-options.js';

interface Options extends PointOptions {
  readonly in: string;
  readonly column?: string;
  readonly all?: boolean;
}

/** Approximate memory of a code of the list, with its zone and its cell in the set. */
const CODE_BYTES = 160;

interface ZoneList {
  readonly cells: CellSet;
  /** Whether the list names zones. */
  readonly hasZones: boolean;
}

export default function declare(program: Command): void {
  addPointOptions(
    program
      .command('contains')
      .description('Keep the points that lie in the cells of a list of codes, as cover makes it.')
      .argument('[files...]', 'files of points in any format that encode reads; stdin without')
      .requiredOption('--in <file>', 'the list: a file with a column of codes, and perhaps a column zone')
      .option('--column <column>', 'column of the codes in the list; default hexcodes')
      .option('--all', 'keep all points, with a column inside, or zone where the list has zones'),
  )
    .addHelpText(
      'after',
      `
A cell that stands twice in the list belongs to its first zone. With --all a point outside has no zone; if the list has
no zones, a column inside is true or false. Cells are compared, not provinces: of a list of several resolutions, as
--compact makes it, the cells above the point's cell of the finest one. Near the edges of a larger cell, encode -r can
name its neighbour.

Examples:
  $ hexcodes cover zones.geojson --name district > zones.csv
  $ hexcodes contains orders.csv --in zones.csv -o delivered.csv
  $ hexcodes contains pings.parquet --in depot.csv --all --to ndjson`,
    )
    .action(contains);
}

async function contains(files: string[], options: Options): Promise<void> {
  const hexcodes = await loadLibrary();
  const { cells, hasZones } = await readList(hexcodes, options.in, options.column);
  const isAll = options.all === true;
  const added: TableColumn[] = hasZones
    ? [{ name: 'zone', kind: 'text' }]
    : isAll
      ? [{ name: 'inside', kind: 'boolean' }]
      : [];
  let inside = 0;
  let first: { columns: readonly TableColumn[]; file: string } | undefined;
  const { rows, elapsedMs } = await runPoints(hexcodes, {
    files: pointFilesOf(files, options),
    lists: [options.in],
    output: { output: options.output, format: formatTo(options) },
    isQuiet: options.quiet === true,
    async take(batch, output) {
      const { columns, file, rows: read } = batch;
      if (first === undefined) {
        first = { columns, file };
        refuseUntyped(output.format, columns);
        const clash = added.find(({ name }) => columns.some((column) => column.name === name));
        if (clash !== undefined)
          throw badInput({ file, column: clash.name }, 'there is such a column already, and we add one');
        // The geometry of a row comes behind its values.
        const geometryOf = (values: TableRows['values'], row: number): string =>
          values.at(-1)![row] as string;
        await output.open([...columns, ...added], () => [geometryOf, batch.pair]);
      } else if (typesOf(columns) !== typesOf(first.columns))
        throw otherColumns(columns, file, first.columns, first.file);
      for (const { row, cell, status } of cellsOf(hexcodes, batch, cells.resolution)) {
        const zone = status === OK ? cells.nameOf(cell.toString(16)) : undefined;
        if (zone !== undefined) inside++;
        else if (!isAll) continue;
        const ours: unknown[] = hasZones ? [zone ?? null] : isAll ? [zone !== undefined] : [];
        if (output.format === 'geojson') ours.push(pointText(batch.latLngDeg, row));
        await output.add([...columns.map((_, c) => read.values[c]?.[row]), ...ours]);
      }
    },
  });
  if (options.quiet !== true)
    process.stderr.write(
      `${counted(rows, 'row')} in ${duration(elapsedMs)}: ${grouped(inside)} inside ${counted(cells.size, 'cell')}\n`,
    );
}

/** The position of a row as a geometry; `null` without. */
function pointText(latLngDeg: Float64Array, row: number): string {
  const [lat, lng] = latLngDeg.subarray(2 * row, 2 * row + 2) as unknown as [number, number];
  const isPoint = Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
  return isPoint ? JSON.stringify({ type: 'Point', coordinates: [lng, lat] }) : 'null';
}

/** @throws CliFailure USAGE for these formats, which need types that columns of JSON do not have */
function refuseUntyped(format: FileFormat, columns: readonly TableColumn[]): void {
  if (FORMATS[format].hasTypes && columns.some(({ isInferred }) => isInferred === true))
    throw badUsage(`rows of JSON are not written as ${format} here`, 'Take --to ndjson or --to csv.');
}

async function readList(hexcodes: Hexcodes, path: string, column: string | undefined): Promise<ZoneList> {
  const isCode = (text: string): boolean => hexcodes.isValid(text);
  const { input, source: opened, hasHeader } = await openTable(path, {}, null, isCode);
  const { source, sample } = await sampled(opened);
  const at = codeColumn(sample, { code: column, prefix: '' }, input.name, isCode, hasHeader);
  const zoneAt = columnCalled(sample.names, 'zone');
  const codes: (readonly [string, string])[] = [];
  let heldBytes = 0;
  for await (const batch of source.batches()) {
    refuseUnreadRows(
      withoutContradictions(batch, source.columns, [at, zoneAt]),
      input.name,
      codes.length + 1,
    );
    const { rowCount, values } = batch;
    for (let row = 0; row < rowCount; row++) {
      const code = codeIn(codeTextOf(source.columns[at]!, values[at]?.[row]));
      if (!isCode(code))
        throw badInput(
          { file: input.name, row: codes.length + 1 },
          `${JSON.stringify(code)} is not a hexcode`,
        );
      const zone = zoneAt < 0 ? '' : codeTextOf(source.columns[zoneAt]!, values[zoneAt]?.[row]);
      heldBytes += CODE_BYTES + 2 * zone.length;
      codes.push([code, zone]);
    }
    requireBelowCeiling(
      { file: input.name },
      heldBytes,
      'the list',
      'Make it with cover --compact, or of a coarser resolution.',
    );
  }
  input.close();
  if (codes.length === 0) throw badInput({ file: input.name }, 'the list has no codes');
  try {
    return { cells: new CellSet(hexcodes, codes), hasZones: zoneAt >= 0 };
  } catch (error) {
    if (error instanceof HexcodesError) throw badInput({ file: input.name }, error.message);
    throw error;
  }
}
