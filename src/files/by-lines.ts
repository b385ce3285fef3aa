// NDJSON to NDJSON by bytes: a line is copied up to its closing brace, and our members are written behind. The kernel
// finds lines and coordinates in blocks; a block with any line that it is not certain of is converted value by value.

import { type ConvertedLines, LineConverter, type LineShape } from '../hexcodes/wire/bulk/convert-lines.js';
import { BLOCK_BYTES, ROW_STATUSES } from '../hexcodes/wire/job.js';
import { columnsNamed } from '../hexcodes/wire/rows/column-names.js';
import { looksSwapped } from '../hexcodes/wire/swapped.js';
import { noteFirstFailures, sampled, writeRows } from './by-columns.js';
import { findPosition } from './columns/position-columns.js';
import { type RowConverter, rowConverter } from './convert-rows.js';
import { type Input, openInput } from './disk/input.js';
import { formatOfName } from './format.js';
import { DocumentBatch, narrowBatches, parseObject, valuesOf } from './formats/json/json-columns.js';
import { ndjsonSink, openNdjson } from './formats/json/ndjson.js';
import { linesOf } from './formats/lines.js';
import type { JsonDocument, TableColumn, TableSink } from './formats/table.js';
import type { Run } from './request.js';
import { type RowFailure, SWAP_TRIES, Tally } from './tally.js';

const LF = 10;
/** A line of more bytes is none. */
const MOST_REST = 17 * 2 ** 20;

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
  if (choice.lat !== undefined || choice.lng !== undefined || choice.position !== undefined)
    return 'columns of the position are named';
  if (targets.rejects !== null && (formatOfName(targets.rejects.name).format ?? 'ndjson') !== 'ndjson')
    return 'failed rows go to another format';
  if (request.inputs.includes('-')) return 'the input is a pipe';
  if (request.input.part !== undefined) return 'a part of a file';
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
      ...{ columns: source.columns, sample, hasHeader: true, file: input.name },
      ...{ isTyped: true, needsPosition: false, isSorted: false },
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

/** @throws CliFailure */
export async function convertByLines(run: Run, plan: LinePlan): Promise<void> {
  const { request, targets } = run;
  const lines = new LinesRun(run, plan);
  for (let inputNumber = 0; inputNumber < request.inputs.length; inputNumber++) {
    const input = await run.open(inputNumber);
    if (targets.from !== null && inputNumber < targets.from.inputNumber) continue;
    const isResumed = inputNumber === targets.from?.inputNumber;
    await lines.convert(input, inputNumber, isResumed ? targets.from : { inputOffset: 0, inputRows: 0 });
  }
}

class LinesRun {
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

  /** @param skip how far an earlier run converted the input */
  async convert(
    input: Input,
    inputNumber: number,
    skip: { readonly inputOffset: number; readonly inputRows: number },
  ): Promise<void> {
    let offset = 0;
    let lines = 0;
    let rows = skip.inputRows;
    let toSkip = skip.inputOffset;
    const { blockBytes } = this.#lines;
    // Whole lines from the start of `held` on, and the beginning of the next one.
    let held = Buffer.allocUnsafeSlow(2 * BLOCK_BYTES);
    let heldBytes = 0;
    const convert = async (block: Buffer): Promise<void> => {
      if (block.length === 0) return;
      const fast = this.#lines.convert(block);
      if (fast !== null) {
        const { output } = this.#run.targets;
        this.#count(block, fast, input.name, rows + 1);
        await output.write(output.holdsBytes ? fast.bytes.slice() : fast.bytes);
        rows += fast.rows;
        lines += fast.rows;
      } else {
        rows += await this.#convertSlowly(block, input.name, lines, rows + 1);
        lines += linesIn(block);
      }
      offset += block.length;
      this.#run.tick({ inputNumber, inputOffset: offset, inputRows: rows });
    };
    for await (const chunk of input.passingChunks()) {
      const skipped = Math.min(toSkip, chunk.length);
      toSkip -= skipped;
      offset += skipped;
      if (skipped > 0) lines += linesIn(chunk.subarray(0, skipped));
      const fresh = chunk.subarray(skipped);
      if (heldBytes + fresh.length > held.length) {
        const larger = Buffer.allocUnsafeSlow(2 * (heldBytes + fresh.length));
        larger.set(held.subarray(0, heldBytes));
        held = larger;
      }
      held.set(fresh, heldBytes);
      let block = held.subarray(0, heldBytes + fresh.length);
      for (;;) {
        // Blocks have whole lines, and no more than the kernel takes; a longer line is a block of its own.
        const within = block.lastIndexOf(LF, Math.min(block.length, blockBytes) - 1);
        const feed = within >= 0 || block.length <= blockBytes ? within : block.indexOf(LF);
        if (feed < 0 || block.length <= blockBytes / 2) break;
        await convert(block.subarray(0, feed + 1));
        block = block.subarray(feed + 1);
      }
      heldBytes = block.length;
      held.copyWithin(0, block.byteOffset - held.byteOffset, block.byteOffset - held.byteOffset + heldBytes);
      // The reader of lines refuses it.
      if (heldBytes > MOST_REST) await convert(held.subarray(0, heldBytes));
    }
    for (let rest = held.subarray(0, heldBytes); ; ) {
      const feed = rest.lastIndexOf(LF, blockBytes - 1);
      const end = rest.length <= blockBytes || feed < 0 ? rest.length : feed + 1;
      if (end === 0) return;
      await convert(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
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

function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}
