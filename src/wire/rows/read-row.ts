// Reads one row in full, by library parsers and the rules of the single conversions: rows that the kernel's scan did not
// understand, and rows whose answer needs a message. Off the fast path: it makes objects for each row.
import type { CsvShape, Operation } from '../job.js';
import { eachMember, type JsonKind } from '../params/json-members.js';
import { decodeFaults, EncodeInput, type ParameterFault, SingleParameters } from '../params/parameters.js';
import { csvFields } from './csv-fields.js';

/** A row as read: degrees are NaN and the resolution is -1 where they cannot be read. */
export interface ReadRow {
  readonly latDeg: number;
  readonly lngDeg: number;
  readonly resolution: number;
  readonly hexcodes: string | undefined;
  /** As JSON text. */
  readonly id: string | undefined;
  /** undefined where the row is right. */
  readonly faults: readonly ParameterFault[] | undefined;
}

/** How items of JSON are read; a part of RowsTask. */
export interface ItemRules {
  readonly operation: Operation;
  /** Of items that name none. */
  readonly resolution: number;
  readonly maxItemBytes: number;
  /** Items are elements of an array, not lines. */
  readonly isArray: boolean;
}

const MAX_ID_UNITS = 128;

/** Kept apart from other faults: an array with such an element is no JSON as a whole. */
const NOT_JSON: ParameterFault = { parameter: 'item', message: 'is not valid JSON' };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

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

/** Reads an element of a batch's array or a line of NDJSON. */
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
  const first = /[^ \t\r\n]/.exec(text)?.[0];
  if (first === '{') return readObject(operation, text, resolution);
  // JSON.parse is slow to throw: a text that begins with no JSON value is refused without it.
  if (first === undefined || !'["-0123456789tfn'.includes(first)) return unread([NOT_JSON]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unread([NOT_JSON]);
  }
  return operation === 'decode' ? codeOf(value) : pairOf(value, resolution);
}

function codeOf(value: unknown): ReadRow {
  if (typeof value !== 'string')
    return unread([fault('item', 'must be a code or an object with a member hexcodes')]);
  const parameters = new SingleParameters();
  parameters.hexcodes.text = value;
  return judgeCode(parameters, undefined, undefined);
}

function pairOf(value: unknown, resolution: number): ReadRow {
  if (!Array.isArray(value) || value.length !== 2)
    return unread([fault('item', 'must be an object with lat and lng, or [lat, lng]')]);
  const parameters = new SingleParameters();
  for (const [place, name] of (['lat', 'lng'] as const).entries()) {
    const number: unknown = value[place];
    if (typeof number === 'number') parameters[name].text = String(number);
    else parameters[name].fault = 'must be a JSON number';
  }
  return judgePoint(parameters, resolution, undefined, undefined);
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
  const parameters = new SingleParameters();
  parameters.addJson(text);
  // A parameter of single requests; in an item it is a member like any other.
  parameters.adminV2.clear();
  if (idFault !== undefined) id = undefined;
  return operation === 'encode'
    ? judgePoint(parameters, resolution, id, idFault)
    : judgeCode(parameters, id, idFault);
}

function isId(valueText: string, kind: JsonKind): boolean {
  if (kind === 'number') return valueText.length <= MAX_ID_UNITS;
  return kind === 'string' && (JSON.parse(valueText) as string).length <= MAX_ID_UNITS;
}

function judgePoint(
  parameters: SingleParameters,
  resolution: number,
  id: string | undefined,
  idFault: ParameterFault | undefined,
): ReadRow {
  const own = parameters.resolution;
  if (own.text === undefined && own.fault === undefined) own.text = String(resolution);
  const input = new EncodeInput();
  input.read(parameters);
  const faults = idFault === undefined ? input.faults : [...(input.faults ?? []), idFault];
  const { latDeg, lngDeg } = input;
  return { latDeg, lngDeg, resolution: input.resolution, hexcodes: undefined, id, faults };
}

function judgeCode(
  parameters: SingleParameters,
  id: string | undefined,
  idFault: ParameterFault | undefined,
): ReadRow {
  const found = decodeFaults(parameters);
  const faults = idFault === undefined ? found : [...(found ?? []), idFault];
  return { ...unread([]), hexcodes: parameters.hexcodes.text, id, faults };
}

/** Reads a row of CSV whose answer leaves as JSON. */
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
  const parameters = new SingleParameters();
  const field = (column: number): string | undefined => fields[column] || undefined;
  if (operation === 'decode') {
    parameters.hexcodes.text = field(shape.hexcodes);
    return judgeCode(parameters, undefined, undefined);
  }
  parameters.lat.text = field(shape.lat);
  parameters.lng.text = field(shape.lng);
  parameters.resolution.text = field(shape.resolution);
  return judgePoint(parameters, resolution, undefined, undefined);
}

/** A position that came as two numbers. */
export function readPosition(latDeg: number, lngDeg: number, resolution: number): ReadRow {
  const parameters = new SingleParameters();
  parameters.lat.text = String(latDeg);
  parameters.lng.text = String(lngDeg);
  return judgePoint(parameters, resolution, undefined, undefined);
}

/** A code that came as a record. */
export function readCode(hexcodes: string): ReadRow {
  return { ...unread([]), hexcodes, faults: undefined };
}
