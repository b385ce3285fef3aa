// `hexcodes diff OLD NEW FILE`: which positions or codes of a file have another code with a new boundary index.

import type { Command } from 'commander';
import {
  codeColumn,
  findPosition,
  positionIndexes,
  positionReader,
  withoutContradictions,
} from '../../files/columns/position-columns.js';
import { badUsage, CliFailure, EXIT, reasonOf } from '../../files/exit-codes.js';
import { requireFormat } from '../../files/format.js';
import type { TableRows } from '../../files/formats/table.js';
import { codeTextOf } from '../../files/formats/values/column-text.js';
import { readDataFiles } from '../../files/library.js';
import { type CsvOptions, requireResolution } from '../../files/request.js';
import { counted, grouped, say, visible } from '../../files/terminal/say.js';
import { HexcodesError } from '../../hexcodes/errors.js';
import { NOT_A_COORDINATE } from '../../hexcodes/kernel/kernel.js';
import { DEFAULT_RESOLUTION, Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { codeColumns } from '../../hexcodes/wire/rows/column-names.js';
import { codeIn } from '../../hexcodes/wire/rows/csv-fields.js';
import { addPositionOptions, addTextOptions } from '../conversion-options.js';
import { openTable } from '../point-options.js';

interface Options extends CsvOptions {
  readonly lat?: string;
  readonly lng?: string;
  readonly position?: string;
  readonly column?: string;
  readonly from?: string;
  readonly resolution?: string;
  readonly quiet?: boolean;
}

/** Old and new code of a row, empty if it has none. */
type Pair = readonly [before: string, after: string];
/** Both codes of each row of a batch; null for a row that is neither position nor code. */
type Compare = (rows: TableRows) => (Pair | null)[];

export default function declare(program: Command): void {
  addTextOptions(
    addPositionOptions(
      program
        .command('diff')
        .description(
          'Compare two boundary indexes: list the rows of a file whose code has another province with the new one.',
        )
        .argument('<old>', 'boundary index, as data/index.bin')
        .argument('<new>', 'boundary index')
        .argument('<file>', 'positions or codes, in any format that encode reads; - for stdin')
        .option('--column <column>', 'column of hexcodes; default hexcodes, where there is one'),
    )
      .option('-r, --resolution <0-15>', `of the codes of positions; default ${DEFAULT_RESOLUTION}`)
      .option('--from <format>', 'format of the file; default: by extension or content'),
  )
    .option('-q, --quiet', 'no summary on stderr')
    .addHelpText(
      'after',
      `
Writes CSV to stdout: row, old, new; a field is empty where the position has no code. A code is judged
by the centre of its cell. Exits with 0 if no code changes, with 1 if one does.

Examples:
  $ hexcodes diff index-2025.bin index-2026.bin shops.csv
  $ hexcodes diff index-2025.bin index-2026.bin orders.csv --column place`,
    )
    .action(async (before: string, after: string, file: string, options: Options) => {
      const libraries = [await libraryOf(before), await libraryOf(after)] as const;
      await listChanges(libraries, file, options);
    });
}

async function libraryOf(path: string): Promise<Hexcodes> {
  try {
    return Hexcodes.from(await readDataFiles(path));
  } catch (error) {
    const at = (error as NodeJS.ErrnoException).path ?? (error instanceof HexcodesError ? path : undefined);
    if (at === undefined) throw error;
    throw new CliFailure(EXIT.BAD_INPUT, `${at}: ${reasonOf(error)}`);
  }
}

async function listChanges(
  libraries: readonly [before: Hexcodes, after: Hexcodes],
  path: string,
  options: Options,
): Promise<void> {
  const resolution =
    options.resolution === undefined ? DEFAULT_RESOLUTION : requireResolution(options.resolution);
  const from = options.from === undefined ? null : requireFormat(options.from, '--from');
  const isCode = (text: string): boolean => libraries[0].isValid(text);
  const { input, source, sample, hasHeader } = await openTable(path, options, from, isCode);
  const { lat, lng, position, column } = options;
  const choice = { lat, lng, position, code: column, prefix: '' };
  const isPositions = [lat, lng, position].some((each) => each !== undefined);
  const isCodes = column !== undefined || (!isPositions && codeColumns(sample.names).length > 0);
  if (isCodes && (isPositions || options.resolution !== undefined))
    throw badUsage('a column of codes is compared: --resolution and columns of positions do not apply to it');
  let compare: Compare;
  let indexes: readonly number[];
  if (isCodes) {
    const at = codeColumn(sample, choice, input.name, isCode, hasHeader);
    indexes = [at];
    compare = ({ rowCount, values }) =>
      Array.from({ length: rowCount }, (_, row) =>
        codesOfCode(libraries, codeTextOf(source.columns[at]!, values[at]?.[row])),
      );
  } else {
    const where = findPosition(sample, choice, input.name, hasHeader);
    const read = positionReader(source.columns, where);
    indexes = positionIndexes(where);
    compare = (rows) => {
      const latLngDeg = new Float64Array(2 * rows.rowCount);
      read(rows, latLngDeg);
      return Array.from({ length: rows.rowCount }, (_, row) =>
        codesOfPosition(libraries, latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!, resolution),
      );
    };
  }
  const counts = { rows: 0, changed: 0, unread: 0, first: '' };
  process.stdout.write('row,old,new\n');
  for await (const batch of source.batches()) {
    const rows = withoutContradictions(batch, source.columns, indexes);
    for (const [row, pair] of compare(rows).entries()) {
      counts.rows++;
      const reason = rows.unread?.get(row);
      if (pair === null || reason !== undefined) {
        if (counts.unread++ === 0)
          counts.first = `the first in row ${counts.rows}${reason === undefined ? '' : `: ${visible(reason)}`}`;
        continue;
      }
      if (pair[0] === pair[1]) continue;
      counts.changed++;
      // Set now, because the reader of the list may leave.
      process.exitCode = EXIT.FAILED;
      process.stdout.write(`${counts.rows},${pair[0]},${pair[1]}\n`);
    }
  }
  input.close();
  const unread = counts.unread === 0 ? '' : `; ${grouped(counts.unread)} not understood, ${counts.first}`;
  if (options.quiet !== true)
    say(`${counted(counts.rows, 'row')}: ${counted(counts.changed, 'change')}${unread}\n`);
}

/** The codes of a position with both indexes. */
function codesOfPosition(
  libraries: readonly [Hexcodes, Hexcodes],
  latDeg: number,
  lngDeg: number,
  resolution: number,
): Pair | null {
  const codes = libraries.map(({ kernel }) => {
    const status = kernel.exports.encodeOne(latDeg, lngDeg, resolution);
    return status === 0 ? kernel.textAt(0) : status === NOT_A_COORDINATE ? null : '';
  });
  return codes.includes(null) ? null : (codes as unknown as Pair);
}

/** The code's cell with the province of its centre in each index. */
function codesOfCode([before, after]: readonly [Hexcodes, Hexcodes], text: string): Pair | null {
  const read = before.read(codeIn(text));
  if (read === null) return null;
  const { cell, lat, lng, hexcodes } = read;
  const [old, now] = [before.adminCodeOf(lat, lng), after.adminCodeOf(lat, lng)];
  if (old === now) return [hexcodes, hexcodes];
  return [hexcodes, now === null ? '' : (after.pack(cell, now) ?? '')];
}
