// Lists of texts and values that the kernel writes after chosen fields of rows, and after the members of lines of
// NDJSON. An option is a piece here, and nothing else in the writers. The list of whole rows of CSV is in
// convert-rows.ts.
import { fieldPiece, type Piece, pieceLists, VALUE } from '../../kernel/text-memory.js';
import { ROW_STATUSES } from '../job.js';

const OK = ROW_STATUSES[0];

/**
 * The pieces after chosen fields of rows, which end with LF.
 * @param resolution of all rows; null where each has the one of its code
 * @param fields by their columns; null where the host writes them, `hasFields` says whether there are any
 * @returns null for too many
 */
export function fieldPieces(
  fields: readonly number[] | null,
  hasFields: boolean,
  added: readonly AddedMember['is'][],
  delimiter: string,
  resolution: number | null,
): Uint8Array | null {
  const listOf = (isOk: boolean): Piece[] => {
    const ours = added.map((is): Piece[] => {
      if (is === 'resolution' && resolution !== null) return [String(resolution)];
      if (is === 'status') return [isOk ? OK : VALUE.status];
      return isOk ? [VALUE[is]] : [];
    });
    const columns = [...(fields ?? []).map((column) => [fieldPiece(column)]), ...ours];
    const lead = fields === null && hasFields ? [delimiter] : [];
    return [...lead, ...columns.flatMap((column, c) => (c === 0 ? column : [delimiter, ...column])), '\n'];
  };
  return pieceLists(listOf(true), listOf(false), '');
}

/** The values that encode adds to a row, by the names of their columns; the resolution is that of each row. */
export interface AddedValue {
  /** With the prefix. */
  readonly name: string;
  readonly is: 'code' | 'resolution' | 'admin' | 'former' | 'metres' | 'share' | 'status';
}

/** A value that encode or decode adds. */
export interface AddedMember {
  /** With the prefix. */
  readonly name: string;
  readonly is: AddedValue['is'] | 'centreLat' | 'centreLng';
}

/** The values that decode adds, in the order of their columns. */
export const DECODED = ['centreLat', 'centreLng', 'resolution', 'status'] as const;

const TEXTS: ReadonlySet<AddedMember['is']> = new Set(['code', 'admin', 'former', 'status']);

/**
 * The members that are added to lines of NDJSON.
 * @param resolution of all rows; null where each has the one of its code
 * @returns null where their names are too long
 */
export function memberPieces(added: readonly AddedMember[], resolution: number | null): Uint8Array | null {
  const listOf = (isOk: boolean): Piece[] => [
    ...added.flatMap(({ name, is }): Piece[] => {
      const lead = `,${JSON.stringify(name)}:`;
      if (is === 'resolution' && resolution !== null) return [lead, String(resolution)];
      if (is === 'status') return [lead, '"', isOk ? OK : VALUE.status, '"'];
      if (!isOk) return [lead, 'null'];
      return TEXTS.has(is) ? [lead, '"', VALUE[is], '"'] : [lead, VALUE[is]];
    }),
    '}\n',
  ];
  return pieceLists(listOf(true), listOf(false), 'null');
}
