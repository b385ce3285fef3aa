// A file of Parquet around its column chunks: where they lie, row groups, schema and footer.

import type { SchemaElement } from 'hyparquet';
import type { Output } from '../../disk/output.js';
import type { TableColumn } from '../table.js';
import { keyValuesOf } from './footer.js';
import { type OwnChunk, ownChunkMetadata } from './pages.js';
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

const MAGIC = binary('PAR1');
/** Members of a chunk and its metadata by their ids in the format. */
const METADATA = 3;
/** Member of an element. */
const CHILDREN = 5;
const [PLAIN_BYTES, PACKED_BYTES] = [6, 7] as const;

/** A file whose columns are copied as they are. */
export interface CopiedFile {
  readonly root?: ThriftStruct;
  /** Whether bounds are in the order of types. */
  readonly hasOrders?: boolean;
  /** Arrow's schema, and how many of our columns are in it. */
  readonly arrowSchema?: { readonly text: string; readonly kept: number } | undefined;
}

export class ParquetFileWriter {
  readonly #output: Output;
  readonly #groups: ThriftStruct[] = [];
  #chunks: ThriftStruct[] = [];
  #rows = 0;
  #offset = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Where the next bytes lie in the file. */
  get offset(): number {
    return this.#offset === 0 ? MAGIC.length : this.#offset;
  }

  /** @param parts whose memory may be used again when it has resolved */
  async write(parts: readonly Uint8Array[]): Promise<void> {
    const all = this.#offset === 0 ? [MAGIC, ...parts] : parts;
    for (const part of all) {
      this.#offset += part.length;
      await this.#output.write(this.#output.holdsBytes ? part.slice() : part);
    }
  }

  /** Writes a chunk of the row group that has been begun. */
  async writeChunk(chunk: OwnChunk, element: SchemaElement, rows: number): Promise<void> {
    this.addChunk(ownChunkMetadata(chunk, element, rows, this.offset));
    await this.write(chunk.pages);
  }

  /** Adds a chunk whose pages have been written. */
  addChunk(chunk: ThriftStruct): void {
    this.#chunks.push(chunk);
  }

  /** @param sortedBy the column by which rows are sorted, those without a value last */
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
   * @param elements of the columns, each with those below it
   * @param columns of the file, as which it is described
   * @param source the file whose columns the first ones are
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
