// The columns that encode adds to rows, and their values for a batch of rows that was encoded.

import { readResolution } from '../../hexcodes/wire/params/number.js';
import type { AddedValue } from '../../hexcodes/wire/rows/convert-rows.js';
import { withoutBlanks } from '../../hexcodes/wire/rows/csv-fields.js';
import type { DerivedColumns, TableColumn } from '../formats/table.js';

// Rows that name a resolution of their own.

/** Stands for a resolution of a row that is not 0 to 15; differs from EACH_ITS_OWN. */
export const NOT_A_RESOLUTION = 254;

/**
 * The resolution in a text of a row, NOT_A_RESOLUTION for an invalid one. As in CSV to CSV, an empty text is the
 * default, and surrounding blanks do not count.
 */
export function resolutionIn(text: string, otherwise: number): number {
  const read = text === '' ? otherwise : readResolution(withoutBlanks(text));
  return read < 0 ? NOT_A_RESOLUTION : read;
}

/** Which of the columns there are. */
export interface EncodeShape {
  /** Whether rows have a resolution of their own, which is kept. */
  readonly hasResolution: boolean;
  readonly isFormer: boolean;
  readonly hasCertainty: boolean;
  /** Whether rows are to be sorted by cell: then each has the columns by which plain SQL prunes. */
  readonly isSorted: boolean;
}

const OURS: Readonly<Record<AddedValue['is'], TableColumn>> = {
  code: { name: 'hexcodes', kind: 'text' },
  resolution: { name: 'resolution', kind: 'int' },
  admin: { name: 'admin_code', kind: 'text' },
  former: { name: 'former_province', kind: 'text' },
  metres: { name: 'border_m', kind: 'int' },
  share: { name: 'certainty', kind: 'double' },
  status: { name: 'status', kind: 'text' },
};
// Columns that are made of the codes when the rows have been sorted.
const CELL: OurColumn = { name: 'h3', kind: 'ulong' };
/** Named as the fields of a bbox in GeoParquet. */
const BOX = ['xmin', 'ymin', 'xmax', 'ymax'].map((name): OurColumn => ({ name, kind: 'double' }));

export interface OurColumn extends TableColumn {
  /** Absent where it is made of codes. */
  readonly is?: AddedValue['is'];
}

/** The columns that encode adds, each with its value; the first has the codes. */
export function ourColumns({ hasResolution, isFormer, hasCertainty, isSorted }: EncodeShape): OurColumn[] {
  const values: AddedValue['is'][] = [
    'code',
    ...(hasResolution ? [] : (['resolution'] as const)),
    'admin',
    ...(isFormer ? (['former'] as const) : []),
    ...(hasCertainty ? (['metres', 'share'] as const) : []),
    'status',
  ];
  return values.flatMap((is) => {
    const ours = { ...OURS[is], is };
    if (!isSorted) return [ours];
    if (is === 'code') return [{ ...ours, name: 'hexcode' }, CELL];
    return is === 'status' ? [...BOX, ours] : [ours];
  });
}

/** The derived ones among our columns. @param start index of the first of them */
export function derivedColumns(ours: readonly OurColumn[], start: number): DerivedColumns {
  const at = (wanted: string): number => start + ours.findIndex(({ name }) => name === wanted);
  return { code: start, cell: at('h3'), admin: at('admin_code'), box: at('xmin'), status: at('status') };
}
