// Rows as CSV in chunks, for contents whose rows come one by one.

import { jsonText, parseExact, repeatedMember } from '../hexcodes/wire/params/json-grammar.js';
import { DIFFERS } from '../hexcodes/wire/params/query.js';
import {
  isGeometry,
  otherSystemOf,
  type PlacedRow,
  placedRows,
  type ShapeRow,
  shapeOfGeoJson,
} from './shapes/shapes.js';
import { TableError } from './table-error.js';

const QUOTED = /[",\r\n]|^\s|\s$/;
/** Bytes that end a chunk. */
const CHUNK_BYTES = 64 * 1024;
/** Longest text that is written character by character. */
const SHORT = 64;
const MAX_ASCII = 127;
const [LINE_FEED, BLANK, QUOTE, COMMA] = [10, 32, 34, 44] as const;

export class CsvLines {
  #bytes = new Uint8Array(2 * CHUNK_BYTES);
  #at = 0;
  readonly #encoder = new TextEncoder();

  /** @returns whether it is time to `take` */
  add(fields: readonly (string | undefined)[]): boolean {
    this.#reserve(fields.length + 1);
    for (let f = 0; f < fields.length; f++) {
      if (f > 0) this.#bytes[this.#at++] = COMMA;
      const text = fields[f];
      if (text === undefined || text === '') continue;
      this.#reserve(3 * text.length + fields.length + 1);
      if (text.length > SHORT || !this.#addPlain(text)) this.#addText(quoted(text), fields.length + 1);
    }
    this.#bytes[this.#at++] = LINE_FEED;
    return this.#at >= CHUNK_BYTES;
  }

  /** Removes and returns the rows so far. */
  take(): Uint8Array {
    const bytes = this.#bytes.slice(0, this.#at);
    this.#at = 0;
    return bytes;
  }

  /** @returns false for a text with quotes or characters outside ASCII */
  #addPlain(text: string): boolean {
    const bytes = this.#bytes;
    const at = this.#at;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      const isBlank = code <= BLANK && (i === 0 || i === text.length - 1 || code !== BLANK);
      if (isBlank || code > MAX_ASCII || code === QUOTE || code === COMMA) return false;
      bytes[at + i] = code;
    }
    this.#at = at + text.length;
    return true;
  }

  /** @param after bytes of space that must follow the text */
  #addText(text: string, after: number): void {
    this.#reserve(3 * text.length + after);
    this.#at += this.#encoder.encodeInto(text, this.#bytes.subarray(this.#at)).written;
  }

  #reserve(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#at + more));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

/** Rows of fields as CSV, in chunks. */
export function* csvOf(rows: Iterable<readonly (string | undefined)[]>): Generator<Uint8Array> {
  const lines = new CsvLines();
  for (const fields of rows) if (lines.add(fields)) yield lines.take();
  yield lines.take();
}

/** Rows with `lat` and `lng` after their other columns; `lat` holds the fault of an unreadable position. */
export function rowsAsCsv(
  names: readonly string[],
  rows: Iterable<PlacedRow<string | undefined>>,
): Iterable<Uint8Array> {
  function* all(): Generator<readonly (string | undefined)[]> {
    yield [...names, 'lat', 'lng'];
    for (const { fields, point, fault } of rows)
      yield [...fields, ...(point === null ? [fault, ''] : [`${point[1]}`, `${point[0]}`])];
  }
  return csvOf(all());
}

function quoted(text: string): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// A JSON text that is one table as CSV: GeoJSON, a list of rows, or an object around one list, as APIs answer.

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * CSV with a header row where rows have names. Features have `lat` and `lng` in front, as `hexcodes encode` writes
 * them.
 * @throws TableError for other JSON, and for lines and areas
 */
export function jsonAsCsv(text: string): Iterable<Uint8Array> {
  const values = valuesOf(text);
  const rows = values.length === 1 ? listIn(values[0]) : values;
  if (rows.every(isFeature)) return featureRows(rows as readonly Members[]);
  if (rows.every(isObject)) return objectRows(rows as readonly Members[]);
  if (rows.every(Array.isArray)) return plainRows(rows as readonly unknown[][]);
  if (rows.every((row) => typeof row === 'string')) return plainRows(rows.map((row) => [row]));
  throw new TableError('its list holds rows of several kinds');
}

/** The value of the text, or those of its lines. */
function valuesOf(text: string): unknown[] {
  const bare = text.replace(/^\ufeff/, '').replaceAll('\u001e', '');
  try {
    return [parseOnce(bare)];
  } catch (error) {
    if (error instanceof TableError) throw error;
    const lines = bare.split('\n').filter((line) => line.trim() !== '');
    if (lines.length < 2 || !(error instanceof SyntaxError)) throw notJson();
    try {
      return lines.map(parseOnce);
    } catch (fault) {
      throw fault instanceof TableError ? fault : notJson();
    }
  }
}

/** @throws TableError for a member that is repeated with different values */
function parseOnce(text: string): unknown {
  const value = parseExact(text);
  const twice = repeatedMember(text);
  if (twice !== undefined) throw new TableError(`${twice} ${DIFFERS}`);
  return value;
}

const notJson = (): TableError => new TableError('it is not valid JSON');

const isFeature = (value: unknown): boolean =>
  isObject(value) && (value.type === 'Feature' || isGeometry(value));

/** The rows of a whole value. */
function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) throw new TableError('it holds no rows');
  if (value.type === 'FeatureCollection') {
    const { crs, coordRefSys } = value;
    refuseOtherSystem({ crs });
    if (!Array.isArray(value.features)) throw new TableError('it is a FeatureCollection without features');
    return value.features.map((each) => (isObject(each) ? { coordRefSys, ...each } : each));
  }
  if (isFeature(value)) return [value];
  const lists = Object.values(value).filter((member) => Array.isArray(member) && member.some(isObject));
  return lists.length === 1 ? (lists[0] as unknown[]) : [value];
}

function refuseOtherSystem(value: Members): void {
  const other = otherSystemOf(value);
  if (other !== null)
    throw new TableError(`its coordinates are in ${other.called}, not in degrees of WGS 84`);
}

function* featureRows(features: readonly Members[]): Generator<Uint8Array> {
  const read = features.map((feature) => {
    refuseOtherSystem(feature);
    const geometry = isGeometry(feature) ? feature : feature.geometry;
    const { lat: _, lng: __, ...properties } = isObject(feature.properties) ? feature.properties : {};
    return { id: feature.id, properties: properties as Members, shape: shapeOfGeoJson(geometry) };
  });
  const hasTwoIds = read.some(
    ({ id, properties }) =>
      id !== undefined && Object.hasOwn(properties, 'id') && jsonText(id) !== jsonText(properties.id),
  );
  const rows = read.map(({ id, properties }): Members => {
    if (id === undefined) return properties;
    return hasTwoIds ? { feature_id: id, ...properties } : { id, ...properties };
  });
  const names = namesOf(rows);
  const shapes = rows.map(
    (row, i): ShapeRow<string> => ({
      fields: names.map((name) => fieldOf(memberOf(row, name))),
      shape: read[i]!.shape,
    }),
  );
  function* placed(): Generator<string[]> {
    yield ['lat', 'lng', ...names];
    for (const { fields, point } of placedRows(shapes, null))
      yield [...(point === null ? ['', ''] : [`${point[1]}`, `${point[0]}`]), ...fields];
  }
  yield* csvOf(placed());
}

function objectRows(rows: readonly Members[]): Iterable<Uint8Array> {
  const names = namesOf(rows);
  return plainRows([names, ...rows.map((row) => names.map((name) => memberOf(row, name)))]);
}

function plainRows(rows: readonly (readonly unknown[])[]): Iterable<Uint8Array> {
  function* texts(): Generator<string[]> {
    for (const row of rows) yield row.map(fieldOf);
  }
  return csvOf(texts());
}

const namesOf = (rows: readonly Members[]): string[] => [...new Set(rows.flatMap((row) => Object.keys(row)))];

/** Names may equal methods of every object. */
const memberOf = (row: Members, name: string): unknown => (Object.hasOwn(row, name) ? row[name] : undefined);

const fieldOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : jsonText(value);

/**
 * Whether a text is JSON that this module reads, and not lines of JSON.
 * @param beginning some thousand characters, or all
 */
export function isJsonTable(beginning: string): boolean {
  const start = beginning.replace(/^\ufeff/, '').trimStart();
  // A list of numbers is a line of JSON: a position.
  if (!start.startsWith('{')) return /^\[\s*["[{]/.test(start);
  // An object over several lines, or one line around a list.
  const [line = '', ...others] = start.split('\n');
  if (others.some((other) => other.trim() !== '')) return !line.trimEnd().endsWith('}');
  const [before] = /^[^[]*:\s*(?=\[\s*\{)/.exec(line) ?? [];
  return before !== undefined && !/"(?:lat|latitude|hexcodes|position|location)"/i.test(before);
}
