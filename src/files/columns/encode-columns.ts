// The columns that encode adds to rows, and their values for a batch of rows that was encoded.

import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import type { TableColumn } from '../formats/table.js';

/** Which of the columns there are. */
export interface EncodeShape {
  /** Whether rows have a resolution of their own, which is kept. */
  readonly hasResolution: boolean;
  readonly isFormer: boolean;
  readonly hasCertainty: boolean;
  /** Where rows are sorted by cell: then each has what plain SQL prunes by. null: they are not. */
  readonly boxOf: CellBox | null;
}

/** The box of a cell, an H3 index in hexadecimal: cellBox of geometry, which takes long to load. */
export type CellBox = (cell: string) => readonly [west: number, south: number, east: number, north: number];

/** A batch that was encoded: an entry for each row, null where a row failed. */
export interface EncodedBatch {
  /** lat and lng of each row. */
  readonly latLngDeg: Float64Array;
  readonly codes: readonly (string | null)[];
  readonly admins: readonly (string | null)[];
  /** As understood, also where the position has no code. */
  readonly resolutions: readonly (number | null)[];
  readonly status: readonly string[];
}

type Values = readonly ArrayLike<unknown>[];

interface ColumnGroup {
  readonly columns: readonly TableColumn[];
  /** Values of each column. */
  valuesOf(batch: EncodedBatch, hexcodes: Hexcodes): Values;
}

const column = (
  name: string,
  kind: TableColumn['kind'],
  valuesOf: (batch: EncodedBatch) => ArrayLike<unknown>,
): ColumnGroup => ({ columns: [{ name, kind }], valuesOf: (batch) => [valuesOf(batch)] });

const codesNamed = (name: string): ColumnGroup => column(name, 'text', ({ codes }) => codes);

/** The province before July 2025. */
const FORMER: ColumnGroup = {
  columns: [{ name: 'former_province', kind: 'text' }],
  valuesOf: ({ latLngDeg, status }, hexcodes) => [
    status.map((word, row) =>
      word === 'OK' ? hexcodes.formerProvinceOf(latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!) : null,
    ),
  ],
};

/** How sure the province is. */
const CERTAINTY: ColumnGroup = {
  columns: [
    { name: 'border_m', kind: 'int' },
    { name: 'certainty', kind: 'double' },
  ],
  valuesOf({ latLngDeg, status }, { kernel }) {
    const borders = status.map((word, row) =>
      word === 'OK' ? kernel.borderAt(latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!) : null,
    );
    return [
      borders.map((border) => border?.borderM ?? null),
      borders.map((border) => border?.certainty ?? null),
    ];
  },
};

const H3: ColumnGroup = {
  columns: [{ name: 'h3', kind: 'ulong' }],
  valuesOf: ({ codes }, hexcodes) => [codes.map((code) => cellOf(hexcodes, code))],
};

/** Named as the fields of a bbox in GeoParquet. */
const boxes = (boxOf: CellBox): ColumnGroup => ({
  columns: ['xmin', 'ymin', 'xmax', 'ymax'].map((name) => ({ name, kind: 'double' })),
  valuesOf({ codes }, hexcodes) {
    const all = codes.map((code) => {
      const cell = cellOf(hexcodes, code);
      return cell === null ? null : boxOf(cell.toString(16));
    });
    return [0, 1, 2, 3].map((side) => all.map((box) => box?.[side] ?? null));
  },
});

function cellOf(hexcodes: Hexcodes, code: string | null): bigint | null {
  return code === null ? null : (hexcodes.read(code)?.cell ?? null);
}

function groupsOf({ hasResolution, isFormer, hasCertainty, boxOf }: EncodeShape): ColumnGroup[] {
  return [
    ...(boxOf === null ? [codesNamed('hexcodes')] : [codesNamed('hexcode'), H3]),
    ...(hasResolution ? [] : [column('resolution', 'int', ({ resolutions }) => resolutions)]),
    column('admin_code', 'text', ({ admins }) => admins),
    ...(isFormer ? [FORMER] : []),
    ...(hasCertainty ? [CERTAINTY] : []),
    ...(boxOf === null ? [] : [boxes(boxOf)]),
    column('status', 'text', ({ status }) => status),
  ];
}

/** The columns that encode adds; the first has the codes. */
export function encodeAdded(shape: EncodeShape): TableColumn[] {
  return groupsOf(shape).flatMap(({ columns }) => columns);
}

/** The values of these columns, in their order. */
export function encodeAddedValues(shape: EncodeShape, batch: EncodedBatch, hexcodes: Hexcodes): Values {
  return groupsOf(shape).flatMap(({ valuesOf }) => valuesOf(batch, hexcodes));
}
