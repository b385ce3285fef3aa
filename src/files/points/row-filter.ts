// `--where 'speed > 5'`: keeps rows whose value in a column satisfies a comparison. Numbers compare as numbers, times
// as instants, everything else as text; a value in quotes is a text, except for columns typed as numbers or times. A
// row without a value is not kept.

import { badUsage } from '../exit-codes.js';
import type { ColumnKind, TableColumn, TableRows } from '../formats/table.js';
import { codeTextOf } from '../formats/values/column-text.js';
import { columnNamed, numberOf } from './values.js';
import { instantOf, type ZoneClock } from './zone-clock.js';

type Comparison = '<' | '<=' | '>' | '>=' | '=' | '!=';

export interface Condition {
  readonly column: string;
  readonly comparison: Comparison;
  readonly value: string;
  readonly isQuoted: boolean;
}

const CONDITION = /^\s*(.+?)\s*(<=|>=|!=|<>|==|=|<|>)\s*(.*?)\s*$/s;
const ALIASES: Readonly<Record<string, Comparison>> = { '<>': '!=', '==': '=' };
const QUOTED = /^(['"])(.*)\1$/s;
/** An invalid bare value: the rest of a wrong operator (`=> 5`, `!== 5`), or a second condition. */
const MISTAKEN = /^[<>=]|\s(?:and|or)\s.*[<>=]/is;

/** @throws CliFailure USAGE for any other text */
export function conditionOf(text: string): Condition {
  const [, column, sign, value] = CONDITION.exec(text) ?? [];
  if (column === undefined || sign === undefined || !value || MISTAKEN.test(value))
    throw badUsage(
      `--where ${JSON.stringify(text)}: must be COLUMN OP VALUE, with =, !=, <, <=, > or >= as OP`,
      `As in --where 'speed > 5'. Several --where must all be true. A text with these signs is written in quotes.`,
    );
  const quoted = QUOTED.exec(value)?.[2];
  return {
    column,
    comparison: ALIASES[sign] ?? (sign as Comparison),
    value: quoted ?? value,
    isQuoted: quoted !== undefined,
  };
}

const NUMBERS: ReadonlySet<ColumnKind> = new Set([
  'double',
  'float',
  'int',
  'uint',
  'long',
  'ulong',
  'decimal',
]);

/** Whether a row of a batch is kept. */
export type RowFilter = (rows: TableRows, row: number) => boolean;

/** @throws CliFailure BAD_INPUT for a column that does not exist */
export function rowFilter(
  conditions: readonly Condition[],
  columns: readonly TableColumn[],
  file: string,
  clock: ZoneClock,
): RowFilter {
  const tests = conditions.map((condition) => {
    const at = columnNamed(columns, condition.column, file);
    const matches = testOf(columns[at]!, condition, clock);
    return ({ values }: TableRows, row: number): boolean => matches(values[at]?.[row]);
  });
  return (rows, row) => tests.every((test) => test(rows, row));
}

function testOf(
  column: TableColumn,
  { comparison, value, isQuoted }: Condition,
  clock: ZoneClock,
): (value: unknown) => boolean {
  const text: TableColumn = { name: '', kind: 'text' };
  if (column.kind === 'timestamp' || column.kind === 'date') {
    const wanted = instantOf(text, value, clock);
    if (Number.isNaN(wanted)) throw badUsage(`--where: ${column.name} holds times, and ${value} is not one`);
    return (given) => compares(instantOf(column, given, clock), wanted, comparison);
  }
  const isText = isQuoted && !NUMBERS.has(column.kind);
  const wanted = isText ? undefined : numberOf(text, value);
  if (wanted !== null && wanted !== undefined) {
    const rounded = Number(wanted);
    return (given) => {
      const number = numberOf(column, given);
      if (number === null || number === undefined) return false;
      // A double, or a decimal as one, is compared with the nearest double, as in SQL.
      return compares(number, typeof number === 'number' ? rounded : wanted, comparison);
    };
  }
  // A column of JSON may hold texts further on.
  if (NUMBERS.has(column.kind) && column.isInferred !== true)
    throw badUsage(`--where: ${column.name} holds numbers, and ${value} is not one`);
  return (given) => {
    if (given === null || given === undefined) return false;
    const words = codeTextOf(column, given);
    return words !== '' && compares(words, value, comparison);
  };
}

function compares<T extends number | bigint | string>(given: T, wanted: T, comparison: Comparison): boolean {
  switch (comparison) {
    case '<':
      return given < wanted;
    case '<=':
      return given <= wanted;
    case '>':
      return given > wanted;
    case '>=':
      return given >= wanted;
    case '=':
      // A bigint and a number of the same value.
      return given >= wanted && given <= wanted;
    case '!=':
      return given < wanted || given > wanted;
  }
}
