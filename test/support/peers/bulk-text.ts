// The bulk conversions of text once more, slowly: csv-parse, JSON.parse, Number and String, one object a row, and the
// library. convertBlock must give the same bytes, but for the wording of messages.
import { parse } from 'csv-parse/sync';
import type { Hexcodes } from '#hexcodes';
import type { Operation } from '../wire.js';

const NUMBER = /^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

interface Meaning {
  status: string;
  latDeg: number | null;
  lngDeg: number | null;
  resolution: number | null;
  hexcodes: string | null;
  adminCode: string | null;
}

const NOTHING: Meaning = {
  status: 'INVALID_REQUEST',
  latDeg: null,
  lngDeg: null,
  resolution: null,
  hexcodes: null,
  adminCode: null,
};

const ROWS = { record_delimiter: ['\r\n', '\n'], relax_quotes: true, relax_column_count: true };

/** Whether a field has text behind a quote that closes on another line. */
function isTorn(row: string, delimiter: string): boolean {
  const fields = row.matchAll(new RegExp(`(?:"((?:[^"]|"")*)")?([^${delimiter}]*)(?:${delimiter}|$)`, 'g'));
  return [...fields].some(
    ([, quoted, behind]) => quoted?.includes('\n') === true && behind!.replace(BLANKS, '') !== '',
  );
}

/** The fields of a row of CSV; undefined where a quote has no end, or ends below text that has text behind it. */
export function fieldsByPeer(row: string, delimiter: string): string[] | undefined {
  if (isTorn(row, delimiter)) return undefined;
  try {
    const rows = parse(row, { ...ROWS, delimiter });
    return rows.length === 0 ? [''] : rows[0];
  } catch {
    return undefined;
  }
}

function encodeOne(library: Hexcodes, latDeg: number, lngDeg: number, resolution: number): Meaning {
  const known = { ...NOTHING, latDeg, lngDeg, resolution };
  try {
    const { hexcodes, admin_code } = library.encode(latDeg, lngDeg, resolution);
    return { ...known, status: 'OK', hexcodes, adminCode: admin_code };
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'OUTSIDE_COVERAGE') return { ...known, status: 'NOT_FOUND' };
    if (code === 'NOT_A_COORDINATE') return known;
    throw error;
  }
}

function decodeOne(library: Hexcodes, hexcodes: string): Meaning {
  const decoded = library.decode(hexcodes);
  if (decoded === null) return { ...NOTHING, status: 'INVALID_HEXCODES', hexcodes };
  const { lat, lng, resolution } = decoded;
  return { status: 'OK', latDeg: lat, lngDeg: lng, resolution, hexcodes, adminCode: null };
}

/** A JSON number without a sign: 7.0 is 7. */
function jsonResolutionOf(text: string): number | null {
  return text.startsWith('-') ? null : resolutionOf(String(Number(text)));
}

function resolutionOf(text: string): number | null {
  return /^(\d|1[0-5])$/.test(text) ? Number(text) : null;
}

/** Rows after the header, one string of latin-1 letters each, as bytes; `columns` are places. */
export function csvByPeer(
  library: Hexcodes,
  operation: Operation,
  document: Uint8Array,
  header: string,
  columns: { first: number; second: number; resolution: number },
  defaultResolution: number,
  delimiter = ',',
): string {
  const text = Buffer.from(document).toString('latin1');
  const count = header.split(delimiter).length;
  const rows = parse(Buffer.from(document), {
    ...ROWS,
    delimiter,
    skip_empty_lines: true,
    encoding: 'latin1',
    info: true,
  }) as unknown as { info: { bytes: number }; record: string[] }[];
  const headerEnd = header.endsWith('\r') ? '\r\n' : '\n';
  return rows
    .map(({ info, record }, i) => {
      if (i === 0) return '';
      // Blank lines before a row are counted to it.
      const row = text.slice(rows[i - 1]!.info.bytes, info.bytes).replace(/^(\r?\n)+/, '');
      const end = row.endsWith('\r\n') ? '\r\n' : row.endsWith('\n') ? '\n' : '';
      const bare = row.slice(0, row.length - end.length);
      const fields = isTorn(bare, delimiter) ? [] : record;
      const added = addedColumns(library, operation, fields, count, columns, defaultResolution);
      return (
        rectangular(bare, count, delimiter) +
        added.map((field) => delimiter + field).join('') +
        (end || headerEnd)
      );
    })
    .join('');
}

/** Spaces, tabs and no-break spaces (two bytes of UTF-8) at both ends. */
const BLANKS = /^(?: |\t|\u00c2\u00a0)+|(?: |\t|\u00c2\u00a0)+$/g;

/** One comma is a decimal comma, where there is no point. */
function asNumber(field = ''): string {
  const text = field.replace(BLANKS, '');
  const parts = text.split(',');
  return parts.length === 2 && parts[0] !== '' && !text.includes('.') ? parts.join('.') : text;
}

/** The first fields of a row unchanged, padded with empty ones; a quote that is not closed is closed. */
function rectangular(row: string, count: number, delimiter: string): string {
  const field = new RegExp(`"(?:[^"]|"")*(?:"[^${delimiter}]*)?|[^${delimiter}]*`, 'y');
  const fields: string[] = [];
  for (let at = 0; at <= row.length; at = field.lastIndex + 1) {
    field.lastIndex = at;
    const [text] = field.exec(row)!;
    field.lastIndex = at + text.length;
    const isOpen = /^"(?:[^"]|"")*$/.test(text);
    fields.push(isOpen ? `${text}"` : text);
  }
  return Array.from({ length: count }, (_, i) => fields[i] ?? '').join(delimiter);
}

function addedColumns(
  library: Hexcodes,
  operation: Operation,
  record: string[],
  count: number,
  columns: { first: number; second: number; resolution: number },
  defaultResolution: number,
): string[] {
  const isRagged = record.length !== count;
  if (operation === 'decode') {
    const code = Buffer.from(record[columns.first] ?? '', 'latin1').toString();
    if (isRagged || code === '') return ['', '', '', 'INVALID_REQUEST'];
    const m = decodeOne(library, code);
    return [m.latDeg, m.lngDeg, m.resolution, m.status].map((value) => String(value ?? ''));
  }
  const [lat, lng] = [asNumber(record[columns.first]), asNumber(record[columns.second])];
  const own = columns.resolution < 0 ? '' : (record[columns.resolution] ?? '');
  const resolution = own === '' ? defaultResolution : resolutionOf(own.replace(BLANKS, ''));
  const isRight = !isRagged && NUMBER.test(lat) && NUMBER.test(lng) && resolution !== null;
  const m = isRight ? encodeOne(library, Number(lat), Number(lng), resolution) : NOTHING;
  const ours = columns.resolution < 0 ? [String(defaultResolution)] : [];
  return [m.hexcodes ?? '', ...ours, m.adminCode ?? '', m.status];
}

/** One body a line, without message and details. */
export function ndjsonByPeer(
  library: Hexcodes,
  operation: Operation,
  document: Uint8Array,
  defaultResolution: number,
): string[] {
  const lines: Uint8Array[] = [];
  for (let from = 0; from < document.length; ) {
    const feed = document.indexOf(10, from);
    const end = feed < 0 ? document.length : feed;
    lines.push(document.subarray(from, end));
    from = end + 1;
  }
  return lines
    .filter((line) => line.some((byte) => byte !== 32 && byte !== 9 && byte !== 13))
    .map((line) => itemByPeer(library, operation, line, defaultResolution));
}

export function itemByPeer(
  library: Hexcodes,
  operation: Operation,
  line: Uint8Array,
  defaultResolution: number,
): string {
  let text: string;
  let item: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line);
    item = JSON.parse(text);
  } catch {
    return body(operation, NOTHING, undefined);
  }
  const isObject = typeof item === 'object' && item !== null && !Array.isArray(item);
  const members = isObject ? membersOf(text) : new Map<string, string[]>();
  if (operation === 'decode' && typeof item === 'string') members.set('hexcodes', [JSON.stringify(item)]);
  else if (operation === 'encode' && Array.isArray(item) && item.length === 2)
    members.set('lat', [JSON.stringify(item[0])]).set('lng', [JSON.stringify(item[1])]);
  else if (!isObject) return body(operation, NOTHING, undefined);
  const ids = members.get('id') ?? [];
  const id = ids[0] === undefined ? undefined : (JSON.parse(ids[0]) as unknown);
  const isIdRight =
    ids.every((each) => each === ids[0] || JSON.parse(each) === id) &&
    (id === undefined || typeof id === 'number' || (typeof id === 'string' && id.length <= 128));
  const idText = isIdRight ? ids[0] : undefined;
  if (operation === 'decode') {
    const code = agreedValue(members.get('hexcodes'), 'string');
    const isRight = typeof code === 'string' && code !== '' && isIdRight;
    return body(operation, isRight ? decodeOne(library, code) : NOTHING, idText);
  }
  const longitudes = [...members]
    .filter(([name]) => name === 'longitude' || name === 'lon')
    .flatMap(([, texts]) => texts);
  const latitudes = members.get('latitude') ?? [];
  const lngDeg = degrees(agreedValue(members.get('lng') ?? longitudes, 'number'));
  const latDeg = degrees(agreedValue(members.get('lat') ?? latitudes, 'number'));
  const isOther = (deg: number | null) => (text: string) => {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'number' && value !== deg;
  };
  const own = members.get('resolution');
  const isOwnRight = typeof agreedValue(own, 'number') === 'number';
  const resolution =
    own === undefined ? defaultResolution : isOwnRight ? jsonResolutionOf(own[0] as string) : null;
  const known = { ...NOTHING, latDeg, lngDeg, resolution };
  const isTwofold = latitudes.some(isOther(latDeg)) || longitudes.some(isOther(lngDeg));
  if (latDeg === null || lngDeg === null || resolution === null || !isIdRight || isTwofold)
    return body(operation, known, idText);
  return body(operation, encodeOne(library, latDeg, lngDeg, resolution), idText);
}

/** The members of a JSON object by their names, values as they are written. */
function membersOf(text: string): Map<string, string[]> {
  const members = new Map<string, string[]>();
  let [depth, from, last] = [0, 0, ''];
  let name: string | undefined;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
    if (depth === 1 && token === ':') {
      name = JSON.parse(last) as string;
      from = index + 1;
    } else if (depth === 1 && name !== undefined && /[,}]/.test(token[0]!)) {
      members.set(name, [...(members.get(name) ?? []), text.slice(from, index).trim()]);
      name = undefined;
    }
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    last = token;
  }
  return members;
}

/** The value, if all texts are of the kind and mean the same. */
function agreedValue(texts: string[] | undefined, kind: 'number' | 'string'): unknown {
  const values = (texts ?? []).map((text) => JSON.parse(text) as unknown);
  const [first] = values;
  return typeof first === kind && values.every((value) => value === first) ? first : undefined;
}

function degrees(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function body(operation: Operation, m: Meaning, id: string | undefined): string {
  const echo = id === undefined ? '' : `,"id":${id}`;
  const number = (value: number | null): string => (value === null ? 'null' : String(value));
  const status = `"status":"${m.status}"${echo}}`;
  const lat = number(m.latDeg);
  const lng = number(m.lngDeg);
  const resolution = number(m.resolution);
  if (operation === 'encode') {
    const [code, admin] = [JSON.stringify(m.hexcodes), JSON.stringify(m.adminCode)];
    return `{"hexcodes":${code},"lat":${lat},"lng":${lng},"resolution":${resolution},"admin_code":${admin},${status}`;
  }
  if (m.status === 'INVALID_REQUEST') return `{${status}`;
  return `{"lat":${lat},"lng":${lng},"resolution":${resolution},"hexcodes":${JSON.stringify(m.hexcodes)},${status}`;
}

/** A body of ours without its message and details, which the peer does not word. */
export function withoutWording(answer: string): string {
  return answer.replace(/,"message":"(?:[^"\\]|\\.)*"(,"details":\[.*?\](?=,"id"|\}$))?/, '');
}
