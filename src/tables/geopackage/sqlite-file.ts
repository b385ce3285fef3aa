// Reads tables of a SQLite database (version 3) that is held whole: rows in the order of their numbers. Views, virtual
// tables, tables WITHOUT ROWID and generated columns that are not stored are refused by their names.

import { bytesOfHex } from '../../hexcodes/wire/rows/well-known-binary.js';
import { shellWord, TableError } from '../table-error.js';

// The columns of a SQLite table by the text of its CREATE TABLE, read in one pass.

export type SqlValue = null | number | bigint | string | Uint8Array;

/** How values are converted before they are stored (https://sqlite.org/datatype3.html, 3.1). */
type Affinity = 'integer' | 'real' | 'numeric' | 'text' | 'blob';

export interface SqlColumn {
  readonly name: string;
  /** The declared type in capitals; '' where there is none. */
  readonly type: string;
  readonly affinity: Affinity;
  /** Whether it is computed when it is read, and not in the records. */
  readonly isVirtual: boolean;
  /** The value of records that were written before the column was added; undefined where it is not a literal. */
  readonly initial: SqlValue | undefined;
}

interface SqlTable {
  readonly columns: readonly SqlColumn[];
  /** Index of the column that is the number of the row; -1 where there is none. */
  readonly rowNumber: number;
  readonly isWithoutRowid: boolean;
}

interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'blob' | 'number' | 'mark';
  /** Without quotes; words as they are written. */
  readonly text: string;
}

const CLOSING: Readonly<Record<string, string>> = { '"': '"', '`': '`', '[': ']', "'": "'" };
const PLAIN =
  /(?:0x[0-9a-f]+|\d+(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?)|[a-z_$\u0080-\uffff][\w$\u0080-\uffff]*/iy;

/** @throws TableError for a text with an open end */
function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  const upTo = (end: number): number => {
    if (end < 0) throw new TableError('the SQL of a table in it has an open quote or comment');
    return end;
  };
  for (let at = 0; at < sql.length; ) {
    const letter = sql[at]!;
    const close = CLOSING[letter];
    if (/\s/.test(letter)) at++;
    else if (sql.startsWith('--', at)) at = sql.indexOf('\n', at) < 0 ? sql.length : sql.indexOf('\n', at);
    else if (sql.startsWith('/*', at))
      at = sql.indexOf('*/', at + 2) < 0 ? sql.length : sql.indexOf('*/', at + 2) + 2;
    else if (close !== undefined) {
      const parts: string[] = [];
      let start = at + 1;
      let end = upTo(sql.indexOf(close, start));
      // A quote that is doubled stands for itself; a bracket has no such spelling.
      while (letter !== '[' && sql[end + 1] === close) {
        parts.push(sql.slice(start, end + 1));
        start = end + 2;
        end = upTo(sql.indexOf(close, start));
      }
      parts.push(sql.slice(start, end));
      const last = tokens.at(-1);
      const isBlob =
        letter === "'" && last?.kind === 'word' && /^x$/i.test(last.text) && /x/i.test(sql[at - 1]!);
      if (isBlob) tokens.pop();
      tokens.push({ kind: isBlob ? 'blob' : letter === "'" ? 'text' : 'name', text: parts.join('') });
      at = end + 1;
    } else {
      PLAIN.lastIndex = at;
      const [plain] = PLAIN.exec(sql) ?? [];
      if (plain === undefined) tokens.push({ kind: 'mark', text: letter });
      else tokens.push({ kind: /^[\d.]/.test(plain) ? 'number' : 'word', text: plain });
      at += plain?.length ?? 1;
    }
  }
  return tokens;
}

const isWord = (token: Token | undefined, word: RegExp): boolean =>
  token?.kind === 'word' && word.test(token.text);
const isMark = (token: Token | undefined, mark: string): boolean =>
  token?.kind === 'mark' && token.text === mark;

const TABLE_CONSTRAINT = /^(?:CONSTRAINT|PRIMARY|UNIQUE|CHECK|FOREIGN)$/i;
const COLUMN_CONSTRAINT =
  /^(?:CONSTRAINT|PRIMARY|NOT|NULL|UNIQUE|CHECK|DEFAULT|COLLATE|REFERENCES|GENERATED|AS)$/i;

/** @param sql as the database holds it. @throws TableError for what is not a list of columns */
export function tableIn(sql: string): SqlTable {
  const definitions: Token[][] = [[]];
  const after: Token[] = [];
  let depth = 0;
  let isOver = false;
  for (const token of tokensOf(sql)) {
    if (isMark(token, ')')) depth--;
    if (isOver) after.push(token);
    else if (depth === 0 && isMark(token, ')')) isOver = true;
    else if (depth === 1 && isMark(token, ',')) definitions.push([]);
    else if (depth > 0) definitions.at(-1)!.push(token);
    if (isMark(token, '(')) depth++;
  }
  if (!isOver || depth !== 0) throw new TableError('the SQL of a table in it has no list of columns');
  const isConstraint = ([first]: Token[]): boolean => isWord(first, TABLE_CONSTRAINT);
  const listed = definitions.filter((each) => !isConstraint(each)).map(columnIn);
  const keys = definitions.filter(isConstraint).flatMap(keyIn);
  const columns = listed.map(({ column }) => column);
  const named = keys.length === 1 ? keys[0]!.toLowerCase() : undefined;
  const rowNumber = listed.findIndex(
    ({ column: { name, type }, isKey }) => type === 'INTEGER' && (isKey || name.toLowerCase() === named),
  );
  return { columns, rowNumber, isWithoutRowid: after.some((token) => isWord(token, /^WITHOUT$/i)) };
}

/** The one column of a primary key of the table. */
function keyIn(tokens: Token[]): string[] {
  const start = isWord(tokens[0], /^CONSTRAINT$/i) ? 2 : 0;
  if (!isWord(tokens[start], /^PRIMARY$/i)) return [];
  const inside = tokens.slice(start + 3);
  return inside.some((token) => isMark(token, ',')) ? ['', ''] : [inside[0]?.text ?? ''];
}

function columnIn(tokens: Token[]): { column: SqlColumn; isKey: boolean } {
  const [name, ...rest] = tokens;
  if (name === undefined || name.kind === 'mark')
    throw new TableError('the SQL of a table in it has no name of a column');
  const constraintAt = rest.findIndex((token) => isWord(token, COLUMN_CONSTRAINT));
  const ofType = constraintAt < 0 ? rest : rest.slice(0, constraintAt);
  const constraints = constraintAt < 0 ? [] : rest.slice(constraintAt);
  const bracket = ofType.findIndex((token) => isMark(token, '('));
  const words = (bracket < 0 ? ofType : ofType.slice(0, bracket)).map(({ text }) => text);
  const type = words.join(' ').toUpperCase();
  const affinity = affinityOf(type);
  let [isKey, isGenerated, isStored] = [false, false, false];
  let initial: SqlValue | undefined = null;
  let depth = 0;
  constraints.forEach((token, i) => {
    if (isMark(token, '(')) depth++;
    if (isMark(token, ')')) depth--;
    if (depth > 0) return;
    if (isWord(token, /^PRIMARY$/i)) isKey = !isWord(constraints[i + 2], /^DESC$/i);
    else if (isWord(token, /^AS$/i)) isGenerated = true;
    else if (isWord(token, /^STORED$/i)) isStored = true;
    else if (isWord(token, /^DEFAULT$/i)) initial = literalIn(constraints, i + 1, affinity);
  });
  const isVirtual = isGenerated && !isStored;
  return { column: { name: name.text, type, affinity, isVirtual, initial }, isKey };
}

function affinityOf(type: string): Affinity {
  if (type.includes('INT')) return 'integer';
  if (/CHAR|CLOB|TEXT/.test(type)) return 'text';
  if (type === '' || type.includes('BLOB')) return 'blob';
  return /REAL|FLOA|DOUB/.test(type) ? 'real' : 'numeric';
}

/** The value of a literal from an index on; undefined for any other expression. */
function literalIn(tokens: readonly Token[], start: number, affinity: Affinity): SqlValue | undefined {
  let [at, depth, sign] = [start, 0, 1];
  for (; ; at++) {
    if (isMark(tokens[at], '(')) depth++;
    else if (isMark(tokens[at], '-')) sign = -sign;
    else if (!isMark(tokens[at], '+')) break;
  }
  for (let closing = 0; closing < depth; closing++)
    if (!isMark(tokens[at + 1 + closing], ')')) return undefined;
  const token = tokens[at];
  if (token === undefined) return undefined;
  const { kind, text } = token;
  if (kind === 'number')
    return affinity === 'text' ? textOfNumber(text, sign) : withAffinity(numberOf(text, sign), affinity);
  if (kind === 'blob') return /^(?:[0-9a-f]{2})*$/i.test(text) ? bytesOfHex(text) : undefined;
  if (kind === 'text' || kind === 'name') return sign < 0 ? undefined : withAffinity(text, affinity);
  if (isWord(token, /^NULL$/i)) return null;
  if (isWord(token, /^(?:TRUE|FALSE)$/i)) return withAffinity(/^TRUE$/i.test(text) ? sign : 0, affinity);
  // A bare word is a text, but for the times, which are not the same for all records.
  return kind === 'mark' || depth > 0 || isWord(token, /^CURRENT_/i)
    ? undefined
    : withAffinity(text, affinity);
}

/** Digits of the longest literal that is read as an integer. */
const MAX_DIGITS = 40;
const WHOLE = /^[-+]?\d+$/;

function numberOf(text: string, sign: number): number | bigint {
  if (/^0x/i.test(text)) return plain(BigInt.asIntN(64, BigInt(text)) * BigInt(sign));
  const whole = text.length <= MAX_DIGITS && WHOLE.test(text) ? BigInt(text) * BigInt(sign) : undefined;
  return whole !== undefined && BigInt.asIntN(64, whole) === whole ? plain(whole) : sign * Number(text);
}

/** An integer that a double holds exactly. */
export function plain(value: number | bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const NUMBER = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*$/i;

/** A literal as a column of an affinity stores it. */
function withAffinity(value: number | bigint | string, affinity: Affinity): SqlValue {
  if (affinity === 'blob') return value;
  if (affinity === 'text') return String(value);
  if (typeof value === 'string' && !NUMBER.test(value)) return value;
  const trimmed = typeof value === 'string' ? value.trim() : value;
  const number =
    typeof trimmed === 'string'
      ? numberOf(trimmed.replace(/^[-+]/, ''), trimmed.startsWith('-') ? -1 : 1)
      : trimmed;
  if (affinity === 'real') return Number(number);
  return number;
}

/** The text that a column of texts stores for a number; undefined where SQLite has digits of its own for it. */
function textOfNumber(digits: string, sign: number): string | undefined {
  const number = numberOf(digits, sign);
  if (typeof number === 'bigint' || WHOLE.test(digits) || /^0x/i.test(digits)) return String(number);
  if (/e/.test(String(number)) || digits.length > MAX_DIGITS - 25) return undefined;
  return Number.isInteger(number) ? `${number}.0` : String(number);
}

interface StoredTable extends SqlTable {
  readonly name: string;
  readonly rootPage: number;
}

interface Entry {
  readonly type: string;
  readonly name: string;
  readonly rootPage: number;
  readonly sql: string;
}

const MARK = 'SQLite format 3\0';
const HEAD_BYTES = 100;
const INTERIOR = 5;
const LEAF = 13;
const MAX_DEPTH = 32;
/** Versions of the format that are read: with a rollback journal, and with a write-ahead log. */
const MAX_VERSION = 2;
/** Encodings by their number in the head; 0 is in a database without content. */
const ENCODINGS = ['utf-8', 'utf-8', 'utf-16le', 'utf-16be'] as const;
const SCHEMA: StoredTable = {
  ...tableIn('CREATE TABLE sqlite_master(type TEXT, name TEXT, tbl_name TEXT, rootpage INT, sql TEXT)'),
  name: 'sqlite_master',
  rootPage: 1,
};
const SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];
const BROKEN = 'the database is broken';

/** The refusal of what is not read, with the line that converts the layer. */
export function notRead(what: string, layer: string): TableError {
  return new TableError(
    what,
    `ogr2ogr reads it: ogr2ogr -t_srs EPSG:4326 points.geojson FILE ${shellWord(layer)}`,
  );
}

export class SqliteFile {
  readonly #view: DataView;
  readonly #pageBytes: number;
  /** Bytes of a page without those that are set apart at its end. */
  readonly #usable: number;
  readonly #decoder: TextDecoder;
  /** Tables and views by their names in lower case. */
  readonly #entries = new Map<string, Entry>();

  /** @throws TableError for what is no such database */
  constructor(private readonly bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < HEAD_BYTES || latin1(bytes.subarray(0, MARK.length)) !== MARK)
      throw new TableError(BROKEN);
    const size = this.#view.getUint16(16);
    this.#pageBytes = size === 1 ? 65_536 : size;
    this.#usable = this.#pageBytes - bytes[20]!;
    const encoding = ENCODINGS[this.#view.getUint32(56)];
    if (this.#pageBytes < 512 || this.#usable < 480 || encoding === undefined) throw new TableError(BROKEN);
    if (bytes[19]! > MAX_VERSION)
      throw new TableError(`it is of version ${bytes[19]} of the format, which is not read`);
    this.#decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
    for (const [type, name, , rootPage, sql] of this.#rowsOf(SCHEMA)) {
      if ((type !== 'table' && type !== 'view') || typeof name !== 'string' || typeof sql !== 'string')
        continue;
      this.#entries.set(name.toLowerCase(), { type, name, sql, rootPage: Number(rootPage ?? 0) });
    }
  }

  has(name: string): boolean {
    return this.#entries.get(name.toLowerCase())?.type === 'table';
  }

  isView(name: string): boolean {
    return this.#entries.get(name.toLowerCase())?.type === 'view';
  }

  /** Without those of the database itself. */
  get tableNames(): string[] {
    return [...this.#entries.values()].flatMap(({ type, name }) =>
      type === 'view' || name.startsWith('sqlite_') ? [] : [name],
    );
  }

  /** @throws TableError for a table of a kind that is not read */
  columnsOf(name: string): readonly SqlColumn[] {
    return this.#table(name).columns;
  }

  /** @throws TableError for a table of a kind that is not read, and where its pages are broken */
  rows(name: string): Generator<SqlValue[]> {
    return this.#rowsOf(this.#table(name));
  }

  #table(wanted: string): StoredTable {
    const entry = this.#entries.get(wanted.toLowerCase());
    if (entry === undefined) throw new TableError(`it has no table ${wanted}`);
    const { type, name, rootPage, sql } = entry;
    if (type === 'view') throw notRead(`${name} is a view, which is not read`, name);
    if (/^\s*CREATE\s+VIRTUAL\b/i.test(sql))
      throw notRead(`${name} is a virtual table, which is not read`, name);
    const table = tableIn(sql);
    if (table.isWithoutRowid) throw notRead(`the table ${name} is WITHOUT ROWID, which is not read`, name);
    const virtual = table.columns.find(({ isVirtual }) => isVirtual);
    if (virtual !== undefined)
      throw notRead(
        `the column ${virtual.name} of ${name} is GENERATED and not stored, which is not read`,
        name,
      );
    return { ...table, name, rootPage };
  }

  *#rowsOf(table: StoredTable): Generator<SqlValue[]> {
    try {
      for (const rows of this.#page(table, table.rootPage, { seen: new Set(), lastRow: null }, 0))
        for (const row of rows) yield row;
    } catch (error) {
      if (error instanceof RangeError) throw new TableError(BROKEN);
      if (error instanceof TypeError) throw new TableError('a text in it is not of its encoding');
      throw error;
    }
  }

  /**
   * The rows of each leaf below a page.
   * @param walk the pages that have been read, and the number of the last row, for the whole tree
   */
  *#page(table: StoredTable, page: number, walk: Walk, depth: number): Generator<SqlValue[][]> {
    if (depth > MAX_DEPTH) throw new TableError(BROKEN);
    this.#enter(page, walk);
    const start = (page - 1) * this.#pageBytes;
    const at = page === 1 ? HEAD_BYTES : start;
    const kind = this.#view.getUint8(at);
    if (kind !== LEAF && kind !== INTERIOR) throw new TableError(BROKEN);
    const cells = this.#view.getUint16(at + 3);
    const pointers = at + (kind === LEAF ? 8 : 12);
    // Cells do not overlap: more bytes than a page has are those of cells that are pointed at twice.
    let left = this.#pageBytes;
    const rows: SqlValue[][] = [];
    for (let i = 0; i < cells; i++) {
      const cell = start + this.#view.getUint16(pointers + 2 * i);
      if (kind === LEAF) {
        const { values, cellBytes } = this.#row(table, cell, walk);
        left -= cellBytes;
        if (left < 0) throw new TableError(BROKEN);
        rows.push(values);
      } else yield* this.#page(table, this.#view.getUint32(cell), walk, depth + 1);
    }
    if (kind === LEAF) yield rows;
    else yield* this.#page(table, this.#view.getUint32(at + 8), walk, depth + 1);
  }

  /** A page belongs to one place of one tree. */
  #enter(page: number, { seen }: Walk): void {
    if (page < 1 || seen.has(page)) throw new TableError(BROKEN);
    seen.add(page);
  }

  #row(
    { name, columns, rowNumber }: StoredTable,
    cell: number,
    walk: Walk,
  ): { values: SqlValue[]; cellBytes: number } {
    const [size, afterSize] = this.#varint(this.#view, cell);
    const [number, start] = this.#varint(this.#view, afterSize);
    const row = typeof number === 'number' ? number : BigInt.asIntN(64, number);
    if (walk.lastRow !== null && row <= walk.lastRow) throw new TableError(BROKEN);
    walk.lastRow = row;
    const { view, from, end, localBytes } = this.#payload(start, Number(size), walk);
    const [headBytes, afterHead] = this.#varint(view, from);
    const headEnd = from + Number(headBytes);
    let [at, body] = [afterHead, headEnd];
    const values = new Array<SqlValue>(columns.length);
    let read = 0;
    while (at < headEnd) {
      const column = columns[read];
      if (column === undefined) throw new TableError(BROKEN);
      const [type, next] = this.#varint(view, at);
      at = next;
      body += bytesOf(Number(type));
      if (at > end || body > end) throw new TableError(BROKEN);
      const value = this.#value(view, Number(type), body);
      const isRowNumber = read === rowNumber && value === null;
      // Columns of reals store whole numbers as integers.
      const isReal = column.affinity === 'real' && typeof value === 'bigint';
      values[read++] = isRowNumber ? plain(row) : isReal ? Number(value) : value;
    }
    while (read < columns.length) {
      const { name: missing, initial } = columns[read]!;
      if (initial === undefined)
        throw notRead(`the column ${missing} of ${name} was added with a DEFAULT that is not read`, name);
      values[read++] = initial;
    }
    return { values, cellBytes: start - cell + localBytes };
  }

  /** @param end of the value in the content of a cell */
  #value(view: DataView, type: number, end: number): SqlValue {
    switch (type) {
      case 0:
        return null;
      case 1:
        return view.getInt8(end - 1);
      case 2:
        return view.getInt16(end - 2);
      case 3:
        return view.getInt8(end - 3) * 2 ** 16 + view.getUint16(end - 2);
      case 4:
        return view.getInt32(end - 4);
      case 5:
        return view.getInt16(end - 6) * 2 ** 32 + view.getUint32(end - 4);
      case 6:
        return plain(view.getBigInt64(end - 8));
      case 7:
        return view.getFloat64(end - 8);
      case 8:
      case 9:
        return type - 8;
    }
    const bytes = bytesOf(type);
    const slice = new Uint8Array(view.buffer, view.byteOffset + end - bytes, bytes);
    return type % 2 === 0 ? slice : this.#decoder.decode(slice);
  }

  /** The content of a cell, whose end may be on pages of its own. */
  #payload(start: number, size: number, walk: Walk): Payload {
    const most = this.#usable - 35;
    if (size > this.bytes.length) throw new TableError(BROKEN);
    if (size <= most) {
      if (start + size > this.bytes.length) throw new TableError(BROKEN);
      return { view: this.#view, from: start, end: start + size, localBytes: size };
    }
    const least = Math.floor(((this.#usable - 12) * 32) / 255) - 23;
    const fitting = least + ((size - least) % (this.#usable - 4));
    const here = fitting <= most ? fitting : least;
    const whole = new Uint8Array(size);
    whole.set(this.#slice(start, here));
    let filled = here;
    let page = this.#view.getUint32(start + here);
    while (filled < size) {
      this.#enter(page, walk);
      const at = (page - 1) * this.#pageBytes;
      const bytes = Math.min(size - filled, this.#usable - 4);
      whole.set(this.#slice(at + 4, bytes), filled);
      filled += bytes;
      page = this.#view.getUint32(at);
    }
    return { view: new DataView(whole.buffer), from: 0, end: size, localBytes: here + 4 };
  }

  #slice(start: number, bytes: number): Uint8Array {
    if (start + bytes > this.bytes.length) throw new TableError(BROKEN);
    return this.bytes.subarray(start, start + bytes);
  }

  #varint(view: DataView, start: number): [value: number | bigint, end: number] {
    let small = 0;
    for (let i = 0; i < 4; i++) {
      const byte = view.getUint8(start + i);
      small = (small << 7) | (byte & 0x7f);
      if (byte < 0x80) return [small, start + i + 1];
    }
    let value = BigInt(small);
    for (let i = 4; i < 8; i++) {
      const byte = view.getUint8(start + i);
      value = (value << 7n) | BigInt(byte & 0x7f);
      if (byte < 0x80) return [value, start + i + 1];
    }
    return [(value << 8n) | BigInt(view.getUint8(start + 8)), start + 9];
  }
}

/** State of a walk through one tree. */
interface Walk {
  readonly seen: Set<number>;
  lastRow: number | bigint | null;
}

/** The content of a cell, and how many of its bytes are in the cell. */
interface Payload {
  readonly view: DataView;
  readonly from: number;
  readonly end: number;
  readonly localBytes: number;
}

/** Bytes of a value of a type. @throws TableError for an unknown type */
function bytesOf(type: number): number {
  if (type < SIZES.length) return SIZES[type]!;
  if (type < 12) throw new TableError(BROKEN);
  return Math.floor((type - 12) / 2);
}

const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes);
