// The rows of an aggregation: which columns they have, and how a group becomes a row.

import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { FileFormat } from '../format.js';
import type { TableColumn } from '../formats/table.js';
import { timeColumn, type ZoneClock } from '../points/zone-clock.js';
import { RANKED_UNITS } from './aggregation.js';
import { doubleSumAt, integerSumAt, NUMBERS_PER_SUM, valueCountAt } from './group-table.js';
import type { Group } from './spilled-groups.js';

export interface ResultRequest {
  readonly byCell: boolean;
  readonly byProvince: boolean;
  readonly hasTime: boolean;
  readonly clock: ZoneClock;
  readonly hasCount: boolean;
  /** Columns of the input; `index` counts among the summed ones. */
  readonly sums: readonly { readonly name: string; readonly index: number; readonly isInteger: boolean }[];
  readonly averages: readonly { readonly name: string; readonly index: number }[];
  readonly format: FileFormat;
}

interface ResultColumn {
  readonly column: TableColumn;
  valueIn(group: Group): unknown;
}

/** Columns, and the values of a group in them. */
export interface Results {
  readonly columns: readonly TableColumn[];
  rowOf(group: Group): unknown[];
}

/** The H3 index of a group as a number of 64 bits. */
export function cellOf({ cellHigh, cellLow }: Group): bigint {
  return (BigInt(cellHigh) << 32n) | BigInt(cellLow);
}

export function resultsOf(hexcodes: Hexcodes, request: ResultRequest): Results {
  const text = (name: string, valueIn: (group: Group) => unknown): ResultColumn => ({
    column: { name, kind: 'text' },
    valueIn,
  });
  const { byCell, byProvince, hasTime, hasCount, sums, averages } = request;
  const unitOf = (group: Group) => RANKED_UNITS[group.province]!;
  const all = [
    ...(byCell && byProvince
      ? [text('hexcodes', (group) => hexcodes.pack(cellOf(group), unitOf(group).code))]
      : []),
    ...(byCell ? [text('h3_cell', (group) => cellOf(group).toString(16))] : []),
    ...(byProvince ? [text('admin_code', (group) => unitOf(group).code)] : []),
    ...(byProvince && !byCell ? [text('province', (group) => unitOf(group).name)] : []),
    ...(hasTime ? [timeOf(request)] : []),
    ...(hasCount ? [countColumn()] : []),
    ...sums.map(sumColumn),
    ...averages.map(averageColumn),
  ];
  return {
    columns: all.map(({ column }) => column),
    rowOf: (group) => all.map(({ valueIn }) => valueIn(group)),
  };
}

/** The beginning of the bucket. */
function timeOf({ format, clock }: ResultRequest): ResultColumn {
  const { column, valueIn } = timeColumn('time', format, clock);
  return { column, valueIn: ({ timeS }) => valueIn(timeS * 1000) };
}

function countColumn(): ResultColumn {
  return { column: { name: 'count', kind: 'long' }, valueIn: ({ numbers }) => BigInt(numbers[0]!) };
}

function sumColumn({ name, index, isInteger }: ResultRequest['sums'][number]): ResultColumn {
  const at = 1 + NUMBERS_PER_SUM * index;
  return {
    column: { name: `sum_${name}`, kind: isInteger ? 'long' : 'double' },
    valueIn: ({ numbers }) => {
      if (valueCountAt(numbers, at) === 0) return null;
      return isInteger ? integerSumAt(numbers, at) : doubleSumAt(numbers, at);
    },
  };
}

function averageColumn({ name, index }: ResultRequest['averages'][number]): ResultColumn {
  const at = 1 + NUMBERS_PER_SUM * index;
  return {
    column: { name: `avg_${name}`, kind: 'double' },
    valueIn: ({ numbers }) => {
      const count = valueCountAt(numbers, at);
      return count === 0 ? null : doubleSumAt(numbers, at) / count;
    },
  };
}
