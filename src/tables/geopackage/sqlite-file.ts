// Reads tables of a SQLite database (version 3) that is held whole: rows in the order of their numbers. Indexes, views
// and tables WITHOUT ROWID are not read, nor what is in a journal beside the file.

import { TableError } from '../table-error.js';

export type SqlValue = null | number | bigint | string | Uint8Array;

interface SqlTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Index of the column that is the number of the row; -1 where there is none. */
  readonly rowNumber: number;
  readonly rootPage: number;
}

const MARK = 'SQLite format 3\0';
const HEAD_BYTES = 100;
const INTERIOR = 5;
const LEAF = 13;
const MOST_DEPTH = 32;
const SCHEMA = {
  name: 'sqlite_master',
  columns: ['type', 'name', 'tbl_name', 'rootpage', 'sql'],
  rowNumber: -1,
  rootPage: 1,
};
const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8];
const BROKEN = 'the database is broken';

export class SqliteFile {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #pageBytes: number;
  /** Bytes of a page without those that are set apart at its end. */
  readonly #usable: number;
  readonly #decoder = new TextDecoder();
  readonly #tables: ReadonlyMap<string, SqlTable>;

  /** @throws TableError for what is no such database */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const hasMark = bytes.length >= HEAD_BYTES && this.#text(0, MARK.length) === MARK;
    if (!hasMark) throw new TableError(BROKEN);
    const size = this.#view.getUint16(16);
    this.#pageBytes = size === 1 ? 65_536 : size;
    this.#usable = this.#pageBytes - bytes[20]!;
    if (this.#pageBytes < 512 || this.#usable < 480) throw new TableError(BROKEN);
    if (this.#view.getUint32(56) > 1) throw new TableError('its texts are in UTF-16, which is not read');
    this.#tables = this.#schema();
  }

  has(name: string): boolean {
    return this.#tables.has(name.toLowerCase());
  }

  /** Without those of the database itself. */
  get tableNames(): string[] {
    return [...this.#tables.values()].flatMap(({ name }) => (name.startsWith('sqlite_') ? [] : [name]));
  }

  columnsOf(name: string): readonly string[] {
    return this.#table(name).columns;
  }

  /** @throws TableError where there is no such table, and where its pages are broken */
  *rows(name: string): Generator<SqlValue[]> {
    yield* this.#rowsOf(this.#table(name));
  }

  #table(name: string): SqlTable {
    const table = this.#tables.get(name.toLowerCase());
    if (table === undefined) throw new TableError(`it has no table ${name}`);
    return table;
  }

  #schema(): Map<string, SqlTable> {
    const tables = new Map<string, SqlTable>();
    for (const [type, name, , rootPage, sql] of this.#rowsOf(SCHEMA)) {
      if (type !== 'table' || typeof name !== 'string' || typeof sql !== 'string') continue;
      if (typeof rootPage !== 'number' || rootPage < 1) continue;
      const columns = columnsIn(sql);
      const rowNumber = columns.findIndex(({ isRowNumber }) => isRowNumber);
      tables.set(name.toLowerCase(), {
        name,
        columns: columns.map((each) => each.name),
        rowNumber,
        rootPage,
      });
    }
    return tables;
  }

  *#rowsOf(table: SqlTable): Generator<SqlValue[]> {
    try {
      yield* this.#page(table, table.rootPage, { seen: new Set(), depth: 0 });
    } catch (error) {
      if (error instanceof RangeError) throw new TableError(BROKEN);
      throw error;
    }
  }

  *#page(
    table: SqlTable,
    page: number,
    { seen, depth }: { seen: Set<number>; depth: number },
  ): Generator<SqlValue[]> {
    // A page belongs to one place of one tree.
    if (page < 1 || seen.has(page) || depth > MOST_DEPTH) throw new TableError(BROKEN);
    seen.add(page);
    const start = (page - 1) * this.#pageBytes;
    const at = page === 1 ? HEAD_BYTES : start;
    const kind = this.#view.getUint8(at);
    if (kind !== LEAF && kind !== INTERIOR) throw new TableError(BROKEN);
    const cells = this.#view.getUint16(at + 3);
    const pointers = at + (kind === LEAF ? 8 : 12);
    for (let i = 0; i < cells; i++) {
      const cell = start + this.#view.getUint16(pointers + 2 * i);
      if (kind === LEAF) yield this.#row(table, cell);
      else yield* this.#page(table, this.#view.getUint32(cell), { seen, depth: depth + 1 });
    }
    if (kind === INTERIOR) yield* this.#page(table, this.#view.getUint32(at + 8), { seen, depth: depth + 1 });
  }

  #row({ columns, rowNumber }: SqlTable, cell: number): SqlValue[] {
    const [size, afterSize] = this.#varint(this.#view, cell);
    const [number, start] = this.#varint(this.#view, afterSize);
    const payload = this.#payload(start, Number(size));
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    const [headBytes, afterHead] = this.#varint(view, 0);
    let [at, body] = [afterHead, Number(headBytes)];
    const values: SqlValue[] = [];
    while (at < Number(headBytes) && values.length < columns.length) {
      const [type, next] = this.#varint(view, at);
      at = next;
      const [value, end] = this.#value(view, Number(type), body);
      body = end;
      values.push(values.length === rowNumber && value === null ? plain(BigInt.asIntN(64, number)) : value);
    }
    // Columns that were added later are not in rows of before.
    while (values.length < columns.length) values.push(null);
    return values;
  }

  #value(view: DataView, type: number, at: number): [value: SqlValue, end: number] {
    if (type === 0) return [null, at];
    if (type <= 6) {
      const bytes = INTEGER_BYTES[type]!;
      let value = BigInt(view.getInt8(at));
      for (let i = 1; i < bytes; i++) value = (value << 8n) | BigInt(view.getUint8(at + i));
      return [plain(value), at + bytes];
    }
    if (type === 7) return [view.getFloat64(at), at + 8];
    if (type === 8 || type === 9) return [type - 8, at];
    if (type < 12) throw new TableError(BROKEN);
    const bytes = Math.floor((type - 12) / 2);
    if (at + bytes > view.byteLength) throw new TableError(BROKEN);
    const slice = new Uint8Array(view.buffer, view.byteOffset + at, bytes);
    return [type % 2 === 0 ? slice : this.#decoder.decode(slice), at + bytes];
  }

  /** The content of a cell, whose end may be on pages of its own. */
  #payload(start: number, size: number): Uint8Array {
    const most = this.#usable - 35;
    if (size > this.#bytes.length) throw new TableError(BROKEN);
    if (size <= most) return this.#slice(start, size);
    const least = Math.floor(((this.#usable - 12) * 32) / 255) - 23;
    const fitting = least + ((size - least) % (this.#usable - 4));
    const here = fitting <= most ? fitting : least;
    const whole = new Uint8Array(size);
    whole.set(this.#slice(start, here));
    let filled = here;
    let page = this.#view.getUint32(start + here);
    while (filled < size) {
      if (page < 1) throw new TableError(BROKEN);
      const at = (page - 1) * this.#pageBytes;
      const bytes = Math.min(size - filled, this.#usable - 4);
      whole.set(this.#slice(at + 4, bytes), filled);
      filled += bytes;
      page = this.#view.getUint32(at);
    }
    return whole;
  }

  #slice(start: number, bytes: number): Uint8Array {
    if (start + bytes > this.#bytes.length) throw new TableError(BROKEN);
    return this.#bytes.subarray(start, start + bytes);
  }

  #text(start: number, bytes: number): string {
    return this.#decoder.decode(this.#bytes.subarray(start, start + bytes));
  }

  #varint(view: DataView, start: number): [value: bigint, end: number] {
    let value = 0n;
    for (let i = 0; i < 8; i++) {
      const byte = view.getUint8(start + i);
      value = (value << 7n) | BigInt(byte & 0x7f);
      if (byte < 0x80) return [value, start + i + 1];
    }
    return [(value << 8n) | BigInt(view.getUint8(start + 8)), start + 9];
  }
}

function plain(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const CONSTRAINT = /^(?:CONSTRAINT|PRIMARY|UNIQUE|CHECK|FOREIGN)\b/i;
const NAME = /^(?:"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[([^\]]*)\]|([^\s,()]+))/;
/** Texts, comments, quoted names and single characters of SQL. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*.*?\*\/|./gs;

/** The columns of a CREATE TABLE, by its text. */
function columnsIn(sql: string): { name: string; isRowNumber: boolean }[] {
  const definitions = [''];
  let depth = 0;
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token.startsWith('--') || token.startsWith('/*')) continue;
    if (token === ')') depth--;
    if (token === ',' && depth === 1) definitions.push('');
    else if (depth > 0) definitions[definitions.length - 1] += token;
    if (token === '(') depth++;
  }
  return definitions.flatMap((definition) => {
    const text = definition.trim();
    const match = NAME.exec(text);
    if (match === null || CONSTRAINT.test(text)) return [];
    const [whole, double, tick, bracket, bare] = match;
    const name = double?.replaceAll('""', '"') ?? tick?.replaceAll('``', '`') ?? bracket ?? bare!;
    return [{ name, isRowNumber: /^\s*INTEGER\s+PRIMARY\s+KEY\b/i.test(text.slice(whole.length)) }];
  });
}
