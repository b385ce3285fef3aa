// Reads tables of a SQLite database (version 3) that is held whole: rows in the order of their numbers. Views, virtual
// tables, tables WITHOUT ROWID and generated columns that are not stored are refused by their names.

import { shellWord } from '../shell-word.js';
import { TableError } from '../table-error.js';
import { plain, type SqlColumn, type SqlTable, type SqlValue, tableIn } from './sql-table.js';

interface StoredTable extends SqlTable {
  readonly name: string;
  readonly rootPage: number;
}

/** An entry of the schema. */
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
