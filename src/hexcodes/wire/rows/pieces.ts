// Lists of texts and values that the kernel writes behind the rows of answers: columns of CSV, and members
// that are added to lines of NDJSON. An option is a piece here, and nothing else in the writers.
import {
  fieldPiece,
  type Piece,
  pieceLists,
  VALUE,
  WITH_CERTAINTY,
  WITH_FORMER,
  WITH_ID,
  WITH_RESOLUTION,
  WITH_ROW,
} from '../../kernel/text-memory.js';
import { ROW_STATUSES } from '../job.js';

const OK = ROW_STATUSES[0];

/** Lists of CSV by columns, delimiter and resolution. */
const known = new Map<string, Uint8Array>();

/**
 * The columns of an encode answer in CSV.
 * @param columns WITH_ROW and the like
 * @param resolution of all rows; null where each has one in ROWS
 */
export function csvPieces(columns: number, delimiter: number, resolution: number | null): Uint8Array {
  const key = `${columns} ${delimiter} ${resolution}`;
  let lists = known.get(key);
  if (lists === undefined) {
    const comma = String.fromCharCode(delimiter);
    const has = (column: number): boolean => (columns & column) !== 0;
    const id: Piece[] = has(WITH_ID) ? [VALUE.id, comma] : [];
    const lead: Piece[] = has(WITH_ROW) ? [] : [...id, VALUE.lat, comma, VALUE.lng];
    const level: Piece[] = has(WITH_RESOLUTION) ? [comma, resolution?.toString() ?? VALUE.resolution] : [];
    const listOf = (isOk: boolean): Piece[] => {
      const value = (each: number): Piece[] => (isOk ? [comma, each] : [comma]);
      const former = has(WITH_FORMER) ? value(VALUE.former) : [];
      const certainty = has(WITH_CERTAINTY) ? [...value(VALUE.metres), ...value(VALUE.share)] : [];
      const status = [comma, isOk ? OK : VALUE.status, VALUE.lineEnd];
      return [
        ...lead,
        ...value(VALUE.code),
        ...level,
        ...value(VALUE.admin),
        ...former,
        ...certainty,
        ...status,
      ];
    };
    lists = pieceLists(listOf(true), listOf(false), '')!;
    known.set(key, lists);
  }
  return lists;
}

/**
 * The pieces behind chosen fields of rows, which end with LF.
 * @param fields by their columns; null where the host writes them, `hasFields` says whether there are any
 * @returns null for too many
 */
export function fieldPieces(
  fields: readonly number[] | null,
  hasFields: boolean,
  added: readonly AddedValue['is'][],
  delimiter: string,
  resolution: number,
): Uint8Array | null {
  const listOf = (isOk: boolean): Piece[] => {
    const ours = added.map((is): Piece[] => {
      if (is === 'resolution') return [String(resolution)];
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
