// Writes the answer to one row: for the rows that the kernel does not write itself, because a message, an escape or a
// rare number is in the answer. The same bodies and columns as the kernel's.
import type { Border } from '../../kernel/index-file.js';
import {
  type Operation,
  OUTSIDE_MESSAGE,
  OVER_QUOTA_MESSAGE,
  OVERLOADED_MESSAGE,
  type RowStatus,
  SWAPPED_HINT,
} from '../job.js';
import type { ParameterFault } from '../params/parameters.js';
import { quotedField } from './csv-fields.js';
import type { ReadRow } from './read-row.js';

/** A row with the result of its conversion. */
export interface RowAnswer {
  readonly operation: Operation;
  readonly row: ReadRow;
  readonly status: RowStatus;
  /** The canonical code; present where encode is OK. */
  readonly code?: string;
  /** The province before July 2025, where it is requested; null for a failed row. */
  readonly formerProvince?: string | null;
  /** How sure the province is, where it is requested; nulls for a failed row. */
  readonly border?: Border;
  /** The centre of the cell and its resolution; present where decode is OK. */
  readonly position?: { latDeg: number; lngDeg: number; resolution: number };
  /** Whether the position would be covered with lat and lng exchanged. */
  readonly isSwapped?: boolean;
}

const REFUSAL_MESSAGES: Partial<Record<RowStatus, string>> = {
  NOT_FOUND: OUTSIDE_MESSAGE,
  OVER_QUERY_LIMIT: OVER_QUOTA_MESSAGE,
  UNAVAILABLE: OVERLOADED_MESSAGE,
};

/** The last members of JSON bodies with this status: its word, and its message where it has a fixed one. */
export function tailOf(status: RowStatus): string {
  const message = REFUSAL_MESSAGES[status];
  return `"status":"${status}"${message === undefined ? '' : `,"message":${JSON.stringify(message)}`}`;
}

const INVALID_TAIL = tailOf('INVALID_REQUEST');

/** The texts of faults as written inside JSON strings. Nearly all are constants; the rest may not fill the memory. */
const escapedTexts = new Map<string, string>();
const MAX_ESCAPED_TEXTS = 256;

function escaped(text: string): string {
  let inside = escapedTexts.get(text);
  if (inside === undefined) {
    inside = JSON.stringify(text).slice(1, -1);
    if (escapedTexts.size < MAX_ESCAPED_TEXTS) escapedTexts.set(text, inside);
  }
  return inside;
}

/** The members `message` and `details`. */
function faultsOf(faults: readonly ParameterFault[], hint: string, nameHint: string): string {
  let message = '';
  let details = '';
  for (const fault of faults) {
    const name = escaped(fault.parameter);
    const words = escaped(fault.message);
    message += `${message === '' ? '' : '; '}${name} ${words}`;
    details += `${details === '' ? '' : ','}{"parameter":"${name}","message":"${words}"}`;
  }
  // Names come from senders, and are not cached.
  const names = nameHint === '' ? '' : JSON.stringify(nameHint).slice(1, -1);
  return `,"message":"${message}${names}${escaped(hint)}","details":[${details}]`;
}

/** The member of the province before July 2025, with a comma after it. */
export function formerMember(name: string | null): string {
  return `"former_province":${JSON.stringify(name)},`;
}

/** The members that say how sure the province is, with a comma after them. */
export function borderMembers({ borderM, certainty }: Border): string {
  return `"border_m":${borderM},"certainty":${certainty},`;
}

/** The answer as a JSON body. */
export function jsonOf(answer: RowAnswer): string {
  const { operation, row, status, code, formerProvince, border, position } = answer;
  const id = row.id === undefined ? '' : `,"id":${row.id}`;
  const tail =
    status === 'INVALID_REQUEST'
      ? INVALID_TAIL + faultsOf(row.faults ?? [], answer.isSwapped ? SWAPPED_HINT : '', row.hint ?? '')
      : tailOf(status);
  if (operation === 'encode') {
    const admin = code === undefined ? 'null' : `"${adminOf(code)}"`;
    const text = code === undefined ? 'null' : `"${code}"`;
    const resolution = row.resolution < 0 ? 'null' : row.resolution;
    const province = formerProvince === undefined ? '' : formerMember(formerProvince);
    return `{"hexcodes":${text},"lat":${numberOf(row.latDeg)},"lng":${numberOf(row.lngDeg)},"resolution":${resolution},"admin_code":${admin},${province}${border === undefined ? '' : borderMembers(border)}${tail}${id}}`;
  }
  if (status !== 'OK' && status !== 'INVALID_HEXCODES') return `{${tail}${id}}`;
  const { latDeg, lngDeg, resolution } = position ?? {
    latDeg: Number.NaN,
    lngDeg: Number.NaN,
    resolution: null,
  };
  return `{"lat":${numberOf(latDeg)},"lng":${numberOf(lngDeg)},"resolution":${resolution},"hexcodes":${JSON.stringify(row.hexcodes)},${tail}${id}}`;
}

/**
 * The answer as a CSV row without a line end: the id where wanted, the position or code that was given, the columns
 * added.
 */
export function csvOf(answer: RowAnswer, withId: boolean, delimiter: string): string {
  const { operation, row, status, code, formerProvince, border, position } = answer;
  const degrees = (value: number | undefined): string =>
    value === undefined || Number.isNaN(value) ? '' : String(value);
  const id = row.id?.startsWith('"') ? (JSON.parse(row.id) as string) : (row.id ?? '');
  const fields = withId ? [quotedField(id, delimiter)] : [];
  if (operation === 'encode') {
    fields.push(
      degrees(row.latDeg),
      degrees(row.lngDeg),
      code ?? '',
      row.resolution < 0 ? '' : String(row.resolution),
    );
    fields.push(code === undefined ? '' : adminOf(code));
    if (formerProvince !== undefined) fields.push(formerProvince ?? '');
    if (border !== undefined) fields.push(`${border.borderM ?? ''}`, `${border.certainty ?? ''}`);
    fields.push(status);
  } else {
    fields.push(
      quotedField(row.hexcodes ?? '', delimiter),
      degrees(position?.latDeg),
      degrees(position?.lngDeg),
    );
    fields.push(String(position?.resolution ?? ''), status);
  }
  return fields.join(delimiter);
}

function adminOf(code: string): string {
  return code.slice(0, code.indexOf('-'));
}

function numberOf(value: number): string {
  return Number.isNaN(value) ? 'null' : String(value);
}
