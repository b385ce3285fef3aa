// `hexcodes check FILES`: whether every text of a column is a hexcode. Lists the rows where it is not, each with
// suggestions, those nearest to the codes of the rows around it first.

import type { Command } from 'commander';
import { codeColumn, withoutContradictions } from '../../files/columns/position-columns.js';
import { withoutEmpty } from '../../files/disk/input.js';
import { badUsage, EXIT, requireCount } from '../../files/exit-codes.js';
import { type FileFormat, requireFormat } from '../../files/format.js';
import { codeTextOf } from '../../files/formats/values/column-text.js';
import { loadLibrary } from '../../files/library.js';
import type { CsvOptions } from '../../files/request.js';
import { counted, grouped, paintFor, visible } from '../../files/terminal/say.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { codeIn } from '../../hexcodes/wire/rows/csv-fields.js';
import { addTextOptions } from '../conversion-options.js';
import { openTable } from '../point-options.js';
import { suggestionsFor } from './other-command.js';

interface Options extends CsvOptions {
  column?: string;
  from?: string;
  limit: string;
  canonical?: boolean;
  quiet?: boolean;
  json?: boolean;
}

export default function declare(program: Command): void {
  addTextOptions(
    program
      .command('check')
      .description('Check that every code of a column is a hexcode; list those that are not.')
      .argument('[files...]', 'files in any format that encode reads; stdin without')
      .option('--column <column>', 'column of the hexcodes; default hexcodes')
      .option('--from <format>', 'format of the input; default: by extension or content'),
  )
    .option('--canonical', 'a code that is not in canonical form counts as invalid too')
    .option('--limit <n>', 'invalid rows to list', '20')
    .option('--json', 'one JSON object: rows, invalid, and the rows that are listed')
    .option('-q, --quiet', 'say nothing; the exit code tells')
    .addHelpText(
      'after',
      `
Exits with 0 if all codes are valid, with 1 if not.

Examples:
  $ hexcodes check orders.csv --column place
  $ hexcodes check codes.parquet --canonical --limit 5`,
    )
    .action(async (files: string[], options: Options) => {
      const limit = requireCount('--limit', options.limit, 0, 1_000_000);
      const from = options.from === undefined ? null : requireFormat(options.from, '--from');
      if (options.json === true && options.quiet === true)
        throw badUsage('--json and --quiet exclude each other');
      const listed: InvalidRow[] = [];
      const list = options.json === true ? (row: InvalidRow) => void listed.push(row) : print;
      let rows = 0;
      let invalid = 0;
      for (const path of files.length === 0 ? ['-'] : await withoutEmpty(files, from, {})) {
        const counts = await checkFile(path, from, options, Math.max(0, limit - invalid), list);
        rows += counts.rows;
        invalid += counts.invalid;
      }
      if (options.json === true) process.stdout.write(`${JSON.stringify({ rows, invalid, listed })}\n`);
      else if (options.quiet !== true) {
        const paint = paintFor(process.stdout);
        const verdict =
          invalid === 0 ? paint('green', 'all valid') : paint('red', `${grouped(invalid)} invalid`);
        process.stdout.write(`${counted(rows, 'code')}: ${verdict}\n`);
      }
    });
}

interface InvalidRow {
  readonly file: string;
  /** From 1, without the header. */
  readonly row: number;
  /** Text of the column; absent where the row itself is at fault. */
  readonly text?: string;
  readonly reason?: string;
  /** Suggested codes, as text. */
  readonly perhaps?: string;
}

function print({ file, row, text, reason, perhaps }: InvalidRow): void {
  const what = reason ?? JSON.stringify(text);
  const hint = perhaps === undefined ? '' : `  perhaps ${perhaps}`;
  process.stdout.write(`${visible(file)}, row ${row}: ${visible(what)}${visible(hint)}\n`);
}

type Read = NonNullable<ReturnType<Hexcodes['read']>>;

/** Rows after an invalid one that are searched for the next code. */
const NEXT_ROWS = 100;

function nextCode(
  hexcodes: Hexcodes,
  textAt: (row: number) => string,
  from: number,
  rowCount: number,
): Read | null {
  for (let row = from; row < Math.min(rowCount, from + NEXT_ROWS); row++) {
    const read = hexcodes.read(codeIn(textAt(row)));
    if (read !== null) return read;
  }
  return null;
}

/** @param listed invalid rows to list at most */
async function checkFile(
  path: string,
  from: FileFormat | null,
  options: Options,
  listed: number,
  list: (row: InvalidRow) => void,
): Promise<{ rows: number; invalid: number }> {
  const hexcodes = await loadLibrary();
  const isCode = (text: string): boolean => hexcodes.isValid(text);
  const choice = { code: options.column, prefix: '' };
  const { input, source, sample, hasHeader } = await openTable(path, options, from, isCode, choice);
  const at = codeColumn(sample, choice, input.name, isCode, hasHeader);
  const column = source.columns[at];
  if (column === undefined) return { rows: 0, invalid: 0 };
  let rows = 0;
  let invalid = 0;
  let before: Read | null = null;
  for await (const batch of source.batches()) {
    const { rowCount, values, unread } = withoutContradictions(batch, source.columns, [at]);
    for (let row = 0; row < rowCount; row++) {
      rows++;
      const reason = unread?.get(row);
      if (reason !== undefined) {
        process.exitCode = EXIT.FAILED;
        if (invalid++ < listed && options.quiet !== true) list({ file: input.name, row: rows, reason });
        continue;
      }
      const text = codeTextOf(column, values[at]?.[row]);
      const read = hexcodes.read(codeIn(text));
      const isMeant = read !== null && (options.canonical !== true || read.hexcodes === text);
      if (read !== null) before = read;
      if (isMeant) continue;
      // Set now, because the reader of the list may leave.
      process.exitCode = EXIT.FAILED;
      if (invalid++ >= listed || options.quiet === true) continue;
      const textAt = (later: number): string => codeTextOf(column, values[at]?.[later]);
      const near = [before, nextCode(hexcodes, textAt, row + 1, rowCount)].filter((each) => each !== null);
      const meant = suggestionsFor(hexcodes, text, near);
      const perhaps = meant === null ? {} : { perhaps: meant.words };
      list({ file: input.name, row: rows, text, ...perhaps });
    }
  }
  input.close();
  return { rows, invalid };
}
