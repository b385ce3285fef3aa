// Reads one row in full, by the rules of the single conversions: rows that the kernel's scan did not understand, and
// rows whose answer needs a message. Off the fast path: it makes objects for each row, but throws nothing and parses
// nothing twice.
import type { CsvShape, Operation } from '../job.js';
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
import { csvFields, plainNumber, withoutBlanks } from './csv-fields.js';

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
  /** Names that were probably meant, after the message of the faults. */
  readonly hint?: string;
}

/** How items of JSON are read; a part of RowsTask. */
export interface ItemRules {
  readonly operation: Operation;
  /** Resolution of items that name none. */
  readonly resolution: number;
  readonly maxItemBytes: number;
  /** Items are elements of an array, not lines. */
  readonly isArray: boolean;
}

const MAX_ID_UNITS = 128;
const PAIR = ['lat', 'lng'] as const;

/** Kept apart from other rows: an array with such an element is not JSON as a whole. */
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
  // Lines of several files, and of JSON text sequences (RFC 7464), begin with a mark.
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

/** Reads an array of JSON whose first element, or closing bracket, is at `from` or after white space there. */
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
  // A parameter of single requests; in an item it is a member like any other.
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

/** Reads a row of CSV whose answer leaves as JSON. */
export function readCsvRow(
  operation: Operation,
  bytes: Uint8Array,
  shape: CsvShape,
  delimiter: number,
  resolution: number,
): ReadRow {
  const fields = csvFields(lenient.decode(bytes), delimiter);
  if (fields === undefined) return unread([fault('row', 'has a quote that is not closed')]);
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

/** A position that came as two numbers. */
export function readPosition(latDeg: number, lngDeg: number, resolution: number): ReadRow {
  const parameters = new SingleParameters('encode');
  parameters.lat.text = String(latDeg);
  parameters.lng.text = String(lngDeg);
  return judgePoint(parameters, resolution, undefined, undefined);
}

/** A code that came as a record. */
export function readCode(hexcodes: string): ReadRow {
  return { ...unread([]), hexcodes, faults: undefined };
}
