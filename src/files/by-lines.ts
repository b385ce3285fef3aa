// NDJSON to NDJSON by bytes: a line is copied up to its closing brace, and our members are written behind. The kernel
// finds lines and coordinates in blocks; a block with any line that it is not certain of is converted value by value.

import { type ConvertedLines, LineConverter, type LineShape } from '../hexcodes/wire/bulk/convert-lines.js';
import { BLOCK_BYTES, ROW_STATUSES } from '../hexcodes/wire/job.js';
import { columnsNamed } from '../hexcodes/wire/rows/column-names.js';
import { countSlow } from '../hexcodes/wire/rows/row-allowance.js';
import { looksSwapped } from '../hexcodes/wire/swapped.js';
import type { Pool } from '../pool/pool.js';
import type { SliceAnswer } from '../pool/slices.js';
import { noteFirstFailures, sampled, writeRows } from './by-columns.js';
import { findPosition } from './columns/position-columns.js';
import { type RowConverter, rowConverter } from './convert-rows.js';
import { type Input, openInput } from './disk/input.js';
import type { Reached } from './disk/journal.js';
import type { PlainFile } from './disk/plain-file.js';
import { formatOfName } from './format.js';
import { DocumentBatch, narrowBatches, parseObject, valuesOf } from './formats/json/json-columns.js';
import { ndjsonSink, openNdjson } from './formats/json/ndjson.js';
import { lineBlocks, linesIn } from './formats/line-blocks.js';
import { linesOf } from './formats/lines.js';
import type { JsonDocument, TableColumn, TableSink } from './formats/table.js';
import type { Run } from './request.js';
import { convertSlices, isWorthThreads, startPool, workersOf } from './slices.js';
import { type RowFailure, SWAP_TRIES, Tally } from './tally.js';

const LF = 10;
const NO_BYTES = Buffer.alloc(0);
/** A line of more bytes is none. */
const MAX_REST = 17 * 2 ** 20;

/** The columns of the first input, by which the lines of all are read. */
export interface LinePlan {
  readonly shape: LineShape;
  readonly converter: RowConverter;
  readonly columns: readonly TableColumn[];
}

/** @returns how a run can be done by lines, or in words why it cannot */
export async function planLines(run: Run): Promise<LinePlan | string> {
  const { request, sourceFormat, targetFormat, hexcodes, targets } = run;
  const { columns: choice } = request;
  if (sourceFormat !== 'ndjson' || targetFormat !== 'ndjson') return 'not from NDJSON to NDJSON';
  if (request.operation !== 'encode') return 'codes are read';
  if (request.isFormer || request.hasCertainty === true)
    return 'former provinces and certainty are asked for';
  if (choice.keep !== undefined || choice.drop !== undefined) return 'columns are left out';
  if (choice.position !== undefined) return 'positions are in one column';
  if (targets.rejects !== null && (formatOfName(targets.rejects.name).format ?? 'ndjson') !== 'ndjson')
    return 'failed rows go to another format';
  if (request.inputs.includes('-')) return 'the input is a pipe';
  if (targets.from !== null && targets.from.inputRows > 0 && targets.from.inputOffset === 0)
    return 'an earlier run was converted value by value';
  const input = await openInput(request.inputs[0]!, request.input);
  try {
    if (input.sizeBytes === null) return 'the input is a pipe';
    const { source, sample } = await sampled(await openNdjson(input, 'any', null));
    const { names } = sample;
    if (columnsNamed(names, ['resolution']).length > 0) return 'rows have resolutions of their own';
    const where = findPosition(sample, choice, input.name);
    if (where.kind !== 'pair' || names[where.lat] !== 'lat' || names[where.lng] !== 'lng')
      return 'positions are not in lat and lng';
    const converter = rowConverter(hexcodes, request, {
      columns: source.columns,
      sample,
      hasHeader: true,
      file: input.name,
      isTyped: true,
      needsPosition: false,
      isSorted: false,
    });
    const shape: LineShape = {
      resolution: request.resolution,
      names: converter.columns.added.map(({ name }) => name),
      leavesFailed: request.errors.kind !== 'keep',
    };
    if (LineConverter.of(hexcodes.kernel, shape) === null) return 'names of columns are too long';
    return { shape, converter, columns: source.columns };
  } catch {
    // by-columns.ts meets the same fault, and says it.
    return 'the first rows have a fault';
  } finally {
    input.close();
  }
}

/**
 * @returns whether every line was copied
 * @throws CliFailure
 */
export async function convertByLines(run: Run, plan: LinePlan): Promise<boolean> {
  const { request, targets } = run;
  const lines = new LinesRun(run, plan);
  let pool: Pool | undefined;
  try {
    for (let inputNumber = 0; inputNumber < request.inputs.length; inputNumber++) {
      const input = await run.open(inputNumber);
      if (targets.from !== null && inputNumber < targets.from.inputNumber) continue;
      const isResumed = inputNumber === targets.from?.inputNumber;
      const skip = isResumed ? targets.from : { inputOffset: 0, inputRows: 0 };
      if (input.plain !== null && isWorthThreads(run)) pool ??= await startPool(workersOf(request));
      await lines.convert(input, inputNumber, skip, pool);
    }
  } finally {
    await pool?.close();
  }
  return lines.isCopied;
}

type Skip = Pick<Reached, 'inputOffset' | 'inputRows'>;

/** How far an input is converted. */
interface Progress {
  readonly input: Input;
  readonly inputNumber: number;
  offset: number;
  lines: number;
  rows: number;
}

class LinesRun {
  /** Whether every line so far was copied. */
  isCopied = true;
  readonly #run: Run;
  readonly #plan: LinePlan;
  readonly #sink: TableSink;
  readonly #rejects: TableSink | null;
  readonly #lines: LineConverter;

  constructor(run: Run, plan: LinePlan) {
    const { targets, hexcodes } = run;
    this.#run = run;
    this.#plan = plan;
    const { columns } = plan.converter;
    this.#sink = ndjsonSink(targets.output, columns);
    this.#rejects = targets.rejects === null ? null : ndjsonSink(targets.rejects, columns);
    this.#lines = LineConverter.of(hexcodes.kernel, plan.shape)!;
  }

  /**
   * @param skip how far an earlier run converted the input
   * @param pool where threads are worth it
   */
  async convert(input: Input, inputNumber: number, skip: Skip, pool: Pool | undefined): Promise<void> {
    const at: Progress = { input, inputNumber, offset: 0, lines: 0, rows: skip.inputRows };
    if (input.plain !== null && pool !== undefined) await this.#convertByThreads(at, skip, input.plain, pool);
    else await this.#convertHere(at, skip);
  }

  /** Converts blocks in this thread. */
  async #convertHere(at: Progress, skip: Skip): Promise<void> {
    const { input } = at;
    let toSkip = skip.inputOffset;
    async function* unskipped(): AsyncGenerator<Uint8Array> {
      for await (const chunk of input.plain?.chunksFrom(0) ?? input.chunks()) {
        const skipped = Math.min(toSkip, chunk.length);
        toSkip -= skipped;
        at.offset += skipped;
        if (skipped > 0) at.lines += linesIn(chunk.subarray(0, skipped));
        yield chunk.subarray(skipped);
      }
    }
    for await (const block of lineBlocks(unskipped(), this.#lines.blockBytes))
      await this.#convertBlock(at, block);
  }

  /** Converts slices in the threads of a pool, and here what they leave. */
  async #convertByThreads(at: Progress, { inputOffset }: Skip, plain: PlainFile, pool: Pool): Promise<void> {
    while (at.offset < inputOffset) {
      const earlier = plain.bytesAt(at.offset, Math.min(BLOCK_BYTES, inputOffset - at.offset));
      if (earlier.length === 0) return;
      at.offset += earlier.length;
      at.lines += linesIn(earlier);
    }
    const sliceBytes = Math.min(this.#run.request.sliceBytes ?? BLOCK_BYTES, this.#lines.blockBytes);
    await convertSlices({
      kernel: this.#run.hexcodes.kernel,
      holdsBytes: this.#run.targets.output.holdsBytes,
      pool,
      work: { kind: 'lines', shape: this.#plan.shape },
      file: plain,
      from: inputOffset,
      sliceBytes,
      written: async ({ offset, sizeBytes }, given) => {
        const answer = given as ConvertedLines & SliceAnswer;
        const block = answer.failures.length > 0 ? plain.bytesAt(offset, sizeBytes) : NO_BYTES;
        await this.#write(at, block, answer, sizeBytes);
      },
      left: async ({ offset }) => {
        await this.#convertBlock(at, linesFrom(plain, offset, sliceBytes));
        return at.offset;
      },
    });
  }

  async #convertBlock(at: Progress, block: Buffer): Promise<void> {
    if (block.length === 0) return;
    const fast = this.#lines.convert(block);
    if (fast !== null) {
      const bytes = this.#run.targets.output.holdsBytes ? fast.bytes.slice() : fast.bytes;
      await this.#write(at, block, { ...fast, bytes }, block.length);
      return;
    }
    const rows = await this.#convertSlowly(block, at.input.name, at.lines, at.rows + 1);
    countSlow('file', 'line', rows);
    this.isCopied = false;
    at.rows += rows;
    at.lines += linesIn(block);
    this.#moveOn(at, block.length);
  }

  async #write(at: Progress, block: Buffer, converted: ConvertedLines, sizeBytes: number): Promise<void> {
    this.#count(block, converted, at.input.name, at.rows + 1);
    await this.#run.targets.output.write(converted.bytes);
    at.rows += converted.rows;
    at.lines += converted.rows;
    this.#moveOn(at, sizeBytes);
  }

  #moveOn(at: Progress, sizeBytes: number): void {
    at.offset += sizeBytes;
    this.#run.tick({ inputNumber: at.inputNumber, inputOffset: at.offset, inputRows: at.rows });
  }

  /** Counts the rows of a converted block. @param firstRow number of its first row in the input */
  #count(block: Buffer, { rows, byAdmin, failures }: ConvertedLines, file: string, firstRow: number): void {
    const { targets, hexcodes } = this.#run;
    const { tally } = targets;
    tally.rows += rows;
    for (let admin = 0; admin < byAdmin.length; admin++) tally.byAdmin[admin]! += byAdmin[admin]!;
    let line = 0;
    let start = 0;
    for (const { row, status } of failures) {
      const word = ROW_STATUSES[status] as RowFailure;
      const isTried = tally.failedRows < SWAP_TRIES;
      tally.fail(word, 1);
      if (!isTried && tally.first.has(word)) continue;
      for (; line < row; line++) start = block.indexOf(LF, start) + 1;
      const feed = block.indexOf(LF, start);
      const text = block.toString('utf8', start, feed < 0 ? block.length : feed).trim();
      const document = parseObject(text, file, firstRow + row);
      const { lat, lng } = document.value as { lat: number; lng: number };
      if (isTried && looksSwapped(hexcodes.kernel, lat, lng)) tally.swapped++;
      if (!tally.first.has(word))
        tally.first.set(word, { file, row: firstRow + row, fault: this.#faultOf(document, file) });
    }
  }

  /** The fault of a failed line in words. */
  #faultOf(document: JsonDocument, file: string): string {
    const { converter, columns } = this.#plan;
    const values = valuesOf(columns, [document.value], file, 1, 'any');
    return converter.convert({ rowCount: 1, values, documents: [document] }, new Tally()).faultOf(0);
  }

  /** @returns how many rows the block has */
  async #convertSlowly(block: Buffer, file: string, earlierLines: number, firstRow: number): Promise<number> {
    const { targets, request } = this.#run;
    const { converter, columns } = this.#plan;
    let rows = 0;
    const write = async (batch: JsonDocument[]): Promise<void> => {
      for (const documents of narrowBatches(batch, columns.length)) {
        const first = firstRow + rows;
        const objects = documents.map(({ value }) => value);
        const values = valuesOf(columns, objects, file, first, 'any');
        const converted = converter.convert({ rowCount: documents.length, values, documents }, targets.tally);
        noteFirstFailures(converted, targets.tally, file, first);
        await writeRows(converted, request.errors.kind, this.#sink, this.#rejects, file, first);
        rows += documents.length;
      }
    };
    const batch = new DocumentBatch();
    async function* whole(): AsyncGenerator<Uint8Array> {
      yield block;
    }
    for await (const lines of linesOf(whole(), file, earlierLines))
      for (const { text, line } of lines)
        if (batch.add(parseObject(text, file, line))) await write(batch.take());
    await write(batch.take());
    return rows;
  }
}

/** Whole lines of a file, at most `mostBytes` of them, or one that is longer. */
function linesFrom(plain: PlainFile, offset: number, mostBytes: number): Buffer {
  for (let sizeBytes = mostBytes; ; sizeBytes *= 2) {
    const bytes = plain.bytesAt(offset, sizeBytes);
    const within = bytes.lastIndexOf(LF, mostBytes - 1);
    const feed = within >= 0 ? within : bytes.indexOf(LF);
    if (feed >= 0 && (bytes.length === sizeBytes || feed === bytes.length - 1))
      return bytes.subarray(0, feed + 1);
    if (bytes.length < sizeBytes || sizeBytes > MAX_REST) return bytes;
  }
}
