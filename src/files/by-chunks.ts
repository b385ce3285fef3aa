// Parquet to Parquet by column chunks: the columns of the input are copied as they are in the file, only the
// coordinates are read, and our columns are written behind them. by-columns.ts converts what does not fit.

import type { AsyncBuffer, RowGroup, SchemaElement } from 'hyparquet';
import { ADMIN_UNITS } from '../hexcodes/admin-units.js';
import { OK } from '../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, recordStatusAt } from '../hexcodes/kernel/output-layout.js';
import { looksSwapped } from '../hexcodes/wire/swapped.js';
import { addedColumns, keptColumns } from './columns/columns.js';
import { encodeAdded } from './columns/encode-columns.js';
import { findPosition, resolutionColumn } from './columns/position-columns.js';
import { type Input, openInput } from './disk/input.js';
import { badInput, CliFailure, reasonOf } from './exit-codes.js';
import { UnpackedPages } from './formats/parquet/codecs.js';
import { type Coordinates, readCoordinates } from './formats/parquet/coordinates.js';
import { walkThrift } from './formats/parquet/footer.js';
import { adminOf, CodePages, dictionaryChunk } from './formats/parquet/own-columns.js';
import { NONE, type OwnChunk, ownChunkMetadata, ownElement } from './formats/parquet/pages.js';
import { type ParquetFile, readParquet, scanOf } from './formats/parquet/parquet-source.js';
import { elementOf } from './formats/parquet/parquet-types.js';
import {
  BINARY,
  binary,
  I32,
  I64,
  LIST,
  readThrift,
  STRUCT,
  type ThriftList,
  type ThriftStruct,
  type ThriftValue,
  thrift,
  writtenThrift,
} from './formats/parquet/thrift.js';
import type { TableColumn } from './formats/table.js';
import { textOf } from './formats/values/column-text.js';
import { requireBelowCeiling } from './held/ceiling.js';
import type { Run } from './request.js';
import { faultIn, type RowFailure, SWAP_TRIES, stopped } from './tally.js';

const MAGIC = binary('PAR1');
/** Bytes of a chunk that are copied at a time. */
const COPY_BYTES = 1 << 20;
/** The head of a page is shorter, where it holds no statistics of long texts. */
const HEAD_BYTES = 64 * 1024;
const WORDS = ['OK', 'NOT_FOUND', 'INVALID_REQUEST'] as const;

// Members of the metadata by their ids in the format.
const FILE = { schema: 2, rowGroups: 4, createdBy: 6, orders: 7 } as const;
const GROUP = { columns: 1 } as const;
const CHUNK = { path: 1, metadata: 3, cryptography: 8, encrypted: 9 } as const;
const META = {
  dataOffset: 9,
  indexOffset: 10,
  dictionaryOffset: 11,
  statistics: 12,
  bloomOffset: 14,
  bloomSize: 15,
} as const;

interface OpenFile {
  readonly parquet: ParquetFile;
  readonly footer: ThriftStruct;
}

/** The columns that are copied, read and added, the same for all inputs. */
export interface ChunkPlan {
  readonly kept: readonly number[];
  readonly lat: number;
  readonly lng: number;
  readonly columns: readonly TableColumn[];
  readonly added: readonly TableColumn[];
}

/**
 * How a run can be done by chunks.
 * @returns the plan, or in words why it cannot
 */
export async function planChunks(run: Run): Promise<ChunkPlan | string> {
  const { request, sourceFormat, targetFormat, targets } = run;
  if (sourceFormat !== 'parquet' || targetFormat !== 'parquet') return 'not from Parquet to Parquet';
  if (request.operation !== 'encode') return 'codes are read';
  if (request.sort !== null) return 'rows are sorted';
  if (request.isFormer || request.hasCertainty === true)
    return 'former provinces and certainty are asked for';
  if (request.errors.kind === 'skip' || request.errors.kind === 'file') return 'failed rows are taken out';
  if (request.columns.position !== undefined) return 'positions are in one column';
  if (targets.rejects !== null) return 'failed rows are taken out';
  let plan: ChunkPlan | null = null;
  let first = '';
  for (const path of request.inputs) {
    if (path === '-') return 'the input is a pipe';
    const input = await openInput(path, request.input);
    try {
      if (input.path === null || input.sizeBytes === null || input.isPacked)
        return `${input.name} is packed or a pipe`;
      const { footer, parquet } = await openFile(input);
      const columns = parquet.fields.map(({ column }) => column);
      const found = planOf(run, parquet, columns, input.name);
      if (typeof found === 'string') return found;
      const reason = cannotCopy(parquet, footer, found, input);
      if (reason !== null) return reason;
      const shape = JSON.stringify([columns, found.kept.map((index) => parquet.elements[index])]);
      if (plan !== null && shape !== first) return `${input.name} has other columns or types`;
      first = shape;
      plan = found;
    } catch (error) {
      // by-columns.ts finds the same fault, after the rows before it.
      return reasonOf(error);
    } finally {
      input.close();
    }
  }
  return plan ?? 'no input';
}

function planOf(
  run: Run,
  parquet: ParquetFile,
  columns: readonly TableColumn[],
  file: string,
): ChunkPlan | string {
  const { request } = run;
  const names = columns.map(({ name }) => name);
  if (resolutionColumn(names, file) >= 0) return 'rows have resolutions of their own';
  const where = findPosition({ names, rows: [] }, request.columns, file);
  if (where.kind !== 'pair') return 'positions are in one column';
  // by-columns.ts looks at the values of a column of this name.
  if (request.columns.lng === undefined && names[where.lng]!.trim().toLowerCase() === 'x')
    return 'x may hold metres';
  for (const index of [where.lat, where.lng]) {
    const { type, logical_type: logical, converted_type: converted } = parquet.elements[index] ?? {};
    if ((type !== 'DOUBLE' && type !== 'FLOAT') || logical !== undefined || converted !== undefined)
      return `${names[index]} is no column of doubles`;
  }
  const kept = keptColumns(columns, request.columns, file);
  const shape = { hasResolution: false, isFormer: false, hasCertainty: false, isSorted: false };
  const added = addedColumns(
    encodeAdded(shape),
    kept.map((index) => columns[index]!),
    request.columns.prefix,
    file,
  );
  return { kept, lat: where.lat, lng: where.lng, columns, added };
}

/** Why the columns of a file cannot be copied; null if they can. */
function cannotCopy(
  { elements, metadata, fields }: ParquetFile,
  footer: ThriftStruct,
  { kept }: ChunkPlan,
  { part }: Input,
): string | null {
  for (const index of kept) {
    const { column, shape } = fields[index]!;
    const element = elements[index];
    if (element == null || shape === null || shape.is !== 'leaf') return `${column.name} is nested`;
    if (element.repetition_type !== 'REQUIRED' && element.repetition_type !== 'OPTIONAL')
      return `${column.name} is repeated`;
    if (!isSameType(element, elementOf(column))) return `${column.name} is written as another type`;
  }
  if (elements.some((element) => element === null)) return 'columns are nested';
  let start = 0;
  for (const [i, group] of metadata.row_groups.entries()) {
    const end = start + Number(group.num_rows);
    if (
      part?.kind === 'rows' &&
      start < part.end &&
      end > part.start &&
      (start < part.start || end > part.end)
    )
      return 'a part ends within a row group';
    start = end;
    const chunks = chunksIn(footer, i);
    if (chunks.length !== elements.length) return 'a row group lacks columns';
    for (const chunk of chunks)
      if (
        chunk.has(CHUNK.path) ||
        chunk.has(CHUNK.cryptography) ||
        chunk.has(CHUNK.encrypted) ||
        !chunk.has(CHUNK.metadata)
      )
        return 'columns are encrypted or in other files';
    for (const [c, { meta_data: meta }] of group.columns.entries())
      if (
        meta === undefined ||
        meta.path_in_schema.length !== 1 ||
        meta.path_in_schema[0] !== elements[c]!.name ||
        Number(meta.num_values) !== Number(group.num_rows)
      )
        return 'columns in another order than in the schema';
  }
  return null;
}

function isSameType(own: SchemaElement, written: SchemaElement): boolean {
  if (own.type !== written.type) return false;
  if (own.type === 'FIXED_LEN_BYTE_ARRAY' && own.type_length !== written.type_length) return false;
  return written.converted_type !== 'DECIMAL' || (own.scale ?? 0) === written.scale;
}

async function openFile(input: Input): Promise<OpenFile> {
  const parquet = await readParquet(input);
  const { buffer, metadata } = parquet;
  const { byteLength } = buffer;
  const start = byteLength - 8 - metadata.metadata_length;
  const bytes = await buffer.slice(start, byteLength - 8);
  const footer = readThrift(new DataView(bytes), 0);
  return { parquet, footer };
}

const listOf = (struct: ThriftStruct, id: number): readonly ThriftValue[] =>
  (struct.get(id)?.value as ThriftList | undefined)?.values ?? [];

function chunksIn(footer: ThriftStruct, group: number): readonly ThriftStruct[] {
  return listOf(
    listOf(footer, FILE.rowGroups)[group] as ThriftStruct,
    GROUP.columns,
  ) as readonly ThriftStruct[];
}

/** Converts all inputs. @throws CliFailure */
export async function convertByChunks(run: Run, plan: ChunkPlan): Promise<void> {
  const { request } = run;
  const writer = new ChunkWriter(run, plan);
  await writer.write([MAGIC]);
  for (let inputNumber = 0; inputNumber < request.inputs.length; inputNumber++) {
    const input = await run.open(inputNumber);
    const file = await openFile(input);
    await writer.convert(input, inputNumber, file);
  }
  await writer.end();
}

class ChunkWriter {
  readonly #run: Run;
  readonly #plan: ChunkPlan;
  #offset = 0;
  #rows = 0;
  #schema: readonly ThriftValue[] = [];
  #hasOrders = true;
  readonly #groups: ThriftStruct[] = [];
  readonly #pages = new UnpackedPages();
  #waiting: Uint8Array[] = [];
  readonly #codes = new CodePages((part) => this.#waiting.push(part));

  constructor(run: Run, plan: ChunkPlan) {
    this.#run = run;
    this.#plan = plan;
  }

  async write(parts: readonly Uint8Array[]): Promise<void> {
    for (const part of parts) {
      this.#offset += part.length;
      await this.#run.targets.output.write(part);
    }
  }

  async convert(input: Input, inputNumber: number, { parquet, footer }: OpenFile): Promise<void> {
    const { metadata } = parquet;
    if (this.#schema.length === 0) this.#schema = listOf(footer, FILE.schema);
    if (!footer.has(FILE.orders)) this.#hasOrders = false;
    const scan = await scanOf(parquet, this.#pages);
    const part = input.part?.kind === 'rows' ? input.part : { start: 0, end: Number.POSITIVE_INFINITY };
    let start = 0;
    for (const [i, group] of metadata.row_groups.entries()) {
      const rows = Number(group.num_rows);
      const isIn = rows > 0 && start >= part.start && start < part.end;
      if (isIn)
        await this.#convertGroup(
          input,
          inputNumber,
          parquet,
          scan,
          group,
          start,
          chunksIn(footer, i),
          start - part.start,
        );
      start += rows;
    }
  }

  async #convertGroup(
    input: Input,
    inputNumber: number,
    parquet: ParquetFile,
    scan: Awaited<ReturnType<typeof scanOf>>,
    group: RowGroup,
    groupStart: number,
    chunks: readonly ThriftStruct[],
    earlierRows: number,
  ): Promise<void> {
    const { kept, lat, lng, columns, added } = this.#plan;
    const rows = Number(group.num_rows);
    requireBelowCeiling(
      { file: input.name, row: earlierRows + 1 },
      8 * rows,
      `a row group of ${rows} rows`,
      'Write smaller row groups.',
    );
    const read = (index: number): Promise<Coordinates> =>
      readCoordinates(parquet, scan, this.#pages, group, groupStart, columns[index]!.name, input.name);
    const lats = await read(lat);
    const lngs = await read(lng);
    const held = new Map([
      [lat, lats.bytes],
      [lng, lngs.bytes],
    ]);
    const written: ThriftStruct[] = [];
    for (const index of kept) {
      const location = { file: input.name, row: earlierRows + 1, column: columns[index]!.name };
      const copied = await this.#copied(parquet.buffer, group, index, held.get(index), location);
      written.push(movedChunk(chunks[index]!, copied.from, copied.to));
    }
    const { admins, statuses } = await this.#convertRows(input, inputNumber, lats, lngs, rows, earlierRows);
    const codes = this.#codes.end();
    await this.#flushWaiting();
    const resolution = Buffer.alloc(4);
    resolution.writeUInt32LE(this.#run.request.resolution);
    const own: readonly (OwnChunk | null)[] = [
      null,
      dictionaryChunk('int', [resolution], new Uint8Array(rows)),
      dictionaryChunk(
        'text',
        ADMIN_UNITS.map(({ code }) => binary(code)),
        admins,
      ),
      dictionaryChunk(
        'text',
        WORDS.map((word) => binary(word)),
        statuses,
      ),
    ];
    for (const [i, chunk] of own.entries()) {
      const { name, kind } = added[i]!;
      const at = chunk === null ? this.#codesAt : this.#offset;
      written.push(ownChunkMetadata(chunk ?? codes, name, kind as 'text' | 'int', rows, at));
      if (chunk !== null) await this.write(chunk.pages);
    }
    const sizes = written.map((chunk) => chunk.get(CHUNK.metadata)!.value as ThriftStruct);
    const total = (id: number): bigint =>
      sizes.reduce((sum, meta) => sum + BigInt(meta.get(id)!.value as bigint), 0n);
    this.#rows += rows;
    this.#groups.push(
      thrift(
        [1, LIST, { type: STRUCT, values: written }],
        [2, I64, total(6)],
        [3, I64, BigInt(rows)],
        [6, I64, total(7)],
      ),
    );
    this.#run.tick({ inputNumber, inputOffset: 0, inputRows: earlierRows + rows });
  }

  #codesAt = 0;

  async #flushWaiting(): Promise<void> {
    const parts = this.#waiting;
    this.#waiting = [];
    await this.write(parts);
  }

  /** Copies a chunk. @returns where it begins in the file of the input, and in the output */
  async #copied(
    buffer: AsyncBuffer,
    group: RowGroup,
    index: number,
    held: Uint8Array | undefined,
    location: { readonly file: string; readonly row: number; readonly column: string },
  ): Promise<{ from: number; to: number }> {
    const meta = group.columns[index]!.meta_data!;
    const from = Number(meta.dictionary_page_offset || meta.data_page_offset);
    const sizeBytes = Number(meta.total_compressed_size);
    const to = this.#offset;
    if (held !== undefined) {
      await this.write([held]);
      return { from, to };
    }
    try {
      if (!(from >= 0 && sizeBytes >= 0 && from + sizeBytes <= buffer.byteLength))
        throw new Error(`a column of ${sizeBytes} bytes at ${from}, and the file has ${buffer.byteLength}`);
      await requirePages(buffer, from, sizeBytes, Number(group.num_rows));
      for (let at = 0; at < sizeBytes; at += COPY_BYTES) {
        const end = Math.min(sizeBytes, at + COPY_BYTES);
        await this.write([new Uint8Array(await buffer.slice(from + at, from + end))]);
      }
    } catch (error) {
      if (error instanceof CliFailure) throw error;
      throw badInput(location, `cannot be read from here on (${reasonOf(error)})`);
    }
    return { from, to };
  }

  /** Encodes the rows of a group; pages of codes are written as they are full. */
  async #convertRows(
    input: Input,
    inputNumber: number,
    lats: Coordinates,
    lngs: Coordinates,
    rows: number,
    earlierRows: number,
  ): Promise<{ admins: Uint8Array; statuses: Uint8Array }> {
    const { hexcodes, request, targets } = this.#run;
    const { tally } = targets;
    const { kernel } = hexcodes;
    const { capacity, exports, input: points, output } = kernel;
    const admins = new Uint8Array(rows).fill(NONE);
    const statuses = new Uint8Array(rows);
    const byAdmin = new Uint32Array(256);
    this.#codesAt = this.#offset;
    for (let from = 0; from < rows; from += capacity) {
      const count = Math.min(capacity, rows - from);
      for (let i = 0; i < count; i++) {
        points[2 * i] = lats.degrees[from + i]!;
        points[2 * i + 1] = lngs.degrees[from + i]!;
      }
      const failed = exports.encodeBatch(count, request.resolution);
      this.#codes.add(output, count);
      for (let i = 0, at = 0; i < count; i++, at += RECORD_BYTES) {
        const status = output[recordStatusAt(i)]!;
        if (status === OK) {
          const admin = adminOf(output, at);
          admins[from + i] = admin;
          byAdmin[admin]!++;
        } else statuses[from + i] = status;
      }
      tally.rows += count;
      if (failed > 0) {
        const failures: [row: number, status: RowFailure][] = [];
        for (let i = 0; i < count; i++)
          if (statuses[from + i] !== OK) failures.push([from + i, WORDS[statuses[from + i]!] as RowFailure]);
        this.#noteFailures(input, failures, lats, lngs, earlierRows);
      }
      if (this.#waiting.length > 0) {
        await this.#flushWaiting();
        this.#run.tick({ inputNumber, inputOffset: 0, inputRows: earlierRows + from + count });
      }
    }
    for (let admin = 0; admin < ADMIN_UNITS.length; admin++) tally.byAdmin[admin]! += byAdmin[admin]!;
    return { admins, statuses };
  }

  #noteFailures(
    input: Input,
    failures: readonly (readonly [row: number, status: RowFailure])[],
    lats: Coordinates,
    lngs: Coordinates,
    earlierRows: number,
  ): void {
    const { hexcodes, request, targets } = this.#run;
    const { tally } = targets;
    const { columns, lat, lng } = this.#plan;
    let tries = tally.failedRows;
    for (const [row, status] of failures) {
      if (tries++ < SWAP_TRIES && looksSwapped(hexcodes.kernel, lats.degrees[row]!, lngs.degrees[row]!))
        tally.swapped++;
      tally.fail(status);
      if (tally.first.has(status)) continue;
      const degrees = (index: number, { degrees: all, defined }: Coordinates) => {
        const value = defined !== null && defined[row] === 0 ? null : all[row]!;
        return { name: columns[index]!.name, text: textOf(columns[index]!, value), degrees: all[row]! };
      };
      const fault = faultIn(status, {
        kind: 'pair',
        lat: degrees(lat, lats),
        lng: degrees(lng, lngs),
        resolution: null,
      });
      tally.first.set(status, { file: input.name, row: earlierRows + row + 1, fault });
    }
    if (request.errors.kind === 'stop') {
      const [, status] = failures[0]!;
      throw stopped(tally.first.get(status)!, status);
    }
  }

  /** Writes the metadata. */
  async end(): Promise<void> {
    const { kept, added } = this.#plan;
    const [root, ...elements] = this.#schema as readonly ThriftStruct[];
    const leaves = [
      ...kept.map((index) => elements[index]!),
      ...added.map(({ name, kind }) => ownElement(name, kind as 'text' | 'int')),
    ];
    const top = new Map(root);
    top.set(5, { type: I32, value: leaves.length });
    const order = thrift([1, STRUCT, thrift()]);
    const footer = writtenThrift(
      thrift(
        [1, I32, 2],
        [FILE.schema, LIST, { type: STRUCT, values: [top, ...leaves] }],
        [3, I64, BigInt(this.#rows)],
        [FILE.rowGroups, LIST, { type: STRUCT, values: this.#groups }],
        [FILE.createdBy, BINARY, binary('hexcodes')],
        [FILE.orders, LIST, this.#hasOrders ? { type: STRUCT, values: leaves.map(() => order) } : undefined],
      ),
    );
    const size = Buffer.alloc(4);
    size.writeUInt32LE(footer.length);
    await this.write([footer, size, MAGIC]);
  }
}

/** Walks the heads of a chunk's pages, which are not unpacked. @throws Error for pages that are not there whole */
async function requirePages(
  buffer: AsyncBuffer,
  from: number,
  sizeBytes: number,
  rows: number,
): Promise<void> {
  let values = 0;
  const end = from + sizeBytes;
  for (let at = from; at < end && values < rows; ) {
    let view = new DataView(await buffer.slice(at, Math.min(end, at + HEAD_BYTES)));
    let headEnd: number;
    try {
      headEnd = walkThrift(view, 0).end;
    } catch (error) {
      if (view.byteLength === end - at) throw error;
      view = new DataView(await buffer.slice(at, end));
      headEnd = walkThrift(view, 0).end;
    }
    const head = readThrift(view, 0);
    const type = head.get(1)?.value;
    const packedBytes = head.get(3)?.value;
    if (typeof packedBytes !== 'number' || !(packedBytes >= 0 && packedBytes <= end - at - headEnd))
      throw new Error(`a page that claims ${String(packedBytes)} bytes where ${end - at - headEnd} are left`);
    const data = head.get(5) ?? head.get(8);
    if (type !== 2 && data !== undefined) {
      const count = (data.value as ThriftStruct).get(1)?.value;
      if (typeof count !== 'number' || !(count >= 0))
        throw new Error(`a page that claims ${String(count)} values`);
      values += count;
    }
    at += headEnd + packedBytes;
  }
  if (values !== rows) throw new Error(`${values} values where ${rows} are due`);
}

/** The metadata of a chunk that lies elsewhere; its indexes and filters are not copied. */
function movedChunk(chunk: ThriftStruct, from: number, to: number): ThriftStruct {
  const meta = new Map(chunk.get(CHUNK.metadata)!.value as ThriftStruct);
  for (const id of [META.dataOffset, META.dictionaryOffset]) {
    const offset = meta.get(id);
    if (offset === undefined) continue;
    // A dictionary page at 0 is one that is left out.
    if (offset.value === 0n) meta.delete(id);
    else meta.set(id, { type: I64, value: (offset.value as bigint) + BigInt(to - from) });
  }
  for (const id of [META.indexOffset, META.bloomOffset, META.bloomSize]) meta.delete(id);
  const statistics = meta.get(META.statistics);
  // The older members of bytes were written in the wrong order by programs that the name in the metadata told.
  if (statistics !== undefined && Number(meta.get(1)!.value) >= 6) {
    const newer = new Map(statistics.value as ThriftStruct);
    newer.delete(1);
    newer.delete(2);
    meta.set(META.statistics, { type: STRUCT, value: newer });
  }
  return thrift([2, I64, BigInt(to)], [CHUNK.metadata, STRUCT, meta]);
}
