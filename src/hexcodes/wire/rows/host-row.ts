// Reads one row in full, by the rules of the single conversions: rows that the kernel's scan left to the host, and
// rows whose answer needs a message. Off the fast path: it makes objects for each row, but does not throw and parses
// nothing twice.

import type { Border } from '../../kernel/index-file.js';
import {
  type CsvShape,
  type Operation,
  OUTSIDE_MESSAGE,
  OVER_QUOTA_MESSAGE,
  OVERLOADED_MESSAGE,
  type RowStatus,
  SWAPPED_HINT,
} from '../job.js';
import {
  afterSpace,
  areEqualTexts,
  eachMember,
  isJson,
  type JsonKind,
  jsonStringOf,
  jsonValueEnd,
  kindOf,
} from '../params/json-grammar.js';
import {
  decodeFaults,
  EncodeInput,
  kindFault,
  type ParameterFault,
  SingleParameters,
} from '../params/parameters.js';
import { DIFFERS } from '../params/query.js';
import { csvFields, plainNumber, quotedField, TORN_QUOTE, withoutBlanks } from './csv-fields.js';

/** A row as read: degrees are NaN and the resolution is -1 where they cannot be read. */
export interface ReadRow {
  readonly latDeg: number;
  readonly lngDeg: number;
  readonly resolution: number;
  readonly hexcodes: string | undefined;
  /** The id as JSON text. */
  readonly id: string | undefined;
  /** undefined for a valid row. */
  readonly faults: readonly ParameterFault[] | undefined;
  /** Hint at the names that were probably meant, appended to the message of the faults. */
  readonly hint?: string;
}

/** How items of JSON are read; a part of RowsTask. */
interface ItemRules {
  readonly operation: Operation;
  /** Resolution of items that name none. */
  readonly resolution: number;
  readonly maxItemBytes: number;
  /** Items are elements of an array, not lines. */
  readonly isArray: boolean;
}

const MAX_ID_UNITS = 128;
const PAIR = ['lat', 'lng'] as const;

/** Kept apart from other rows: an array with this element is invalid as a whole. */
const NOT_JSON = unread([fault('item', 'is not valid JSON')]);
const NOT_UTF8 = unread([fault('item', 'is not valid UTF-8')]);
const NOT_A_CODE = unread([fault('item', 'must be a code or an object with a member hexcodes')]);
const NOT_A_PAIR = unread([fault('item', 'must be an object with lat and lng, or [lat, lng]')]);

const OPEN_BRACE = 123;
const OPEN_BRACKET = 91;
const QUOTE = 34;
const BOM = '\ufeff';
const RECORD_SEPARATOR = '\x1e';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder();

export function isNotJson(row: ReadRow): boolean {
  return row === NOT_JSON;
}

function fault(parameter: string, message: string): ParameterFault {
  return { parameter, message };
}

function unread(faults: ParameterFault[]): ReadRow {
  return {
    latDeg: Number.NaN,
    lngDeg: Number.NaN,
    resolution: -1,
    hexcodes: undefined,
    id: undefined,
    faults,
  };
}

/** Reads an element of a batch's array or a line of NDJSON. */
export function readItem(rules: ItemRules, bytes: Uint8Array): ReadRow {
  const { operation, resolution, maxItemBytes } = rules;
  const isTooLong = bytes.length > maxItemBytes;
  if (isTooLong && !rules.isArray) return tooLong(maxItemBytes);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return rules.isArray ? NOT_JSON : NOT_UTF8;
  }
  if (isTooLong) return isJson(text) ? tooLong(maxItemBytes) : NOT_JSON;
  // Lines of concatenated files, and of JSON text sequences (RFC 7464), begin with a mark.
  if (!rules.isArray && (text[0] === BOM || text[0] === RECORD_SEPARATOR)) text = text.slice(1);
  const at = afterSpace(text, 0);
  const first = text.charCodeAt(at);
  if (first === OPEN_BRACE) return readObject(operation, text, resolution);
  if (!isJson(text)) return NOT_JSON;
  if (operation === 'decode') return first === QUOTE ? codeOf(text) : NOT_A_CODE;
  return first === OPEN_BRACKET ? pairOf(text, at + 1, resolution) : NOT_A_PAIR;
}

function tooLong(maxItemBytes: number): ReadRow {
  return unread([fault('item', `is longer than ${maxItemBytes} bytes`)]);
}

function codeOf(text: string): ReadRow {
  const parameters = new SingleParameters('decode');
  parameters.hexcodes.text = JSON.parse(text) as string;
  return judgeCode(parameters, undefined, undefined);
}

/**
 * Reads a pair from an array of JSON whose first element, or closing bracket, is at `from` or after white space
 * there.
 */
function pairOf(text: string, from: number, resolution: number): ReadRow {
  const parameters = new SingleParameters('encode');
  let count = 0;
  for (let at = afterSpace(text, from); text[at] !== ']'; count++) {
    const name = PAIR[count];
    if (name === undefined) return NOT_A_PAIR;
    const end = jsonValueEnd(text, at);
    if (kindOf(text.charCodeAt(at)) === 'number') parameters[name].text = String(Number(text.slice(at, end)));
    else parameters[name].fault = kindFault('number', kindOf(text.charCodeAt(at)), text.slice(at, end));
    at = afterSpace(text, end);
    if (text[at] === ',') at = afterSpace(text, at + 1);
  }
  return count === PAIR.length ? judgePoint(parameters, resolution, undefined, undefined) : NOT_A_PAIR;
}

function readObject(operation: Operation, text: string, resolution: number): ReadRow {
  let id: string | undefined;
  let idFault: ParameterFault | undefined;
  const parameters = new SingleParameters(operation);
  const isObject = eachMember(text, (name, valueText, kind) => {
    if (name !== 'id') parameters.addMember(name, valueText, kind);
    else if (!isId(valueText, kind))
      idFault ??= fault('id', `must be a string of at most ${MAX_ID_UNITS} characters or a number`);
    else if (id !== undefined && !areEqualTexts(id, valueText)) idFault ??= fault('id', DIFFERS);
    else id ??= valueText;
  });
  if (!isObject) return NOT_JSON;
  // A parameter of single requests; in an item it is an ordinary member.
  parameters.admin_v2.clear();
  if (idFault !== undefined) id = undefined;
  return operation === 'encode'
    ? judgePoint(parameters, resolution, id, idFault)
    : judgeCode(parameters, id, idFault);
}

function isId(valueText: string, kind: JsonKind): boolean {
  if (kind === 'number') return valueText.length <= MAX_ID_UNITS;
  return kind === 'string' && jsonStringOf(valueText).length <= MAX_ID_UNITS;
}

function judgePoint(
  parameters: SingleParameters,
  resolution: number,
  id: string | undefined,
  idFault: ParameterFault | undefined,
): ReadRow {
  const own = parameters.resolution;
  own.text ??= String(resolution);
  const input = new EncodeInput();
  input.read(parameters);
  const faults = idFault === undefined ? input.faults : [...(input.faults ?? []), idFault];
  const { latDeg, lngDeg } = input;
  const row = { latDeg, lngDeg, resolution: input.resolution, hexcodes: undefined, id, faults };
  return faults === undefined ? row : { ...row, hint: hintAfter(parameters) };
}

const hintAfter = ({ itemHint }: SingleParameters): string => (itemHint === '' ? '' : `; ${itemHint}`);

function judgeCode(
  parameters: SingleParameters,
  id: string | undefined,
  idFault: ParameterFault | undefined,
): ReadRow {
  const found = decodeFaults(parameters);
  const faults = idFault === undefined ? found : [...(found ?? []), idFault];
  const row = { ...unread([]), hexcodes: parameters.hexcodes.text, id, faults };
  return faults === undefined ? row : { ...row, hint: hintAfter(parameters) };
}

/** Reads a row of CSV whose answer is JSON. */
export function readCsvRow(
  operation: Operation,
  bytes: Uint8Array,
  shape: CsvShape,
  delimiter: number,
  resolution: number,
): ReadRow {
  const fields = csvFields(lenient.decode(bytes), delimiter);
  if (fields === undefined) return unread([fault('row', `has ${TORN_QUOTE}`)]);
  if (fields.length !== shape.columns) {
    const message = `has ${fields.length} fields where the header has ${shape.columns}`;
    return unread([fault('row', message)]);
  }
  const parameters = new SingleParameters(operation);
  const field = (column: number): string | undefined => fields[column] || undefined;
  if (operation === 'decode') {
    parameters.hexcodes.text = field(shape.hexcodes);
    return judgeCode(parameters, undefined, undefined);
  }
  const number = (column: number): string | undefined => plainNumber(field(column) ?? '') || undefined;
  parameters.lat.text = number(shape.lat);
  parameters.lng.text = number(shape.lng);
  // Blanks are not a resolution, unlike an empty field.
  const own = field(shape.resolution);
  parameters.resolution.text = own === undefined ? undefined : withoutBlanks(own);
  return judgePoint(parameters, resolution, undefined, undefined);
}

/** A position given as two numbers. */
export function readPosition(latDeg: number, lngDeg: number, resolution: number): ReadRow {
  const parameters = new SingleParameters('encode');
  parameters.lat.text = String(latDeg);
  parameters.lng.text = String(lngDeg);
  return judgePoint(parameters, resolution, undefined, undefined);
}

/** A code given as a record. */
export function readCode(hexcodes: string): ReadRow {
  return { ...unread([]), hexcodes, faults: undefined };
}

// Writes the answer to one row that the kernel does not write, because the answer has a message, an escape or a rare
// number. Bodies and columns are those of the kernel.

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

/**
 * The texts of faults as written inside JSON strings. Nearly all are constants; a limit keeps the others from filling
 * the memory.
 */
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
  // Names come from clients and are not cached.
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
 * The answer as a CSV row without a line end: the id if wanted, the given position or code, and the added columns.
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
