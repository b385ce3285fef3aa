// The columns of an input that a conversion reads, those that it keeps, and those that it adds.

import { columnsNamed } from '../../wire/rows/column-names.js';
import { CliFailure, EXIT } from '../exit-codes.js';
import { badInput } from '../file-faults.js';
import type { TableColumn } from './formats/table.js';

/** The column options of the command line; names as in the file. */
export interface ColumnChoice {
  readonly lat?: string | undefined;
  readonly lng?: string | undefined;
  /** Column of hexcodes. */
  readonly code?: string | undefined;
  readonly keep?: readonly string[] | undefined;
  readonly drop?: readonly string[] | undefined;
  /** Put before the names of the columns that we add. */
  readonly prefix: string;
}

const LAT_NAMES = ['lat', 'latitude'];
const LNG_NAMES = ['lng', 'longitude', 'lon'];
const CODE_NAMES = ['hexcodes'];
const RESOLUTION_NAMES = ['resolution'];

/** Indexes of columns. */
export interface EncodeColumns {
  readonly lat: number;
  readonly lng: number;
  /** -1 if there is none. */
  readonly resolution: number;
}

/** @throws CliFailure BAD_INPUT that lists the columns of the file if a needed one is missing or ambiguous */
export function encodeColumns(names: readonly string[], choice: ColumnChoice, file: string): EncodeColumns {
  return {
    lat: requireColumn(names, choice.lat, LAT_NAMES, '--lat', file),
    lng: requireColumn(names, choice.lng, LNG_NAMES, '--lng', file),
    resolution: findColumn(names, RESOLUTION_NAMES, file),
  };
}

/** Index of the column of hexcodes. @throws CliFailure as `encodeColumns` */
export function codeColumn(names: readonly string[], choice: ColumnChoice, file: string): number {
  return requireColumn(names, choice.code, CODE_NAMES, '--column', file);
}

/** Never one of two. -1 if there is none. */
function findColumn(names: readonly string[], wanted: readonly string[], file: string): number {
  const found = columnsNamed(names, wanted);
  if (found.length > 1) {
    const both = found.map((i) => names[i]).join(', ');
    throw badInput({ file }, `more than one column could be ${wanted[0]}: ${both}`);
  }
  return found[0] ?? -1;
}

function requireColumn(
  names: readonly string[],
  chosen: string | undefined,
  usual: readonly string[],
  option: string,
  file: string,
): number {
  const found = chosen === undefined ? findColumn(names, usual, file) : names.indexOf(chosen);
  if (found >= 0) return found;
  const missing = chosen ?? usual.join(' or ');
  const has = names.length === 0 ? 'it has no columns' : `it has ${names.slice(0, 20).join(', ')}`;
  const similar = names.find(
    (name) => usual.includes(name.toLowerCase()) || /^(?:lat|l[ao]n|y|x)/i.test(name),
  );
  const hint = `Name it with ${option}${similar === undefined ? '' : `, perhaps ${option} ${JSON.stringify(similar)}`}.`;
  throw badInput({ file }, `no column ${missing}: ${has}`, chosen === undefined ? hint : undefined);
}

/** Indexes of the columns that are kept, in the order of the output. */
export function keptColumns(columns: readonly TableColumn[], choice: ColumnChoice, file: string): number[] {
  const names = columns.map(({ name }) => name);
  for (const [option, listed] of [
    ['--keep', choice.keep],
    ['--drop', choice.drop],
  ] as const) {
    for (const name of listed ?? []) {
      if (!names.includes(name)) throw badInput({ file, column: name }, `no such column, named by ${option}`);
    }
  }
  if (choice.keep !== undefined) return choice.keep.map((name) => names.indexOf(name));
  return names.flatMap((name, i) => (choice.drop?.includes(name) === true ? [] : [i]));
}

export const ENCODE_ADDED: readonly TableColumn[] = [
  { name: 'hexcodes', kind: 'text' },
  { name: 'resolution', kind: 'int' },
  { name: 'admin_code', kind: 'text' },
  { name: 'status', kind: 'text' },
];

export const DECODE_ADDED: readonly TableColumn[] = [
  { name: 'lat', kind: 'double' },
  { name: 'lng', kind: 'double' },
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
  const named = added.map((column) => ({ ...column, name: prefix + column.name }));
  const clash = named.find(({ name }) => kept.some((column) => column.name === name));
  if (clash === undefined) return named;
  throw new CliFailure(
    EXIT.USAGE,
    `${file}: there is a column ${clash.name} already, and we add one of this name`,
    'Rename ours with --prefix, or leave theirs out with --drop.',
  );
}
