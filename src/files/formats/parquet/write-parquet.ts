// Writes rows of bytes as Parquet in row groups of 65,536 rows, or of 64 MiB of text: values as columns of plain bytes,
// the others from the kernel's records.

import type { SchemaElement } from 'hyparquet';
import { OK } from '../../../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, recordStatusAt } from '../../../hexcodes/kernel/output-layout.js';
import type { Output } from '../../disk/output.js';
import type { Wanted } from '../../driver.js';
import type { TextRows } from '../../rows/text-rows.js';
import { type RowWriter, type WrittenColumns, wantedRows } from '../../rows/write-text.js';
import type { TableColumn } from '../table.js';
import { keyValuesOf } from './footer.js';
import { adminChunk, adminOf, CodePages, resolutionChunk, statusChunk } from './own-columns.js';
import { NONE, type OwnChunk, ownChunkMetadata, thriftElement } from './pages.js';
import { elementOf } from './parquet-types.js';
import { PlainColumn } from './plain-column.js';
import {
  BINARY,
  binary,
  FALSE,
  I32,
  I64,
  LIST,
  STRUCT,
  type ThriftStruct,
  thrift,
  writtenThrift,
} from './thrift.js';

// The parts of a Parquet file around its column chunks: offsets, row groups, schema and footer.

const MAGIC = binary('PAR1');
/** Members of a chunk and its metadata by their ids in the format. */
const METADATA = 3;
/** Member of an element. */
const CHILDREN = 5;
const [PLAIN_BYTES, PACKED_BYTES] = [6, 7] as const;

/** A file whose columns are copied unchanged. */
interface CopiedFile {
  readonly root?: ThriftStruct;
  /** Whether bounds are in the order of types. */
  readonly hasOrders?: boolean;
  /** Arrow's schema, and the number of our columns in it. */
  readonly arrowSchema?: { readonly text: string; readonly kept: number } | undefined;
}

export class ParquetFileWriter {
  readonly #groups: ThriftStruct[] = [];
  #chunks: ThriftStruct[] = [];
  #rows = 0;
  #offset = 0;

  constructor(private readonly output: Output) {}

  /** Where the next bytes lie in the file. */
  get offset(): number {
    return this.#offset === 0 ? MAGIC.length : this.#offset;
  }

  /** @param parts whose memory may be reused once it has resolved */
  async write(parts: readonly Uint8Array[]): Promise<void> {
    const all = this.#offset === 0 ? [MAGIC, ...parts] : parts;
    for (const part of all) {
      this.#offset += part.length;
      await this.output.write(this.output.holdsBytes ? part.slice() : part);
    }
  }

  async writeChunk(chunk: OwnChunk, element: SchemaElement, rows: number): Promise<void> {
    this.addChunk(ownChunkMetadata(chunk, element, rows, this.offset));
    await this.write(chunk.pages);
  }

  /** Adds a chunk whose pages have been written. */
  addChunk(chunk: ThriftStruct): void {
    this.#chunks.push(chunk);
  }

  /** @param sortedBy the column by which rows are sorted, nulls last */
  endGroup(rows: number, sortedBy?: number): void {
    const chunks = this.#chunks;
    const total = (id: number): bigint =>
      chunks.reduce(
        (sum, chunk) => sum + BigInt((chunk.get(METADATA)!.value as ThriftStruct).get(id)!.value as bigint),
        0n,
      );
    const sorting =
      sortedBy === undefined ? undefined : thrift([1, I32, sortedBy], [2, FALSE, false], [3, FALSE, false]);
    this.#groups.push(
      thrift(
        [1, LIST, { type: STRUCT, values: chunks }],
        [2, I64, total(PLAIN_BYTES)],
        [3, I64, BigInt(rows)],
        [4, LIST, sorting === undefined ? undefined : { type: STRUCT, values: [sorting] }],
        [6, I64, total(PACKED_BYTES)],
      ),
    );
    this.#chunks = [];
    this.#rows += rows;
  }

  /**
   * Writes the metadata.
   * @param elements of the columns, each followed by its children
   * @param columns described in the file
   * @param source the input file; its first columns are copied unchanged
   */
  async end(
    elements: readonly ThriftStruct[],
    columns: readonly TableColumn[],
    { root = ROOT, hasOrders = true, arrowSchema }: CopiedFile = {},
  ): Promise<void> {
    const said = (await keyValuesOf(columns, arrowSchema)).map(({ key, value }) =>
      thrift([1, BINARY, binary(key)], [2, BINARY, binary(value ?? '')]),
    );
    const top = new Map(root).set(CHILDREN, { type: I32, value: columns.length });
    const order = thrift([1, STRUCT, thrift()]);
    const leaves = elements.filter((element) => Number(element.get(CHILDREN)?.value ?? 0) === 0);
    const footer = writtenThrift(
      thrift(
        [1, I32, 2],
        [2, LIST, { type: STRUCT, values: [top, ...elements] }],
        [3, I64, BigInt(this.#rows)],
        [4, LIST, { type: STRUCT, values: this.#groups }],
        [5, LIST, said.length > 0 ? { type: STRUCT, values: said } : undefined],
        [6, BINARY, binary('hexcodes')],
        [7, LIST, hasOrders ? { type: STRUCT, values: leaves.map(() => order) } : undefined],
      ),
    );
    const size = Buffer.alloc(4);
    size.writeUInt32LE(footer.length);
    await this.write([footer, size, MAGIC]);
  }
}

const ROOT = thrift([4, BINARY, binary('root')]);

const GROUP_ROWS = 65_536;
const MAX_HELD_BYTES = 64 * 2 ** 20;

export class ParquetRowWriter implements RowWriter {
  readonly #columns: WrittenColumns;
  readonly #file: ParquetFileWriter;
  readonly #all: WrittenColumns['kept'];
  /** One for each column, null for a column made of records. */
  readonly #plain: readonly (PlainColumn | null)[];
  readonly #hasRecords: boolean;
  readonly #halves: readonly (0 | 1 | null)[];
  readonly #codeParts: Uint8Array[] = [];
  readonly #codes = new CodePages((part) => this.#codeParts.push(part));
  readonly #admins = new Uint8Array(GROUP_ROWS);
  readonly #statuses = new Uint8Array(GROUP_ROWS);
  #wanted = new Int32Array(0);
  #records = new Uint8Array(0);
  #rows = 0;

  /** @param halves 0 or 1 for the kept columns that are made of positions; the ranges of others are plain values */
  constructor(output: Output, columns: WrittenColumns, halves: readonly (0 | 1 | null)[]) {
    this.#columns = columns;
    this.#file = new ParquetFileWriter(output);
    this.#all = [...columns.kept, ...columns.added];
    this.#plain = this.#all.map((column) => (column.index < 0 ? null : new PlainColumn(elementOf(column))));
    this.#hasRecords = this.#plain.includes(null);
    this.#halves = halves;
  }

  async write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    if (this.#wanted.length < rows.rowCount) {
      this.#wanted = new Int32Array(rows.rowCount);
      this.#records = new Uint8Array(RECORD_BYTES * rows.rowCount);
    }
    const count = wantedRows(records, rows.rowCount, wanted, this.#wanted);
    const own = wanted === 'all' ? records : this.#gathered(records, count);
    for (let from = 0; from < count; ) {
      const to = Math.min(count, from + GROUP_ROWS - this.#rows);
      for (const [c, column] of this.#plain.entries()) {
        if (column === null) continue;
        const half = this.#halves[c] ?? null;
        const ranges = rows.columns[this.#all[c]!.index]!;
        if (half === null) column.addRanges(rows.text.bytes, ranges, this.#wanted, from, to);
        else this.#addDegrees(column, rows, half, from, to);
      }
      if (this.#hasRecords) this.#addOwn(own, from, to);
      this.#rows += to - from;
      from = to;
      const held = this.#plain.reduce((sum, column) => sum + (column?.sizeBytes ?? 0), 0);
      if (this.#rows === GROUP_ROWS || held >= MAX_HELD_BYTES) await this.#endGroup();
    }
  }

  #addDegrees(column: PlainColumn, { latLngDeg }: TextRows, half: 0 | 1, from: number, to: number): void {
    const wanted = this.#wanted;
    for (let i = from; i < to; i++) {
      const value = latLngDeg[2 * wanted[i]! + half]!;
      if (Number.isNaN(value)) column.addNull();
      else column.addDouble(value);
    }
  }

  #gathered(records: Uint8Array, count: number): Uint8Array {
    for (let i = 0; i < count; i++) {
      const start = RECORD_BYTES * this.#wanted[i]!;
      this.#records.set(records.subarray(start, start + RECORD_BYTES), RECORD_BYTES * i);
    }
    return this.#records;
  }

  #addOwn(records: Uint8Array, from: number, to: number): void {
    this.#codes.add(from === 0 ? records : records.subarray(RECORD_BYTES * from), to - from);
    for (let row = from; row < to; row++) {
      const status = records[recordStatusAt(row)]!;
      const at = this.#rows + row - from;
      this.#admins[at] = status === OK ? adminOf(records, RECORD_BYTES * row) : NONE;
      this.#statuses[at] = status;
    }
  }

  async #endGroup(): Promise<void> {
    const rows = this.#rows;
    if (rows === 0) return;
    for (const [c, column] of this.#all.entries()) {
      const chunk =
        this.#plain[c]?.end() ?? this.#ownChunk(this.#columns.values[c - this.#columns.kept.length]!);
      await this.#file.writeChunk(chunk, elementOf(column), rows);
    }
    this.#file.endGroup(rows);
    this.#rows = 0;
  }

  #ownChunk(is: WrittenColumns['values'][number]): OwnChunk {
    const rows = this.#rows;
    if (is === 'code') return { ...this.#codes.end(), pages: this.#codeParts.splice(0) };
    if (is === 'resolution') return resolutionChunk(this.#columns.resolution, rows);
    return is === 'admin'
      ? adminChunk(this.#admins.subarray(0, rows))
      : statusChunk(this.#statuses.subarray(0, rows));
  }

  async close(): Promise<void> {
    await this.#endGroup();
    const columns = this.#all;
    await this.#file.end(
      columns.map((column) => thriftElement(elementOf(column))),
      columns,
    );
  }
}
