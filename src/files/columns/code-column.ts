// The column of hexcodes that decode reads: named by an option or by its name; of a list, the only column.

import { codeColumns } from '../../hexcodes/wire/rows/column-names.js';
import { type ColumnChoice, columnCalled, noColumn, onlyOne, type Sample, textsOf } from './columns.js';

/**
 * Index of the column of hexcodes.
 * @param hasHeader whether the names are those of a header row
 * @throws CliFailure BAD_INPUT that lists the columns of the file, and proposes one whose values are codes
 */
export function codeColumn(
  sample: Sample,
  choice: ColumnChoice,
  file: string,
  isCode: (text: string) => boolean,
  hasHeader = true,
): number {
  const { names } = sample;
  const chosen = choice.code;
  const found =
    chosen === undefined ? onlyOne(names, codeColumns(names), 'hexcodes', file) : columnCalled(names, chosen);
  if (found >= 0) return found;
  const fitting = names.flatMap((_, i) => {
    const texts = textsOf(sample, i);
    return texts.length > 0 && texts.every((text) => text.length >= 4 && isCode(text)) ? [i] : [];
  });
  const isList = names.length === 1;
  if (chosen === undefined && isList && (!hasHeader || fitting.length === 1)) return 0;
  if (chosen === undefined && !hasHeader && fitting.length === 1) return fitting[0]!;
  const perhaps = fitting.map((i) => `--column ${JSON.stringify(names[i])}`).join(' or ');
  const hint = perhaps === '' ? 'Name it with --column.' : `Name it with --column, perhaps ${perhaps}.`;
  throw noColumn(names, chosen ?? 'hexcodes', file, hint);
}
