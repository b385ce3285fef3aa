// NDJSON to NDJSON by bytes: a line is copied up to its closing brace, and our members are written behind. The kernel
// finds lines and coordinates in blocks; a line that it is not certain of is converted value by value.

import { type ConvertedLines, LineConverter, type LineShape } from '../hexcodes/wire/bulk/convert-lines.js';
import { linesIn } from '../hexcodes/wire/bulk/splitters.js';
import { BLOCK_BYTES } from '../hexcodes/wire/job.js';
import { countSlow } from '../hexcodes/wire/rows/row-allowance.js';
import { failedRowsOf } from '../hexcodes/wire/rows/row-report.js';
import { looksSwapped } from '../hexcodes/wire/swapped.js';
import type { Pool } from '../pool/pool.js';
import type { SliceAnswer } from '../pool/slices.js';
import { type AnsweredRows, reportOf, writeCounted } from './by-bytes-rows.js';
import { sampled } from './by-columns.js';
import { addedValues } from './columns/encode-columns.js';
import { findPosition, resolutionColumn } from './columns/position-columns.js';
import { type RowConverter, rowConverter } from './convert-rows.js';
import { HEAD_BYTES, type Input, inputOf, openInput, STDIN_NAME, statOf } from './disk/input.js';
import type { Reached } from './disk/journal.js';
import type { PlainFile } from './disk/plain-file.js';
import { formatOfName } from './format.js';
import { openNdjson } from './formats/json/ndjson.js';
import { lineBlocks } from './formats/line-blocks.js';
import type { TableColumn } from './formats/table.js';
import { degreesOf } from './formats/values/column-text.js';
import { LeftLines } from './left-lines.js';
import type { Run } from './request.js';
import { convertSlices, isWorthThreads, startPool, workersOf } from './slices.js';
import { type RowFailure, SWAP_TRIES, stopped } from './tally.js';

const LF = 10;
const NO_BYTES = Buffer.alloc(0);
/** A line of more bytes is none. */
const MAX_REST = 17 * 2 ** 20;

/** The columns of the first input, by which the lines of all are read. */
export interface LinePlan {
  readonly shape: LineShape;
  readonly converter: RowConverter;
  readonly columns: readonly TableColumn[];
  readonly lat: TableColumn;
  readonly lng: TableColumn;
}

/** @returns how a run can be done by lines, or in words why it cannot */
export async function planLines(run: Run): Promise<LinePlan | string> {
  const { request, sourceFormat, targetFormat, hexcodes, targets } = run;
  const { columns: choice } = request;
  if (sourceFormat !== 'ndjson' || targetFormat !== 'ndjson') return 'not from NDJSON to NDJSON';
  if (request.operation !== 'encode') return 'codes are read';
  if (choice.keep !== undefined || choice.drop !== undefined) return 'columns are left out';
  if (choice.position !== undefined) return 'positions are in one column';
  if (targets.rejects !== null && (formatOfName(targets.rejects.name).format ?? 'ndjson') !== 'ndjson')
    return 'failed rows go to another format';
  if (targets.from !== null && targets.from.inputRows > 0 && targets.from.inputOffset === 0)
    return 'an earlier run was converted value by value';
  const input = await firstLines(run);
  if (input === null) return 'the first line of a pipe is long';
  try {
    const { source, sample } = await sampled(await openNdjson(input, 'any', null));
    const { names } = sample;
    const where = findPosition(sample, choice, input.name);
    if (where.kind !== 'pair') return 'positions are in one column';
    const own = resolutionColumn(names, input.name);
    const converter = rowConverter(hexcodes, request, {
      columns: source.columns,
      sample,
      hasHeader: true,
      file: input.name,
      isTyped: true,
      needsPosition: false,
      isSorted: false,
    });
    const values = addedValues(request, own >= 0);
    const shape: LineShape = {
      resolution: request.resolution,
      lat: names[where.lat]!,
      lng: names[where.lng]!,
      ownResolution: own < 0 ? null : names[own]!,
      added: converter.columns.added.map(({ name }, c) => ({ name, is: values[c]! })),
    };
    if (LineConverter.of(hexcodes.kernel, shape) === null) return 'names of columns are too long';
    const [lat, lng] = [source.columns[where.lat]!, source.columns[where.lng]!];
    return { shape, converter, columns: source.columns, lat, lng };
  } catch {
    // by-columns.ts meets the same fault, and says it.
    return 'the first rows have a fault';
  } finally {
    input.close();
  }
}

/** The first input once more, of a pipe the lines that have come; null where there is no whole one. */
async function firstLines({ request, head }: Run): Promise<Input | null> {
  const [path] = request.inputs;
  if (path !== '-' && statOf(path!).sizeBytes !== null) return await openInput(path!, request.input);
  const feed = head.lastIndexOf(LF);
  if (feed < 0 && head.length === HEAD_BYTES) return null;
  return inputOf(feed < 0 ? head : head.subarray(0, feed + 1), path === '-' ? STDIN_NAME : path!);
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
  readonly #lines: LineConverter;
  readonly #left: LeftLines;

  constructor(run: Run, plan: LinePlan) {
    this.#run = run;
    this.#plan = plan;
    this.#lines = LineConverter.of(run.hexcodes.kernel, plan.shape)!;
    this.#left = new LeftLines(plan.converter, plan.columns);
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
        const block = answer.failed > 0 ? plain.bytesAt(offset, sizeBytes) : NO_BYTES;
        await this.#write(at, block, answer, answer.lines, sizeBytes);
      },
      left: async ({ offset }) => {
        await this.#convertBlock(at, linesFrom(plain, offset, sliceBytes));
        return at.offset;
      },
    });
  }

  async #convertBlock(at: Progress, block: Buffer): Promise<void> {
    for (let from = 0; from < block.length; ) {
      const converted = this.#lines.convert(block, from);
      const { restAt, left } = converted;
      const answer =
        left.length === 0 ? this.#held(converted) : await this.#withLeft(at, block, converted, from);
      const lines = left.length === 0 ? converted.lines : linesIn(block, from, restAt);
      await this.#write(at, block, answer, lines, restAt - from);
      from = restAt;
    }
  }

  #held(converted: ConvertedLines): AnsweredRows {
    const { holdsBytes } = this.#run.targets.output;
    return holdsBytes ? { ...converted, bytes: converted.bytes.slice() } : converted;
  }

  async #withLeft(
    at: Progress,
    block: Buffer,
    converted: ConvertedLines,
    from: number,
  ): Promise<AnsweredRows> {
    this.isCopied = false;
    const answer = await this.#left.answer(block, converted, at.input.name, from, at.lines);
    countSlow('file', 'line', answer.rows + converted.left.length - converted.rows);
    return answer;
  }

  async #write(
    at: Progress,
    block: Buffer,
    answer: AnsweredRows,
    lines: number,
    sizeBytes: number,
  ): Promise<void> {
    if (answer.failed > 0) this.#noteFailures(block, answer, at);
    await writeCounted(this.#run, answer);
    at.rows += answer.rows;
    at.lines += lines;
    at.offset += sizeBytes;
    this.#run.tick({ inputNumber: at.inputNumber, inputOffset: at.offset, inputRows: at.rows });
  }

  /** @throws CliFailure for the row that ends the run */
  #noteFailures(block: Buffer, answer: AnsweredRows, { input: { name: file }, rows, lines }: Progress): void {
    const { targets, hexcodes, request } = this.#run;
    const { first, failed, failedRows } = targets.tally;
    const { lat, lng } = this.#plan;
    const isStop = request.errors.kind === 'stop';
    let tries = failedRows;
    for (const { row, status, start, end } of failedRowsOf(reportOf(answer))) {
      const isTried = tries++ < SWAP_TRIES;
      const reason = status as RowFailure;
      if (!isStop && !isTried && first.has(reason)) continue;
      const document = this.#left.read(block.subarray(start, end), file, lines + 1)!;
      if (!first.has(reason)) {
        const fault = this.#left.convert(document, file).faultOf(0);
        first.set(reason, { file, row: rows + 1 + row, fault });
        // Kinds are told in the order in which they were met.
        failed.set(reason, failed.get(reason) ?? 0);
      }
      if (isStop) throw stopped(first.get(reason)!, reason);
      const degrees = [lat, lng].map((column, n) =>
        degreesOf(column, document.value[column.name] ?? null, n === 0 ? 'lat' : 'lng'),
      );
      if (isTried && looksSwapped(hexcodes.kernel, degrees[0]!, degrees[1]!)) targets.tally.swapped++;
    }
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
