// Writes rows of bytes as CSV, NDJSON or GeoJSON: values are copied, and our members come from the kernel's records.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import { type Kernel, OK } from '../../hexcodes/kernel/kernel.js';
import {
  codeBytes,
  RECORD_BYTES,
  RECORD_TEXT_BYTES,
  recordStatusAt,
} from '../../hexcodes/kernel/output-layout.js';
import { FROM_FIELDS, FROM_FRAMES } from '../../hexcodes/kernel/text-memory.js';
import { ROW_STATUSES } from '../../hexcodes/wire/job.js';
import { isJsonNumber } from '../../hexcodes/wire/params/json-grammar.js';
import {
  type AddedValue,
  DECODED,
  fieldPieces,
  preparedMemoryOf,
} from '../../hexcodes/wire/rows/convert-rows.js';
import type { Output } from '../disk/output.js';
import type { Wanted } from '../driver.js';
import { type CsvDialect, csvQuoted } from '../formats/csv/dialect.js';
import { adminOf } from '../formats/parquet/own-columns.js';
import type { ColumnKind, FeatureFrame, PointColumns, TableColumn } from '../formats/table.js';
import { utf8Text } from '../formats/values/column-text.js';
import {
  type Area,
  areaOf,
  FIRST_OF_HALF,
  GrowingBytes,
  HALF,
  type TextRows,
  type ValueRanges,
} from './text-rows.js';

export interface RowWriter {
  /** @param records of the rows, as the kernel has written them */
  write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void>;
  /** Writes the end of the file. The caller finishes the output. */
  close(): Promise<void>;
  /** Removes what was written beside the output, however the run ends. */
  remove?(): void;
}

/** The columns of an output, in their order. */
export interface WrittenColumns {
  /** Indexes in the rows, and the columns that they become. */
  readonly kept: readonly (TableColumn & { readonly index: number })[];
  /**
   * The code, the resolution, the province, perhaps more of it, and the status: which value each has, and its index in
   * the rows, -1 where it is made of the records, for writers of types.
   */
  readonly added: readonly (TableColumn & { readonly index: number })[];
  readonly values: readonly AddedValue['is'][];
  readonly resolution: number;
  /** null where no column is ours. */
  readonly kernel: Kernel | null;
  /** Whether the kernel has scanned the rows as CSV: then it writes them as CSV, too. */
  readonly isScanned: boolean;
  /** How many of the kept columns, the last ones, are those of decoded codes. */
  readonly decoded: number;
}

const [LF, QUOTE, BACKSLASH, MINUS] = [10, 34, 92, 45] as const;
const OUT_BYTES = 1 << 20;
/** Our columns of a row, and the bytes that the kernel needs free after them. */
const MAX_TAIL_BYTES = 8192;
/** Most bytes of an escaped byte in JSON: `\u0001`. */
const MAX_ESCAPED = 6;
const HEX = Buffer.from('0123456789abcdef');
/** Kinds whose text is valid JSON. */
const BARE: ReadonlySet<ColumnKind> = new Set([
  ...(['double', 'float', 'int', 'uint', 'long', 'ulong', 'boolean', 'json'] as const),
]);

/** Bytes that JSON escapes: the letter after the backslash, `u` for those that have none. */
const LETTER_U = 0x75;
const ESCAPES = new Uint8Array(256);
ESCAPES.fill(LETTER_U, 0, 32);
for (const [byte, letter] of ['\b', '\t', '\n', '\f', '\r', '"', '\\'].map(
  (each, i) => [each.charCodeAt(0), 'btnfr"\\'.charCodeAt(i)] as const,
))
  ESCAPES[byte] = letter;
ESCAPES[HALF] = HALF;

/** Bytes that are written again and again, as words: four at a time are copied in half the time of single ones. */
interface Piece {
  readonly sizeBytes: number;
  readonly words: Uint32Array;
}

const WORD = 4;
/** Space after the last text, as words are written beyond its end. */
const MARGIN_BYTES = 32;

function pieceOf(text: string): Piece {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil(bytes.length / WORD) * WORD);
  padded.set(bytes);
  const view = new DataView(padded.buffer);
  const words = Uint32Array.from({ length: padded.length / WORD }, (_, i) => view.getUint32(WORD * i, true));
  return { sizeBytes: bytes.length, words };
}

/** @returns after the last byte, here and below */
function copied({ view }: Area, start: number, { sizeBytes, words }: Piece): number {
  for (let i = 0; i < words.length; i++) view.setUint32(start + WORD * i, words[i]!, true);
  return start + sizeBytes;
}

/** Copies a range of bytes. */
function copiedRange(out: Area, from: number, source: Area, start: number, end: number): number {
  let at = from;
  if (end + WORD <= source.bytes.length) {
    for (let p = start; p < end; p += WORD) {
      out.view.setUint32(at, source.view.getUint32(p, true), true);
      at += WORD;
    }
    return from + end - start;
  }
  for (let p = start; p < end; p++) out.bytes[at++] = source.bytes[p]!;
  return at;
}

/** Stand in a text for values that differ from row to row. */
const [CODE, METRES, SHARE] = ['\u0001', '\u0002', '\u0003'] as const;
/** More than former provinces. */
const UNITS = 64;
/** Bytes of a distance and a share, and of a former province. */
const MAX_BORDER_BYTES = 32;
const LONGEST_FORMER = 'x'.repeat(64);
const LONGEST_ADMIN = 'X'.repeat(Math.max(...ADMIN_UNITS.map(({ code }) => code.length)));

/**
 * The bytes around the code of a row: equal for all failed rows with one reason, or for a province and a former one;
 * the bytes after these equal for a distance to the border.
 */
class Tails {
  readonly before: Piece;
  readonly ofFailure: readonly Piece[];
  readonly most: number;
  readonly #kernel: Kernel | null;
  readonly #hasCode: boolean;
  readonly #hasFormer: boolean;
  readonly #hasBorder: boolean;
  /** The texts before and after the code, and after the distance where there is one. */
  readonly #partsOf: (admin: string, former: string | null) => string[];
  /** Made with the first row that needs them: by province and former one, and by metres. */
  readonly #ofProvince: (Piece | undefined)[] = new Array(ADMIN_UNITS.length * UNITS);
  readonly #ofMetres: (Piece | undefined)[] = [];
  /** Length of the last code of each province: most codes of a province have the same. */
  readonly #codeBytes = new Uint8Array(ADMIN_UNITS.length);

  /**
   * @param textOf our columns with their values, null for none
   * @param absent the text of a missing value
   */
  constructor(
    textOf: (values: readonly (string | null)[]) => string,
    private readonly absent: '' | 'null',
    { values, kernel, resolution }: WrittenColumns,
  ) {
    this.#kernel = kernel;
    this.#hasCode = values.includes('code');
    this.#hasFormer = values.includes('former');
    this.#hasBorder = values.includes('metres');
    const own = { resolution: String(resolution), status: 'OK', code: CODE, metres: METRES, share: SHARE };
    this.#partsOf = (admin, former) => {
      const all = { ...own, admin, former };
      return textOf(values.map((is) => all[is])).split(new RegExp(`[${CODE}${METRES}]`));
    };
    this.before = pieceOf(this.#partsOf('', null)[0]!);
    this.ofFailure = ROW_STATUSES.map((status) =>
      pieceOf(textOf(values.map((is) => (is === 'status' ? status : is === 'resolution' ? own[is] : null)))),
    );
    const longest = pieceOf(this.#partsOf(LONGEST_ADMIN, LONGEST_FORMER).join(''));
    const sizes = [longest, ...this.ofFailure].map(({ sizeBytes }) => sizeBytes);
    this.most = RECORD_TEXT_BYTES + MAX_BORDER_BYTES + Math.max(...sizes);
  }

  write(out: Area, start: number, { latLngDeg, records }: WrittenRows, row: number): number {
    if (!this.#hasCode) return copied(out, start, this.before);
    const record = RECORD_BYTES * row;
    const status = records.bytes[recordStatusAt(row)]!;
    if (status !== OK) return copied(out, start, this.ofFailure[status]!);
    let at = copied(out, start, this.before);
    const admin = adminOf(records.bytes, record);
    const size = codeBytes(records.bytes, record, this.#codeBytes[admin]);
    this.#codeBytes[admin] = size;
    at = copiedRange(out, at, records, record, record + size);
    if (!this.#hasFormer && !this.#hasBorder) return copied(out, at, this.#provinceAt(admin, 0));
    const [lat, lng] = [latLngDeg[2 * row]!, latLngDeg[2 * row + 1]!];
    const { exports } = this.#kernel!;
    at = copied(out, at, this.#provinceAt(admin, this.#hasFormer ? exports.unitOf(lat, lng) : 0));
    if (!this.#hasBorder) return at;
    const metres = exports.borderOf(lat, lng);
    this.#ofMetres[metres] ??= this.#borderAt(lat, lng);
    return copied(out, at, this.#ofMetres[metres]);
  }

  #provinceAt(admin: number, unit: number): Piece {
    const key = UNITS * admin + unit;
    const known = this.#ofProvince[key];
    if (known !== undefined) return known;
    const former = this.#hasFormer ? (this.#kernel!.formerProvinces?.[unit] ?? null) : null;
    const made = pieceOf(this.#partsOf(ADMIN_UNITS[admin]!.code, former)[1]!);
    this.#ofProvince[key] = made;
    return made;
  }

  #borderAt(lat: number, lng: number): Piece {
    const { borderM, certainty } = this.#kernel!.borderAt(lat, lng);
    const after = this.#partsOf('', null)[2]!;
    return pieceOf(`${borderM ?? this.absent}${after.replace(SHARE, String(certainty ?? this.absent))}`);
  }
}

/** Most bytes of the rows. */
function maxBytes({ rowCount, columns }: TextRows, { kept }: WrittenColumns, ofRow: number): number {
  const sum = kept.reduce((before, { index }) => before + sumOf(columns[index]!, rowCount), 0);
  return MAX_ESCAPED * (sum + rowCount) + rowCount * ofRow;
}

/** Bytes of the values of a column. */
function sumOf({ starts, ends }: ValueRanges, rowCount: number): number {
  let sum = 0;
  // A row without a value has the end of another row.
  for (let row = 0; row < rowCount; row++) if (starts[row] !== -1) sum += ends[row]! - starts[row]!;
  return sum;
}

export function isWantedRow(records: Uint8Array, row: number, wanted: Wanted): boolean {
  return wanted === 'all' || (records[recordStatusAt(row)] === OK) === (wanted === 'ok');
}

/**
 * The numbers of wanted rows.
 * @returns how many there are
 */
export function wantedRows(records: Uint8Array, rowCount: number, wanted: Wanted, into: Int32Array): number {
  let count = 0;
  for (let row = 0; row < rowCount; row++) if (isWantedRow(records, row, wanted)) into[count++] = row;
  return count;
}

/** Rows that are written, with the bytes of their texts and their records. */
interface WrittenRows extends TextRows {
  readonly source: Area;
  readonly records: Area;
}

abstract class TextWriter implements RowWriter {
  protected readonly columns: WrittenColumns;
  readonly #output: Output;
  readonly #out = new GrowingBytes(OUT_BYTES);
  #lead: Uint8Array | null;
  #isFirst = true;

  constructor(output: Output, columns: WrittenColumns, lead: string) {
    this.#output = output;
    this.columns = columns;
    this.#lead = Buffer.from(lead);
  }

  protected abstract readonly ofRow: number;
  /** Writes a row. @returns after its last byte */
  protected abstract fill(rows: WrittenRows, row: number, out: Area, at: number): number;
  protected abstract readonly end: string;

  async write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    const out = this.#out;
    out.at = 0;
    out.add(this.#lead ?? new Uint8Array(0));
    this.#lead = null;
    out.reserve(maxBytes(rows, this.columns, this.ofRow) + MARGIN_BYTES);
    const { text, rowCount, columns, latLngDeg } = rows;
    // Rows of one shape, whatever their reader adds: writers of JSON took 8 % longer with a copy of all members.
    const source = areaOf(text.bytes);
    const written = { text, rowCount, columns, latLngDeg, source, records: areaOf(records) };
    const area = areaOf(out.bytes);
    let at = out.at;
    for (let row = 0; row < rowCount; row++)
      if (isWantedRow(records, row, wanted)) at = this.fill(written, row, area, at);
    if (at > 0) await this.put(out.bytes.subarray(0, at));
  }

  /**
   * Writes the text between a feature and the previous one.
   * @returns the offset after it
   */
  protected separated({ bytes }: Area, at: number): number {
    if (this.#isFirst) {
      this.#isFirst = false;
      return at;
    }
    bytes[at] = 44;
    bytes[at + 1] = LF;
    return at + 2;
  }

  protected async put(bytes: Uint8Array): Promise<void> {
    await this.#output.write(this.#output.holdsBytes ? bytes.slice() : bytes);
  }

  /** Writes the text before the first row. */
  protected async writeLead(): Promise<void> {
    const lead = this.#lead;
    this.#lead = null;
    if (lead !== null && lead.length > 0) await this.#output.write(lead);
  }

  async close(): Promise<void> {
    const bytes = Buffer.concat([this.#lead ?? new Uint8Array(0), Buffer.from(this.end)]);
    if (bytes.length > 0) await this.#output.write(bytes);
  }
}

const theirsOf = ({ kept, decoded }: WrittenColumns): WrittenColumns['kept'] =>
  kept.slice(0, kept.length - decoded);

/**
 * The pieces of a row of CSV, and of the columns after its fields.
 * @returns null for rows that the kernel has not scanned, and for too many fields
 */
export function rowPieces(
  columns: WrittenColumns,
  delimiter: string,
): readonly [fields: Uint8Array, tail: Uint8Array] | null {
  if (!columns.isScanned) return null;
  const [values, resolution] = columns.decoded > 0 ? [DECODED, null] : [columns.values, columns.resolution];
  const indexes = theirsOf(columns).map(({ index }) => index);
  const of = (fields: readonly number[] | null): Uint8Array | null =>
    fieldPieces(fields, indexes.length > 0, values, delimiter, resolution);
  const [fields, tail] = [of(indexes), of(null)];
  return fields === null || tail === null ? null : [fields, tail];
}

export class CsvWriter extends TextWriter {
  protected readonly ofRow: number;
  protected readonly end = '';
  readonly #delimiter: number;
  readonly #tails: Tails;
  /** Pieces of a row, and of the columns after its fields; null if there are too many. */
  readonly #pieces: readonly [fields: Uint8Array, tail: Uint8Array] | null;
  /** The kept columns of the source. */
  readonly #theirs: WrittenColumns['kept'];
  /** Bytes that make quotes around a field necessary. */
  readonly #needsQuotes = new Uint8Array(256);

  /** @param isContinued whether an earlier run wrote the beginning of the output */
  constructor(
    output: Output,
    columns: WrittenColumns,
    { delimiter, hasMark, hasHeader }: CsvDialect,
    isContinued: boolean,
  ) {
    const all = [...columns.kept, ...columns.added];
    const names = hasHeader ? `${all.map(({ name }) => csvQuoted(name, delimiter)).join(delimiter)}\n` : '';
    super(output, columns, isContinued ? '' : (hasMark ? '\ufeff' : '') + names);
    this.#delimiter = delimiter.charCodeAt(0);
    for (let byte = 0; byte < 128; byte++) {
      const text = String.fromCharCode(byte);
      if (csvQuoted(text, delimiter) !== text) this.#needsQuotes[byte] = 1;
    }
    const lead = columns.kept.length === 0 || columns.added.length === 0 ? '' : delimiter;
    this.#tails = new Tails(
      (values) => `${lead}${values.map((value) => value ?? '').join(delimiter)}\n`,
      '',
      columns,
    );
    this.ofRow = this.#tails.most + 3 * columns.kept.length;
    this.#pieces = rowPieces(columns, delimiter);
    this.#theirs = theirsOf(columns);
  }

  protected fill(rows: WrittenRows, row: number, area: Area, from: number): number {
    return this.#tails.write(area, this.#fields(rows, row, area, from, this.columns.kept), rows, row);
  }

  #fields(
    { text, columns }: TextRows,
    row: number,
    { bytes: out }: Area,
    from: number,
    kept: WrittenColumns['kept'],
  ): number {
    const { bytes } = text;
    const needsQuotes = this.#needsQuotes;
    let at = from;
    for (let c = 0; c < kept.length; c++) {
      if (c > 0) out[at++] = this.#delimiter;
      const { starts, ends } = columns[kept[c]!.index]!;
      const start = starts[row]!;
      if (start < 0) continue;
      const end = ends[row]!;
      const fieldAt = at;
      let quotes = 0;
      for (let p = start; p < end; p++) {
        const byte = bytes[p]!;
        quotes |= needsQuotes[byte]!;
        out[at++] = byte;
      }
      if (quotes === 0) continue;
      at = fieldAt;
      out[at++] = QUOTE;
      for (let p = start; p < end; p++) {
        const byte = bytes[p]!;
        if (byte === QUOTE) out[at++] = QUOTE;
        out[at++] = byte;
      }
      out[at++] = QUOTE;
    }
    return at;
  }

  /** Rows of CSV are written by the kernel, except the fields of rows that it has left. */
  override async write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    if (this.#pieces === null) return super.write(rows, records, wanted);
    await this.writeLead();
    const memory = preparedMemoryOf(this.columns.kernel!);
    const { rowCount } = rows;
    const { exports, textOut, textOutAt } = memory;
    const area = areaOf(textOut);
    const [fields, tail] = this.#pieces;
    const writeRows = (from: number, to: number, source: number): number =>
      this.columns.decoded > 0
        ? exports.writeDecodedRows(rowCount, from, to, source, this.#delimiter)
        : exports.writeRows(from, to, source, this.#delimiter, LF, 0);
    exports.setTextEnd(textOutAt);
    let end = 0;
    for (let row = 0; row < rowCount; ) {
      if (row === end) {
        while (row < rowCount && !isWantedRow(records, row, wanted)) row++;
        for (end = row; end < rowCount && isWantedRow(records, end, wanted); ) end++;
      }
      memory.usePieces(fields);
      row = writeRows(row, end, FROM_FIELDS);
      if (row === end) continue;
      const at = memory.textEnd - textOutAt;
      if (
        memory.isLeftToHost(row) &&
        this.#fieldBytes(rows, row) + at <= textOut.length - exports.FIELDS_BYTES.value
      ) {
        exports.setTextEnd(textOutAt + this.#fields(rows, row, area, at, this.#theirs));
        memory.usePieces(tail);
        writeRows(row, row + 1, FROM_FRAMES);
        row++;
        continue;
      }
      if (at === 0) throw new RangeError('a row of CSV has no room');
      await this.put(textOut.subarray(0, at));
      exports.setTextEnd(textOutAt);
    }
    if (memory.textEnd > textOutAt) await this.put(textOut.subarray(0, memory.textEnd - textOutAt));
  }

  /** Most bytes of a row: each of its fields may consist of quotes. */
  #fieldBytes({ columns }: TextRows, row: number): number {
    let sum = MAX_TAIL_BYTES;
    for (const { index } of this.#theirs) {
      const { starts, ends } = columns[index]!;
      sum += 2 * (ends[row]! - starts[row]!) + 3;
    }
    return sum;
  }
}

const NULL = pieceOf('null');

/** Whether a number or a boolean is valid JSON: NaN and Infinity are not. */
function isJson(bytes: Uint8Array, start: number): boolean {
  const first = bytes[start]!;
  return first !== 73 && first !== 78 && (first !== MINUS || bytes[start + 1] !== 73);
}

/** Writes a value as a string of JSON. */
function jsonAt(area: Area, from: number, source: Area, start: number, end: number): number {
  if (start < 0) return copied(area, from, NULL);
  const { bytes: out } = area;
  const { bytes } = source;
  let at = from;
  out[at++] = QUOTE;
  for (let p = start; p < end; p++) {
    const byte = bytes[p]!;
    const letter = ESCAPES[byte]!;
    if (letter === 0) {
      out[at++] = byte;
      continue;
    }
    if (letter === HALF && bytes[p + 1]! < FIRST_OF_HALF) {
      out[at++] = byte;
      continue;
    }
    out[at++] = BACKSLASH;
    out[at++] = letter === HALF ? LETTER_U : letter;
    if (letter !== LETTER_U && letter !== HALF) continue;
    const unit = letter === LETTER_U ? byte : 0xd000 | ((bytes[++p]! & 0x3f) << 6) | (bytes[++p]! & 0x3f);
    for (let shift = 12; shift >= 0; shift -= 4) out[at++] = HEX[(unit >> shift) & 15]!;
  }
  out[at++] = QUOTE;
  return at;
}

/** Members of an object with their names; our columns after them. */
class JsonMembers {
  readonly #tails: Tails;
  readonly ofRow: number;
  readonly #kept: readonly { readonly index: number; readonly isBare: boolean; readonly name: Piece }[];

  constructor(columns: WrittenColumns, without: readonly number[], end: string) {
    const { kept, added } = columns;
    const members = kept.filter((_, c) => !without.includes(c));
    this.#kept = members.map(({ index, name, kind, isInferred }, c) => ({
      index,
      isBare: BARE.has(kind) || (kind === 'decimal' && isInferred === true),
      name: pieceOf(`${c === 0 ? '' : ','}${JSON.stringify(name)}:`),
    }));
    const lead = members.length === 0 || added.length === 0 ? '' : ',';
    const isText = added.map(({ kind }) => kind === 'text');
    const textOf = (values: readonly (string | null)[]): string => {
      const texts = values.map((value, c) =>
        value === null ? 'null' : isText[c] === true ? `"${value}"` : value,
      );
      return `${lead}${texts.map((value, c) => `${JSON.stringify(added[c]!.name)}:${value}`).join(',')}${end}`;
    };
    this.#tails = new Tails(textOf, 'null', columns);
    this.ofRow = this.#tails.most + this.#kept.reduce((sum, { name }) => sum + name.sizeBytes + 6, 0);
  }

  write(out: Area, from: number, rows: WrittenRows, row: number): number {
    const { columns, source } = rows;
    let at = from;
    const kept = this.#kept;
    for (let c = 0; c < kept.length; c++) {
      const { index, isBare, name } = kept[c]!;
      at = copied(out, at, name);
      const { starts, ends } = columns[index]!;
      const start = starts[row]!;
      const end = ends[row]!;
      const isCopied = isBare && start >= 0 && isJson(source.bytes, start);
      at = isCopied ? copiedRange(out, at, source, start, end) : jsonAt(out, at, source, start, end);
    }
    return this.#tails.write(out, at, rows, row);
  }
}

export class NdjsonWriter extends TextWriter {
  protected readonly ofRow: number;
  protected readonly end = '';
  readonly #members: JsonMembers;

  constructor(output: Output, columns: WrittenColumns) {
    super(output, columns, '');
    this.#members = new JsonMembers(columns, [], '}\n');
    this.ofRow = this.#members.ofRow + 2;
  }

  protected fill(rows: WrittenRows, row: number, out: Area, at: number): number {
    out.bytes[at] = 123;
    return this.#members.write(out, at + 1, rows, row);
  }
}

const POINT = pieceOf('{"type":"Feature","geometry":{"type":"Point","coordinates":[');
const NO_POINT = pieceOf('{"type":"Feature","geometry":null,"properties":{');
const PROPERTIES = pieceOf(']},"properties":{');

/** The texts around features that come from no collection. */
export const NO_FRAME: FeatureFrame = {
  lead: '{"type":"FeatureCollection","features":[\n',
  end: () => '\n]}\n',
};

export class GeoJsonWriter extends TextWriter {
  protected readonly ofRow: number;
  protected readonly end = NO_FRAME.end();
  readonly #members: JsonMembers;
  /** Members of points: the binary form of a geometry would say it once more. */
  readonly #ofPoints: JsonMembers;
  readonly #lat: number;
  readonly #lng: number;
  readonly #given: readonly { readonly index: number; readonly name: Piece }[];

  /** @param position columns of numbers, by their index among those kept */
  constructor(output: Output, columns: WrittenColumns, { lat, lng, shape = -1 }: PointColumns) {
    super(output, columns, NO_FRAME.lead);
    this.#lat = columns.kept[lat]!.index;
    this.#lng = columns.kept[lng]!.index;
    this.#members = new JsonMembers(columns, [lat, lng], '}}');
    this.#ofPoints = shape < 0 ? this.#members : new JsonMembers(columns, [lat, lng, shape], '}}');
    this.#given = [lat, lng].map((c) => {
      const { index, name } = columns.kept[c]!;
      return { index, name: pieceOf(`${JSON.stringify(name)}:`) };
    });
    const given = this.#given.reduce((sum, { name }) => sum + name.sizeBytes + 6, 0);
    this.ofRow = this.#members.ofRow + given + POINT.sizeBytes + PROPERTIES.sizeBytes + 8;
  }

  protected fill(rows: WrittenRows, row: number, area: Area, from: number): number {
    const { columns, latLngDeg, source } = rows;
    const isPoint = Math.abs(latLngDeg[2 * row]!) <= 90 && Math.abs(latLngDeg[2 * row + 1]!) <= 180;
    let at = copied(area, this.separated(area, from), isPoint ? POINT : NO_POINT);
    if (isPoint) {
      at = this.#degrees(area, at, source, columns[this.#lng]!, row);
      area.bytes[at++] = 44;
      at = this.#degrees(area, at, source, columns[this.#lat]!, row);
      return this.#ofPoints.write(area, copied(area, at, PROPERTIES), rows, row);
    }
    at = this.#asGiven(area, at, rows, row);
    return this.#members.write(area, at, rows, row);
  }

  /** A position that cannot be a geometry stays unchanged. */
  #asGiven(area: Area, from: number, { columns, source }: WrittenRows, row: number): number {
    let at = from;
    for (const { index, name } of this.#given) {
      const { starts, ends } = columns[index]!;
      const [start, end] = [starts[row]!, ends[row]!];
      if (start < 0 || start === end) continue;
      at = copied(area, at, name);
      const isNumber = isJsonNumber(utf8Text(source.bytes.subarray(start, end)));
      at = isNumber ? copiedRange(area, at, source, start, end) : jsonAt(area, at, source, start, end);
      area.bytes[at++] = 44;
    }
    return at;
  }

  #degrees(
    area: Area,
    from: number,
    source: Area,
    { starts, ends }: { starts: Int32Array; ends: Int32Array },
    row: number,
  ): number {
    const { bytes } = source;
    let start = starts[row]!;
    const end = ends[row]!;
    // A zero has no sign there.
    if (end - start === 2 && bytes[start] === MINUS && bytes[start + 1] === 48) start++;
    return copiedRange(area, from, source, start, end);
  }
}

/** Features with our properties, otherwise unchanged: their two parts are the first kept columns. */
export class FeatureWriter extends TextWriter {
  protected readonly ofRow: number;
  readonly #members: JsonMembers;
  readonly #end: () => string;
  readonly #isLines: boolean;

  constructor(output: Output, columns: WrittenColumns, { lead, isLines = false, end }: FeatureFrame) {
    super(output, columns, lead);
    this.#members = new JsonMembers(columns, [0, 1], '');
    this.ofRow = this.#members.ofRow + WORD;
    this.#end = end;
    this.#isLines = isLines;
  }

  protected get end(): string {
    return this.#end();
  }

  protected fill(rows: WrittenRows, row: number, area: Area, from: number): number {
    const { source, columns } = rows;
    const { kept } = this.columns;
    const [before, after] = [columns[kept[0]!.index]!, columns[kept[1]!.index]!];
    let at = this.#isLines ? from : this.separated(area, from);
    at = copiedRange(area, at, source, before.starts[row]!, before.ends[row]!);
    if (area.bytes[at - 1] !== 123) area.bytes[at++] = 44;
    at = this.#members.write(area, at, rows, row);
    at = copiedRange(area, at, source, after.starts[row]!, after.ends[row]!);
    if (this.#isLines) area.bytes[at++] = LF;
    return at;
  }
}
