// The columns that encode adds to rows, and their values for a batch of rows that was encoded.

import type { Border } from '../../hexcodes/kernel/index-file.js';
import { EACH_ITS_OWN } from '../../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, recordAt } from '../../hexcodes/kernel/output-layout.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { RowStatus } from '../../hexcodes/wire/job.js';
import { readResolution } from '../../hexcodes/wire/params/number.js';
import type { AddedValue } from '../../hexcodes/wire/rows/convert-rows.js';
import { withoutBlanks } from '../../hexcodes/wire/rows/csv-fields.js';
import type { DerivedColumns, TableColumn } from '../formats/table.js';
import { textOf } from '../formats/values/column-text.js';
import type { FilesRequest } from '../request.js';

// Rows that name a resolution of their own: reads it, and encodes each position at it.

/** In place of a row's resolution that is not one of 0 to 15; differs from EACH_ITS_OWN. */
export const NOT_A_RESOLUTION = 254;

/**
 * The resolution of each row, NOT_A_RESOLUTION where a field is not one. As for CSV to CSV, a missing value and an
 * empty text are the default, and blanks around a number do not count.
 */
export function resolutionsOf(
  column: TableColumn,
  values: ArrayLike<unknown> | undefined,
  rowCount: number,
  otherwise: number,
): Uint8Array {
  return Uint8Array.from({ length: rowCount }, (_, row) =>
    resolutionIn(textOf(column, values?.[row]), otherwise),
  );
}

/** The resolution that a text of a row names. */
export function resolutionIn(text: string, otherwise: number): number {
  const read = text === '' ? otherwise : readResolution(withoutBlanks(text));
  return read < 0 ? NOT_A_RESOLUTION : read;
}

/** As `encodeBatch` of the library, each position at its own resolution. */
export function encodeEach(hexcodes: Hexcodes, latLngDeg: Float64Array, own: Uint8Array): Buffer {
  const rowCount = own.length;
  const records = Buffer.alloc(rowCount * RECORD_BYTES);
  const { capacity, exports, input, output, resolutions } = hexcodes.kernel;
  for (let from = 0; from < rowCount; from += capacity) {
    const count = Math.min(capacity, rowCount - from);
    input.set(latLngDeg.subarray(2 * from, 2 * (from + count)));
    for (let i = 0; i < count; i++) {
      const each = own[from + i]!;
      resolutions[i] = each === NOT_A_RESOLUTION ? 0 : each;
    }
    exports.encodeBatch(count, EACH_ITS_OWN);
    records.set(output.subarray(0, recordAt(count)), recordAt(from));
  }
  return records;
}

/** Which of the columns there are. */
export interface EncodeShape {
  /** Whether rows have a resolution of their own, which is kept. */
  readonly hasResolution: boolean;
  readonly isFormer: boolean;
  readonly hasCertainty: boolean;
  /** Whether rows are to be sorted by cell: then each has what plain SQL prunes by. */
  readonly isSorted: boolean;
}

/** The values that encode adds, in the order of their columns. */
export function addedValues(
  { isFormer, hasCertainty }: Pick<FilesRequest, 'isFormer' | 'hasCertainty'>,
  hasResolution: boolean,
): AddedValue['is'][] {
  return [
    'code',
    ...(hasResolution ? [] : (['resolution'] as const)),
    'admin',
    ...(isFormer ? (['former'] as const) : []),
    ...(hasCertainty === true ? (['metres', 'share'] as const) : []),
    'status',
  ];
}

/** A batch that was encoded: an entry for each row, null where a row failed. */
export interface EncodedBatch {
  readonly codes: readonly (string | null)[];
  readonly admins: readonly (string | null)[];
  /** As understood, also where the position has no code. */
  readonly resolutions: readonly (number | null)[];
  /** None unless they are requested. */
  readonly formers: readonly (string | null)[];
  readonly borders: readonly (Border | null)[];
  readonly status: readonly RowStatus[];
}

interface OurColumn extends TableColumn {
  valuesOf(batch: EncodedBatch): ArrayLike<unknown>;
}

const OURS: Readonly<Record<AddedValue['is'], OurColumn>> = {
  code: { name: 'hexcodes', kind: 'text', valuesOf: ({ codes }) => codes },
  resolution: { name: 'resolution', kind: 'int', valuesOf: ({ resolutions }) => resolutions },
  admin: { name: 'admin_code', kind: 'text', valuesOf: ({ admins }) => admins },
  former: { name: 'former_province', kind: 'text', valuesOf: ({ formers }) => formers },
  metres: {
    name: 'border_m',
    kind: 'int',
    valuesOf: ({ borders }) => borders.map((border) => border?.borderM ?? null),
  },
  share: {
    name: 'certainty',
    kind: 'double',
    valuesOf: ({ borders }) => borders.map((border) => border?.certainty ?? null),
  },
  status: { name: 'status', kind: 'text', valuesOf: ({ status }) => status },
};
/** Columns that are made of the codes when the rows have been sorted: a batch has no values for them. */
const derived = (name: string, kind: 'ulong' | 'double'): OurColumn => ({ name, kind, valuesOf: () => [] });
const CELL = derived('h3', 'ulong');
/** Named as the fields of a bbox in GeoParquet. */
const BOX = ['xmin', 'ymin', 'xmax', 'ymax'].map((name) => derived(name, 'double'));

/** The columns that encode adds; the first has the codes. */
export function encodeAdded(shape: EncodeShape): TableColumn[] {
  return ourColumns(shape).map(({ name, kind }) => ({ name, kind }));
}

/** The values of these columns, in their order. */
export function encodeAddedValues(shape: EncodeShape, batch: EncodedBatch): ArrayLike<unknown>[] {
  return ourColumns(shape).map(({ valuesOf }) => valuesOf(batch));
}

function ourColumns(shape: EncodeShape): OurColumn[] {
  return addedValues(shape, shape.hasResolution).flatMap((is) => {
    const ours = OURS[is];
    if (!shape.isSorted) return [ours];
    if (is === 'code') return [{ ...ours, name: 'hexcode' }, CELL];
    return is === 'status' ? [...BOX, ours] : [ours];
  });
}

/** Where the columns that are made of the codes are: the index of our first column, and the index after the last. */
export function derivedColumns({ hasResolution }: EncodeShape, start: number, end: number): DerivedColumns {
  return {
    code: start,
    cell: start + 1,
    admin: start + (hasResolution ? 2 : 3),
    box: end - 5,
    status: end - 1,
  };
}
