// The rows that the kernel leaves to us: reads them with library parsers and the rules of the single conversions, and
// writes the answers that need a message, an escape or a rare number. One row at a time, off the fast path.
import { parse } from 'csv-parse/sync';
import type { CsvShape, Operation, RowStatus } from '../job.js';
import { eachMember, type JsonKind } from '../params/json-members.js';
import { decodeFaults, EncodeInput, type ParameterFault, SingleParameters } from '../params/parameters.js';
import { OUTSIDE_MESSAGE, OVER_QUOTA_MESSAGE, OVERLOADED_MESSAGE } from '../status-messages.js';
import { SWAPPED_HINT } from '../swapped.js';

/** A row as understood: numbers are NaN and -1 where they are not. */
export interface ReadRow {
  readonly latDeg: number;
  readonly lngDeg: number;
  readonly resolution: number;
  readonly hexcodes: string | undefined;
  /** The id's JSON text. */
  readonly id: string | undefined;
  readonly faults: readonly ParameterFault[] | undefined;
}

/** A row with what the conversion made of it. */
export interface RowAnswer {
  readonly operation: Operation;
  readonly row: ReadRow;
  readonly status: RowStatus;
  /** Canonical code; only if encode is OK. */
  readonly code?: string;
  /** Decoded centre and resolution; only if decode is OK. */
  readonly position?: { latDeg: number; lngDeg: number; resolution: number };
  /** Whether lat and lng exchanged would lie inside the coverage. */
  readonly isSwapped?: boolean;
}

const REFUSAL_MESSAGES: Partial<Record<RowStatus, string>> = {
  NOT_FOUND: OUTSIDE_MESSAGE,
  OVER_QUERY_LIMIT: OVER_QUOTA_MESSAGE,
  UNAVAILABLE: OVERLOADED_MESSAGE,
};

export const MAX_ID_UNITS = 128;

/** JSON that is none where one was needed whole: the envelope of an array is broken too. */
const NOT_JSON: ParameterFault = { parameter: 'item', message: 'is not valid JSON' };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const parameters = new SingleParameters();
const input = new EncodeInput();

export function isNotJson(row: ReadRow): boolean {
  return row.faults?.[0] === NOT_JSON;
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

/** How items are read; of RowsTask. */
export interface ItemRules {
  readonly operation: Operation;
  readonly resolution: number;
  readonly maxItemBytes: number;
  readonly isArray: boolean;
}

/** An item of a batch or a line of NDJSON. */
export function readItem(rules: ItemRules, bytes: Uint8Array): ReadRow {
  const { operation, resolution, maxItemBytes } = rules;
  const isTooLong = bytes.length > maxItemBytes;
  const tooLong = unread([fault('item', `is longer than ${maxItemBytes} bytes`)]);
  if (isTooLong && !rules.isArray) return tooLong;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return unread([rules.isArray ? NOT_JSON : fault('item', 'is not valid UTF-8')]);
  }
  if (isTooLong) return isJson(text) ? tooLong : unread([NOT_JSON]);
  parameters.clear();
  const first = /[^ \t\r\n]/.exec(text)?.[0];
  if (first === '{') return readObject(operation, text, resolution);
  // What starts no JSON value needs no parser to be refused.
  if (first === undefined || !'["-0123456789tfn'.includes(first)) return unread([NOT_JSON]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unread([NOT_JSON]);
  }
  if (operation === 'decode') {
    if (typeof value !== 'string')
      return unread([fault('item', 'must be a code or an object with a member hexcodes')]);
    parameters.hexcodes.text = value;
    return judgeCode(undefined, undefined);
  }
  if (!Array.isArray(value) || value.length !== 2)
    return unread([fault('item', 'must be an object with lat and lng, or [lat, lng]')]);
  for (const [place, name] of (['lat', 'lng'] as const).entries()) {
    const number: unknown = value[place];
    if (typeof number === 'number') parameters[name].text = String(number);
    else parameters[name].fault = 'must be a JSON number';
  }
  return judgePoint(resolution, undefined, undefined);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function readObject(operation: Operation, text: string, resolution: number): ReadRow {
  let id: string | undefined;
  let idFault: ParameterFault | undefined;
  const isObject = eachMember(text, (name, valueText, kind) => {
    if (name !== 'id') return;
    if (!isId(valueText, kind))
      idFault ??= fault('id', `must be a string of at most ${MAX_ID_UNITS} characters or a number`);
    else if (id !== undefined && id !== valueText)
      idFault ??= fault('id', 'is given more than once with different values');
    else id = valueText;
  });
  if (!isObject) return unread([NOT_JSON]);
  parameters.addJson(text);
  // Of the single calls only; an item has no such member.
  parameters.adminV2.clear();
  if (idFault !== undefined) id = undefined;
  return operation === 'encode' ? judgePoint(resolution, id, idFault) : judgeCode(id, idFault);
}

function isId(valueText: string, kind: JsonKind): boolean {
  if (kind === 'number') return valueText.length <= MAX_ID_UNITS;
  return kind === 'string' && (JSON.parse(valueText) as string).length <= MAX_ID_UNITS;
}

function judgePoint(
  resolution: number,
  id: string | undefined,
  idFault: ParameterFault | undefined,
): ReadRow {
  const own = parameters.resolution;
  if (own.text === undefined && own.fault === undefined) own.text = String(resolution);
  input.read(parameters);
  const faults = idFault === undefined ? input.faults : [...(input.faults ?? []), idFault];
  const { latDeg, lngDeg } = input;
  return { latDeg, lngDeg, resolution: input.resolution, hexcodes: undefined, id, faults };
}

function judgeCode(id: string | undefined, idFault: ParameterFault | undefined): ReadRow {
  const found = decodeFaults(parameters);
  const faults = idFault === undefined ? found : [...(found ?? []), idFault];
  return { ...unread([]), hexcodes: parameters.hexcodes.text, id, faults };
}

/** A row of CSV whose answer goes out as JSON. */
export function readCsvRow(
  operation: Operation,
  bytes: Uint8Array,
  shape: CsvShape,
  delimiter: number,
  resolution: number,
): ReadRow {
  const fields = csvFields(new TextDecoder().decode(bytes), delimiter);
  if (fields === undefined) return unread([fault('row', 'has a quote that is not closed')]);
  if (fields.length !== shape.columns) {
    const message = `has ${fields.length} fields where the header has ${shape.columns}`;
    return unread([fault('row', message)]);
  }
  parameters.clear();
  const field = (column: number): string | undefined => fields[column] || undefined;
  if (operation === 'decode') {
    parameters.hexcodes.text = field(shape.hexcodes);
    return judgeCode(undefined, undefined);
  }
  parameters.lat.text = field(shape.lat);
  parameters.lng.text = field(shape.lng);
  parameters.resolution.text = field(shape.resolution);
  return judgePoint(resolution, undefined, undefined);
}

/** The fields of one row; undefined if a quoted field has no end. */
export function csvFields(text: string, delimiter: number): string[] | undefined {
  try {
    const rows = parse(text, {
      delimiter: String.fromCharCode(delimiter),
      record_delimiter: ['\r\n', '\n'],
      relax_quotes: true,
      relax_column_count: true,
    });
    return rows.length === 0 ? [''] : rows[0];
  } catch {
    return undefined;
  }
}

/** The faults of a position whose numbers were read but lie nowhere on Earth. */
export function readPosition(latDeg: number, lngDeg: number, resolution: number): ReadRow {
  parameters.clear();
  parameters.lat.text = String(latDeg);
  parameters.lng.text = String(lngDeg);
  return judgePoint(resolution, undefined, undefined);
}

export function readCode(hexcodes: string): ReadRow {
  return { ...unread([]), hexcodes, faults: undefined };
}

/** What JSON bodies with this status end with: the word, and the message that goes with it. */
export function tailOf(status: RowStatus): string {
  const message = REFUSAL_MESSAGES[status];
  return `"status":"${status}"${message === undefined ? '' : `,"message":${JSON.stringify(message)}`}`;
}

/** The answer as a JSON body. */
export function jsonOf(answer: RowAnswer): string {
  const { operation, row, status, code, position } = answer;
  const id = row.id === undefined ? '' : `,"id":${row.id}`;
  let tail = tailOf(status);
  if (status === 'INVALID_REQUEST') {
    const faults = row.faults ?? [];
    const message = faults.map((f) => `${f.parameter} ${f.message}`).join('; ');
    const hint = answer.isSwapped ? SWAPPED_HINT : '';
    tail += `,"message":${JSON.stringify(message + hint)},"details":${JSON.stringify(faults)}`;
  }
  if (operation === 'encode') {
    const admin = code === undefined ? 'null' : `"${adminOf(code)}"`;
    const text = code === undefined ? 'null' : `"${code}"`;
    const resolution = row.resolution < 0 ? 'null' : row.resolution;
    return `{"hexcodes":${text},"lat":${numberOf(row.latDeg)},"lng":${numberOf(row.lngDeg)},"resolution":${resolution},"admin_code":${admin},${tail}${id}}`;
  }
  if (status !== 'OK' && status !== 'INVALID_HEXCODES') return `{${tail}${id}}`;
  const { latDeg, lngDeg, resolution } = position ?? {
    latDeg: Number.NaN,
    lngDeg: Number.NaN,
    resolution: null,
  };
  return `{"lat":${numberOf(latDeg)},"lng":${numberOf(lngDeg)},"resolution":${resolution},"hexcodes":${JSON.stringify(row.hexcodes)},${tail}${id}}`;
}

/** The answer as a CSV row of our own columns, after the id where there is one, without a line end. */
export function csvOf(answer: RowAnswer, withId: boolean, delimiter: string): string {
  const { operation, row, status, code, position } = answer;
  const quoted = (text: string): string =>
    text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const degrees = (value: number | undefined): string =>
    value === undefined || Number.isNaN(value) ? '' : String(value);
  const id = row.id?.startsWith('"') ? (JSON.parse(row.id) as string) : (row.id ?? '');
  const fields = withId ? [quoted(id)] : [];
  if (operation === 'encode') {
    fields.push(
      degrees(row.latDeg),
      degrees(row.lngDeg),
      code ?? '',
      row.resolution < 0 ? '' : String(row.resolution),
    );
    fields.push(code === undefined ? '' : adminOf(code), status);
  } else {
    fields.push(quoted(row.hexcodes ?? ''), degrees(position?.latDeg), degrees(position?.lngDeg));
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
