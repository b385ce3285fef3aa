// Points into groups: each row that passes the filter goes to the group of its cell, province and time, and its values
// are added there.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { NOT_A_COORDINATE, OK } from '../../hexcodes/kernel/kernel.js';
import { cellAdminAt, cellStatusAt } from '../../hexcodes/kernel/output-layout.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { FileFormat } from '../format.js';
import type { TableColumn } from '../formats/table.js';
import { type Condition, type RowFilter, rowFilter } from '../points/row-filter.js';
import type { PointBatch } from '../points/run-points.js';
import { columnNamed, numberOf } from '../points/values.js';
import { bucketStartOf, instantOf, timeColumn, type ZoneClock } from '../points/zone-clock.js';
import {
  addValue,
  doubleSumAt,
  type Group,
  GroupTable,
  groupsOf,
  integerSumAt,
  NUMBERS_PER_SUM,
  SpilledGroups,
  valueCountAt,
  widthOf,
} from './group-table.js';

/** Keys of groups, sums, and the rows that take part. */
interface AggregationRequest {
  readonly byCell: boolean;
  readonly byProvince: boolean;
  /** Resolution of the cells, 0 to 15. */
  readonly resolution: number;
  /** undefined: not grouped by time. */
  readonly time: { readonly column: string; readonly bucketMs: number } | undefined;
  readonly clock: ZoneClock;
  readonly conditions: readonly Condition[];
  /** Names of columns that are added up. */
  readonly sums: readonly string[];
  /** Memory limit of the groups; beyond it groups are spilled to disk. */
  readonly limitBytes: number;
}

export interface RowCounts {
  filtered: number;
  outside: number;
  notPositions: number;
  withoutTime: number;
  /** The first text that is not a time. */
  unreadTime: string | undefined;
  grouped: number;
}

/** Provinces in alphabetical order of their codes, which is the order of groups. */
const RANKED_UNITS = ADMIN_UNITS.map((unit, admin) => ({ ...unit, admin })).sort((a, b) =>
  a.code < b.code ? -1 : 1,
);
const RANK_OF_ADMIN = ADMIN_UNITS.map(({ code }) => RANKED_UNITS.findIndex((unit) => unit.code === code));

interface ColumnIndexes {
  readonly filter: RowFilter;
  readonly time: number;
  readonly sums: readonly number[];
}

const textIn = (value: unknown): string | undefined =>
  value === null || value === undefined || value === '' ? undefined : String(value);

/** Whether a column may have fractions, by the declaration of the file. */
const isFractional = ({ kind, scale = 0, isInferred }: TableColumn): boolean =>
  isInferred !== true && (kind === 'double' || kind === 'float' || (kind === 'decimal' && scale !== 0));

export class Aggregation {
  readonly counts: RowCounts = {
    filtered: 0,
    outside: 0,
    notPositions: 0,
    withoutTime: 0,
    unreadTime: undefined,
    grouped: 0,
  };
  /** Kind of each summed column: whether all its values were integers, and how many were not numbers. */
  readonly sumColumns: { isInteger: boolean; notNumbers: number }[];
  readonly #hexcodes: Hexcodes;
  readonly #request: AggregationRequest;
  readonly #width: number;
  readonly #table: GroupTable;
  readonly #spilled: SpilledGroups;
  #indexes: ColumnIndexes | undefined;
  #indexedColumns: unknown;

  constructor(hexcodes: Hexcodes, request: AggregationRequest) {
    this.#hexcodes = hexcodes;
    this.#request = request;
    this.#width = widthOf(request.sums.length);
    this.#table = new GroupTable(this.#width, request.limitBytes);
    this.#spilled = new SpilledGroups(this.#width);
    this.sumColumns = request.sums.map(() => ({ isInteger: true, notNumbers: 0 }));
  }

  get spills(): number {
    return this.#spilled.count;
  }

  /** @throws CliFailure BAD_INPUT for a column that is not there */
  take(batch: PointBatch): void {
    const { capacity, exports, input, output } = this.#hexcodes.kernel;
    const words = new Uint32Array(output.buffer, output.byteOffset, 2 * capacity);
    const { byCell, byProvince, resolution, time } = this.#request;
    const indexes = this.#indexesIn(batch);
    const { rows, latLngDeg } = batch;
    const { counts } = this;
    const isFiltered = this.#request.conditions.length > 0;
    for (let from = 0; from < rows.rowCount; from += capacity) {
      const count = Math.min(capacity, rows.rowCount - from);
      input.set(latLngDeg.subarray(2 * from, 2 * (from + count)));
      exports.encodeCells(count, resolution);
      for (let i = 0; i < count; i++) {
        const row = from + i;
        if (isFiltered && !indexes.filter(rows, row)) {
          counts.filtered++;
          continue;
        }
        const status = output[cellStatusAt(count, i)]!;
        if (status !== OK) {
          if (status === NOT_A_COORDINATE) counts.notPositions++;
          else counts.outside++;
          continue;
        }
        const timeS = time === undefined ? 0 : this.#bucketOf(batch, indexes.time, row, time.bucketMs);
        if (Number.isNaN(timeS)) {
          counts.withoutTime++;
          counts.unreadTime ??= textIn(rows.values[indexes.time]?.[row]);
          continue;
        }
        counts.grouped++;
        const group = this.#groupOf(
          byCell ? words[2 * i + 1]! : 0,
          byCell ? words[2 * i]! : 0,
          byProvince ? RANK_OF_ADMIN[output[cellAdminAt(count, i)]!]! : 0,
          timeS,
        );
        this.#add(group, batch, indexes, row);
      }
    }
  }

  /** All groups by cell, province, time; each overwrites the previous one. */
  groups(): Generator<Group> {
    if (this.#spilled.count === 0) return groupsOf(this.#table, this.#width);
    if (this.#table.size > 0) this.#spilled.spill(this.#table);
    return this.#spilled.groups();
  }

  /** Removes what was written to the disk. */
  remove(): void {
    this.#spilled.remove();
  }

  /** The index of a group in the table, which is spilled where it is full. */
  #groupOf(cellHigh: number, cellLow: number, province: number, timeS: number): number {
    const index = this.#table.indexOf(cellHigh, cellLow, province, timeS);
    if (index >= 0) return index;
    this.#spilled.spill(this.#table);
    return this.#table.indexOf(cellHigh, cellLow, province, timeS);
  }

  #add(group: number, { columns, rows: { values } }: PointBatch, { sums }: ColumnIndexes, row: number): void {
    const { numbers } = this.#table;
    const at = group * this.#width;
    numbers[at]! += 1;
    for (let s = 0; s < sums.length; s++) {
      const column = sums[s]!;
      const value = numberOf(columns[column]!, values[column]?.[row]);
      if (value === null) continue;
      if (value === undefined) {
        this.sumColumns[s]!.notNumbers++;
        continue;
      }
      if (typeof value === 'number' && !Number.isSafeInteger(value)) this.sumColumns[s]!.isInteger = false;
      addValue(numbers, at + 1 + NUMBERS_PER_SUM * s, value);
    }
  }

  #bucketOf({ columns, rows }: PointBatch, column: number, row: number, bucketMs: number): number {
    const { clock } = this.#request;
    const ms = instantOf(columns[column]!, rows.values[column]?.[row], clock);
    return Number.isNaN(ms) ? ms : bucketStartOf(ms, bucketMs, clock) / 1000;
  }

  /** The columns of a file, found once. */
  #indexesIn({ columns, file }: PointBatch): ColumnIndexes {
    if (this.#indexes !== undefined && this.#indexedColumns === columns) return this.#indexes;
    const { conditions, clock, time, sums } = this.#request;
    this.#indexes = {
      filter: rowFilter(conditions, columns, file, clock),
      time: time === undefined ? -1 : columnNamed(columns, time.column, file),
      sums: sums.map((name) => columnNamed(columns, name, file)),
    };
    this.#indexedColumns = columns;
    // Doubles and decimals that happen to be whole keep the type of the others in the output.
    for (const [s, index] of this.#indexes.sums.entries())
      if (isFractional(columns[index]!)) this.sumColumns[s]!.isInteger = false;
    return this.#indexes;
  }
}

// The rows of an aggregation: which columns they have, and how a group becomes a row.

interface ResultRequest {
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

/** The H3 index of a group as a 64-bit number. */
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
