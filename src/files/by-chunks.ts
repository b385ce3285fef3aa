// Parquet to Parquet by column chunks: the columns of the input are copied unchanged, only the coordinates are read,
// and our columns are written after them. by-chunks-plan.ts decides which files can be converted in this way.

import type { AsyncBuffer } from 'hyparquet';
import { ADMIN_UNITS } from '../hexcodes/admin-units.js';
import { OK } from '../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, recordStatusAt } from '../hexcodes/kernel/output-layout.js';
import { ROW_STATUSES } from '../hexcodes/wire/job.js';
import {
  CHUNK,
  type ChunkPlan,
  type ColumnSpan,
  chunksIn,
  elementsOf,
  FILE,
  listOf,
  type OpenFile,
  openFile,
} from './by-chunks-plan.js';
import type { Batch, Pipeline, Reading } from './driver.js';
import { brokenAt } from './exit-codes.js';
import { UnpackedPages } from './formats/parquet/codecs.js';
import { arrowSchemaIn, walkThrift } from './formats/parquet/footer.js';
import {
  adminChunk,
  adminOf,
  CodePages,
  countRows,
  failuresIn,
  resolutionChunk,
  statusChunk,
} from './formats/parquet/own-columns.js';
import { NONE, ownChunkMetadata, thriftElement } from './formats/parquet/pages.js';
import {
  type Coordinates,
  type DegreesMemory,
  type GroupReading,
  groupsOf,
  interleave,
  readCoordinates,
} from './formats/parquet/parquet-source.js';
import { elementOf } from './formats/parquet/parquet-types.js';
import { pageHeadAt } from './formats/parquet/sound-chunk.js';
import { I64, STRUCT, type ThriftStruct, thrift } from './formats/parquet/thrift.js';
import { ParquetFileWriter } from './formats/parquet/write-parquet.js';
import { textOf } from './formats/values/column-text.js';
import { requireBelowCeiling } from './held/ceiling.js';
import type { Run } from './request.js';
import { faultIn, type RowFailure } from './tally.js';

/** Bytes of a chunk that are copied at once. */
const COPY_BYTES = 1 << 20;
/** Longer than the head of any page without statistics of long texts. */
const HEAD_BYTES = 64 * 1024;

/** Members of a chunk's metadata by their ids in the format. */
const META = {
  dataOffset: 9,
  indexOffset: 10,
  dictionaryOffset: 11,
  statistics: 12,
  bloomOffset: 14,
  bloomSize: 15,
} as const;

type Leaf = ColumnSpan['leaves'][number];

/** The coordinates of a row group, and the provinces and statuses that its rows get. */
interface EncodedGroup {
  readonly lats: Coordinates;
  readonly lngs: Coordinates;
  readonly admins: Uint8Array;
  readonly statuses: Uint8Array;
}

/** The rows of batches are written with their row group, after its last row. */
export class ChunkPipeline implements Pipeline {
  readonly #run: Run;
  readonly #plan: ChunkPlan;
  readonly #file: ParquetFileWriter;
  /** The first file: its root, its kept elements, and Arrow's schema if it has one. */
  #first: {
    readonly root: ThriftStruct;
    readonly elements: readonly ThriftStruct[];
    readonly arrowSchema: string | undefined;
  } | null = null;
  #hasOrders = true;
  readonly #pages = new UnpackedPages();
  readonly #lats: DegreesMemory = { degrees: new Float64Array(0) };
  readonly #lngs: DegreesMemory = { degrees: new Float64Array(0) };
  readonly #byStatus = new Uint32Array(ROW_STATUSES.length);
  readonly #byAdmin = new Uint32Array(ADMIN_UNITS.length);
  #waiting: Uint8Array[] = [];
  readonly #codes = new CodePages((part) => this.#waiting.push(part));

  constructor(run: Run, plan: ChunkPlan) {
    this.#run = run;
    this.#plan = plan;
    this.#file = new ParquetFileWriter(run.targets.output);
  }

  /** @throws CliFailure BAD_INPUT */
  async *batches({ input }: Reading): AsyncGenerator<Batch> {
    const file = await openFile(input);
    const { parquet, footer } = file;
    const { metadata } = parquet;
    this.#first ??= {
      root: listOf(footer, FILE.schema)[0] as ThriftStruct,
      elements: elementsOf(file, this.#plan.kept),
      arrowSchema: arrowSchemaIn(metadata.key_value_metadata),
    };
    if (!footer.has(FILE.orders)) this.#hasOrders = false;
    for await (const reading of groupsOf(parquet, input.name, this.#pages))
      yield* this.#convertGroup(file, reading);
  }

  async *#convertGroup({ spans, footer }: OpenFile, reading: GroupReading): AsyncGenerator<Batch> {
    const { rows, file } = reading;
    const { kept, lat, lng, columns, added } = this.#plan;
    const row = reading.groupStart + 1;
    requireBelowCeiling({ file, row }, 8 * rows, `a row group of ${rows} rows`, 'Write smaller row groups.');
    const lats = await readCoordinates(reading, columns[lat]!.name, this.#lats);
    const lngs = await readCoordinates(reading, columns[lng]!.name, this.#lngs);
    const held = new Map([
      [lat, lats.bytes],
      [lng, lngs.bytes],
    ]);
    const chunks = chunksIn(footer, reading.index);
    for (const column of kept)
      for (const leaf of spans[column]!.leaves) {
        const location = { file, row, column: leaf.path.join('.') };
        const copied = await this.#copied(reading, leaf, held.get(column), location);
        this.#file.addChunk(movedChunk(chunks[leaf.index]!, copied.from, copied.to));
      }
    const admins = new Uint8Array(rows).fill(NONE);
    const group = { lats, lngs, admins, statuses: new Uint8Array(rows) };
    this.#codesAt = this.#file.offset;
    const { capacity } = this.#run.hexcodes.kernel;
    for (let from = 0; from < rows; from += capacity) {
      yield this.#encodePiece(group, from, Math.min(capacity, rows - from));
      if (this.#waiting.length > 0) await this.#flushWaiting();
    }
    const codes = this.#codes.end();
    await this.#flushWaiting();
    const [ofCodes, ...others] = added.map(elementOf);
    this.#file.addChunk(ownChunkMetadata(codes, ofCodes!, rows, this.#codesAt));
    const { resolution } = this.#run.request;
    const own = [resolutionChunk(resolution, rows), adminChunk(admins), statusChunk(group.statuses)];
    for (const [i, chunk] of own.entries()) await this.#file.writeChunk(chunk, others[i]!, rows);
    this.#file.endGroup(rows);
  }

  #codesAt = 0;

  async #flushWaiting(): Promise<void> {
    const parts = this.#waiting;
    this.#waiting = [];
    await this.#file.write(parts);
  }

  /**
   * Copies a chunk.
   * @returns its offsets in the input and in the output
   */
  async #copied(
    { parquet: { buffer }, group, rows }: GroupReading,
    { index, isRepeated }: Leaf,
    held: Uint8Array | undefined,
    location: { readonly file: string; readonly row: number; readonly column: string },
  ): Promise<{ from: number; to: number }> {
    const meta = group.columns[index]!.meta_data!;
    const from = Number(meta.dictionary_page_offset || meta.data_page_offset);
    const sizeBytes = Number(meta.total_compressed_size);
    const to = this.#file.offset;
    if (held !== undefined) {
      await this.#file.write([held]);
      return { from, to };
    }
    try {
      if (!(from >= 0 && sizeBytes >= 0 && from + sizeBytes <= buffer.byteLength))
        throw new Error(`a column of ${sizeBytes} bytes at ${from}, and the file has ${buffer.byteLength}`);
      await requirePages(buffer, { from, sizeBytes, rows, isRepeated, values: Number(meta.num_values) });
      for (let at = 0; at < sizeBytes; at += COPY_BYTES) {
        const end = Math.min(sizeBytes, at + COPY_BYTES);
        await this.#file.write([new Uint8Array(await buffer.slice(from + at, from + end))]);
      }
    } catch (error) {
      throw brokenAt(location, error);
    }
    return { from, to };
  }

  /** Encodes rows of a group; pages of codes wait when they are full. */
  #encodePiece(group: EncodedGroup, from: number, count: number): Batch {
    const { lats, lngs } = group;
    const { hexcodes, request } = this.#run;
    const { exports, input: points, output } = hexcodes.kernel;
    interleave(points, lats.degrees, lngs.degrees, from, count);
    const failed = exports.encodeBatch(count, request.resolution);
    this.#codes.add(output, count);
    countRows(output, count, this.#byStatus, this.#byAdmin);
    noteRecords(output, count, group, from);
    return {
      rows: count,
      failed,
      byStatus: this.#byStatus,
      byAdmin: this.#byAdmin,
      endOffset: 0,
      failures: () => failuresIn(output, count),
      explain: ({ row, status }) => ({
        degrees: [lats.degrees[from + row]!, lngs.degrees[from + row]!],
        fault: () => this.#faultOf(group, from + row, status as RowFailure),
      }),
      write: async () => undefined,
    };
  }

  #faultOf({ lats, lngs }: EncodedGroup, row: number, word: RowFailure): string {
    const { columns, lat, lng } = this.#plan;
    const field = (index: number, { degrees: all, defined }: Coordinates) => {
      const value = defined !== null && defined[row] === 0 ? null : all[row]!;
      return { name: columns[index]!.name, text: textOf(columns[index]!, value), degrees: all[row]! };
    };
    return faultIn(word, { kind: 'pair', lat: field(lat, lats), lng: field(lng, lngs), resolution: null });
  }

  /** Writes the metadata. */
  async end(): Promise<void> {
    const { kept, added, columns } = this.#plan;
    const { root, elements, arrowSchema: text } = this.#first!;
    const arrowSchema = text === undefined ? undefined : { text, kept: kept.length };
    await this.#file.end(
      [...elements, ...added.map((column) => thriftElement(elementOf(column)))],
      [...kept.map((index) => columns[index]!), ...added],
      { root, hasOrders: this.#hasOrders, arrowSchema },
    );
  }
}

/** Notes the provinces and statuses of records of consecutive rows. */
function noteRecords(
  records: Uint8Array,
  count: number,
  { admins, statuses }: EncodedGroup,
  from: number,
): void {
  for (let i = 0, at = 0; i < count; i++, at += RECORD_BYTES) {
    const status = records[recordStatusAt(i)]!;
    if (status === OK) admins[from + i] = adminOf(records, at);
    else statuses[from + i] = status;
  }
}

/** A chunk as described by the metadata. */
interface ClaimedChunk {
  readonly from: number;
  readonly sizeBytes: number;
  readonly rows: number;
  /** Number of values, nulls included; in a column of lists also one for each empty list. */
  readonly values: number;
  readonly isRepeated: boolean;
}

/**
 * Reads the heads of a chunk's pages without unpacking them.
 * @throws Error for incomplete pages
 */
async function requirePages(buffer: AsyncBuffer, chunk: ClaimedChunk): Promise<void> {
  const { from, sizeBytes, rows, isRepeated } = chunk;
  let values = 0;
  let pageRows = 0;
  const end = from + sizeBytes;
  for (let at = from; at < end && values < chunk.values; ) {
    const left = end - at;
    let view = new DataView(await buffer.slice(at, at + Math.min(left, HEAD_BYTES)));
    try {
      walkThrift(view, 0);
    } catch {
      view = new DataView(await buffer.slice(at, end));
    }
    const { header, bodyAt, count } = pageHeadAt(view, 0, left);
    if (header.type !== 'DICTIONARY_PAGE') {
      values += count;
      const { data_page_header_v2: v2 } = header;
      // Pages of the first version do not say their rows.
      pageRows += !isRepeated ? count : v2 === undefined ? Number.NaN : Number(v2.num_rows ?? -1);
    }
    at += bodyAt + header.compressed_page_size;
  }
  if (values !== chunk.values) throw new Error(`${values} values where ${chunk.values} are due`);
  if (!Number.isNaN(pageRows) && pageRows !== rows) throw new Error(`${pageRows} rows where ${rows} are due`);
}

/** The metadata of a chunk at another offset; its indexes and filters are not copied. */
function movedChunk(chunk: ThriftStruct, from: number, to: number): ThriftStruct {
  const meta = new Map(chunk.get(CHUNK.metadata)!.value as ThriftStruct);
  for (const id of [META.dataOffset, META.dictionaryOffset]) {
    const offset = meta.get(id);
    if (offset === undefined) continue;
    // A dictionary page at 0 is absent.
    if (offset.value === 0n) meta.delete(id);
    else meta.set(id, { type: I64, value: (offset.value as bigint) + BigInt(to - from) });
  }
  for (const id of [META.indexOffset, META.bloomOffset, META.bloomSize]) meta.delete(id);
  const statistics = meta.get(META.statistics);
  // Old programs wrote the older bounds of bytes in a wrong order; without the name of the program, readers could not
  // tell.
  if (statistics !== undefined && Number(meta.get(1)!.value) >= 6) {
    const newer = new Map(statistics.value as ThriftStruct);
    newer.delete(1);
    newer.delete(2);
    meta.set(META.statistics, { type: STRUCT, value: newer });
  }
  return thrift([2, I64, BigInt(to)], [CHUNK.metadata, STRUCT, meta]);
}
