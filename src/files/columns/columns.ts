// The kept columns of an input, and the columns that decode adds; encode-columns.ts has those of encode,
// position-columns.ts finds the columns to read.

import type { MemberChoice } from '../../hexcodes/wire/bulk/convert-lines.js';
import { listed } from '../../hexcodes/wire/bulk/csv-header.js';
import type { FirstRows } from '../../tables/positions.js';
import { badInput, badUsage, type CliFailure } from '../exit-codes.js';
import type { DeclaredGeometries } from '../formats/geoparquet.js';
import { POSITION_COLUMNS, type TableColumn, typesOf } from '../formats/table.js';

/** The column options of the command line; names as in the file. */
export interface ColumnChoice {
  readonly lat?: string | undefined;
  readonly lng?: string | undefined;
  readonly position?: string | undefined;
  readonly code?: string | undefined;
  readonly keep?: readonly string[] | undefined;
  readonly drop?: readonly string[] | undefined;
  /** Prefix of the columns that we add. */
  readonly prefix: string;
}

/** The first rows of an input. */
export interface Sample extends FirstRows {
  /** Its columns of geometries, where the file declares them. */
  readonly geometries?: DeclaredGeometries | undefined;
  /** Indexes of the columns that its geometries become. */
  readonly position?: { readonly lat: number; readonly lng: number } | undefined;
}

const has = (names: readonly string[]): string =>
  names.length === 0 ? 'it has no columns' : `it has ${listed(names)}`;

/** The failure for a column that does not exist. */
export function noColumn(names: readonly string[], missing: string, file: string, hint?: string): CliFailure {
  return badInput({ file }, `no column ${missing || '""'}: ${has(names)}`, hint);
}

/** The failure for a file whose columns have other names or types than in the first file of the run. */
export function otherColumns(
  columns: readonly TableColumn[],
  file: string,
  first: readonly TableColumn[],
  firstFile: string,
): CliFailure {
  const names = (of: readonly TableColumn[]): string[] => of.map(({ name }) => name);
  if (JSON.stringify(names(columns)) !== JSON.stringify(names(first)))
    return otherNames(names(columns), file, firstFile);
  const other = columns.find((column, c) => typesOf([column]) !== typesOf([first[c]!]));
  return badInput(
    { file, column: other!.name },
    `another type than in ${firstFile}`,
    'Convert each file by itself.',
  );
}

/** The failure for a file whose header differs from that of the first file of the run. */
export function otherNames(names: readonly string[], file: string, firstFile: string): CliFailure {
  return badInput(
    { file },
    `other columns than ${firstFile}: ${has(names)}`,
    'Files of one run have the same columns, in the same order and with the same delimiter: convert this file by itself.',
  );
}

/** The only one of some columns; -1 if there is none. @throws CliFailure BAD_INPUT for several */
export function onlyOne(
  names: readonly string[],
  found: readonly number[],
  wanted: string,
  file: string,
): number {
  if (found.length <= 1) return found[0] ?? -1;
  const both = listed(found.map((i) => names[i]!));
  throw badInput({ file }, `more than one column could be ${wanted}: ${both}`);
}

/** @throws CliFailure BAD_INPUT for a name that two columns have, with the remedy */
export function refuseTwice(columns: readonly TableColumn[], file: string, wayOut: string): void {
  const seen = new Set<string>();
  for (const { name } of columns) {
    if (seen.has(name)) throw badInput({ file, column: name }, 'the header names it twice', wayOut);
    seen.add(name);
  }
}

/** Whether a table has neither columns nor rows, as NDJSON of no lines: it lacks no column. */
export const isNothing = ({ names, rows }: Sample): boolean => names.length === 0 && rows.length === 0;

/** Indexes of the columns that are kept, in the order of the output. */
export function keptColumns(columns: readonly TableColumn[], choice: ColumnChoice, file: string): number[] {
  const names = columns.map(({ name }) => name);
  if (names.length === 0) return [];
  for (const [option, wanted] of [
    ['--keep', choice.keep],
    ['--drop', choice.drop],
  ] as const) {
    for (const name of wanted ?? []) {
      if (!names.includes(name)) throw badInput({ file, column: name }, `no such column, named by ${option}`);
    }
  }
  const kept =
    choice.keep === undefined
      ? names.flatMap((name, i) => (choice.drop?.includes(name) === true ? [] : [i]))
      : [...new Set(choice.keep.map((name) => names.indexOf(name)))];
  const twice = choice.keep?.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  refuseTwice(
    twice === undefined ? kept.map((index) => columns[index]!) : columns,
    file,
    'Leave both out with --drop, or give one another name in the header.',
  );
  return kept;
}

/** The members of a row of NDJSON that are kept; --drop does not remove a member that only later rows have. */
export function chosenMembers(
  { keep, drop }: ColumnChoice,
  added: readonly TableColumn[],
): { readonly chosen?: MemberChoice } {
  if (keep !== undefined) return { chosen: { isKept: true, names: [...new Set(keep)] } };
  if (drop === undefined) return {};
  return { chosen: { isKept: false, names: [...new Set([...drop, ...added.map(({ name }) => name)])] } };
}

export const DECODE_ADDED: readonly TableColumn[] = [
  ...POSITION_COLUMNS,
  { name: 'resolution', kind: 'int' },
  { name: 'status', kind: 'text' },
];

/** Our columns with their prefix. @throws CliFailure USAGE if a kept column has one of these names */
export function addedColumns(
  added: readonly TableColumn[],
  kept: readonly TableColumn[],
  prefix: string,
  file: string,
): TableColumn[] {
  const named = added.map(({ name, kind }) => ({ name: prefix + name, kind }));
  const clash = named.find(({ name }) => kept.some((column) => column.name === name));
  if (clash === undefined) return named;
  throw badUsage(
    `${file}: there is a column ${clash.name} already, and we add one of this name`,
    'Rename ours with --prefix, or leave theirs out with --drop.',
  );
}
