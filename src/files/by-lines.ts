// NDJSON to NDJSON by bytes: a line is copied up to its closing brace, and our members are written behind. The kernel
// finds lines and coordinates in blocks; a block with any line that it is not certain of is converted value by value.

import { isUtf8 } from 'node:buffer';
import { ADMIN_UNITS } from '../hexcodes/admin-units.js';
import { ROW_BYTES } from '../hexcodes/kernel/exports.js';
import { type Kernel, OK } from '../hexcodes/kernel/kernel.js';
import { RECORD_BYTES, RECORD_TEXT_BYTES, recordStatusAt } from '../hexcodes/kernel/output-layout.js';
import { type TextMemory, textMemoryOf } from '../hexcodes/kernel/text-memory.js';
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
import { adminOf } from './formats/parquet/own-columns.js';
import type { JsonDocument, TableColumn, TableSink } from './formats/table.js';
import type { Run } from './request.js';
import { type RowFailure, SWAP_TRIES, Tally } from './tally.js';

const LF = 10;
const CR = 13;
const OPEN = 123;
const CLOSE = 125;
/** A longer line may be nested too deeply. */
const MOST_LINE = 1024;
/** The shortest line with a position: `{"lat":1,"lng":1}` and its end. */
const LEAST_LINE = 18;
/** A line of more bytes is none. */
const MOST_REST = 17 * 2 ** 20;
const WORDS_PER_ROW = ROW_BYTES / 4;

/** The columns of the first input, by which the lines of all are read. */
export interface LinePlan {
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
    return { converter, columns: source.columns };
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
  const lines = new LineConverter(run, plan);
  for (let inputNumber = 0; inputNumber < request.inputs.length; inputNumber++) {
    const input = await run.open(inputNumber);
    if (targets.from !== null && inputNumber < targets.from.inputNumber) continue;
    const isResumed = inputNumber === targets.from?.inputNumber;
    await lines.convert(input, inputNumber, isResumed ? targets.from : { inputOffset: 0, inputRows: 0 });
  }
}

class LineConverter {
  readonly #run: Run;
  readonly #plan: LinePlan;
  readonly #sink: TableSink;
  readonly #rejects: TableSink | null;
  readonly #kernel: Kernel;
  readonly #memory: TextMemory;
  readonly #bytes: Uint8Array;
  readonly #rows: Uint32Array;
  /** Names of our members as they would be in a line. */
  readonly #names: readonly Buffer[];
  /** The members of an OK row by its province, and behind those of failed rows by status: their code is put in. */
  readonly #tailBytes = new Uint16Array(ADMIN_UNITS.length + ROW_STATUSES.length);
  readonly #codeBytes = new Uint8Array(this.#tailBytes.length);
  readonly #longest: number;
  /** Where the code is in the members. */
  readonly #codeAt: number;
  /** Tails, the block, and what is written, each at its offset. */
  readonly #out: Uint8Array;
  readonly #blockAt: number;
  readonly #outAt: number;

  constructor(run: Run, plan: LinePlan) {
    const { targets, hexcodes } = run;
    this.#run = run;
    this.#plan = plan;
    const { columns } = plan.converter;
    this.#sink = ndjsonSink(targets.output, columns);
    this.#rejects = targets.rejects === null ? null : ndjsonSink(targets.rejects, columns);
    this.#kernel = hexcodes.kernel;
    this.#memory = textMemoryOf(hexcodes.kernel);
    const { buffer } = hexcodes.kernel.output;
    this.#bytes = new Uint8Array(buffer);
    this.#rows = new Uint32Array(
      buffer,
      hexcodes.kernel.exports.ROWS.value,
      WORDS_PER_ROW * hexcodes.kernel.capacity,
    );
    this.#names = columns.added.map(({ name }) => Buffer.from(JSON.stringify(name)));
    this.#codeAt = this.#names[0]!.length + ',:"'.length;
    const longestWord = Math.max(...ROW_STATUSES.map(({ length }) => length));
    const namesBytes = this.#names.reduce((sum, name) => sum + name.length, 0);
    this.#longest = namesBytes + RECORD_BYTES + longestWord + 32;
    this.#blockAt = this.#tailBytes.length * this.#longest;
    this.#outAt = this.#blockAt + BLOCK_BYTES;
    this.#out = new Uint8Array(
      this.#outAt + BLOCK_BYTES + Math.ceil(BLOCK_BYTES / LEAST_LINE) * this.#longest,
    );
  }

  /** Writes a tail for the first row that has it. @returns its size */
  #makeTail(tail: number, records: Uint8Array, record: number): number {
    const status = ROW_STATUSES[Math.max(0, tail - ADMIN_UNITS.length)]!;
    const end = records.indexOf(0, record);
    const length = Math.min(end < 0 ? RECORD_TEXT_BYTES : end - record, RECORD_TEXT_BYTES);
    const values = [
      status === 'OK' ? `"${'-'.repeat(length)}"` : 'null',
      String(this.#run.request.resolution),
      status === 'OK' ? `"${ADMIN_UNITS[tail]!.code}"` : 'null',
      `"${status}"`,
    ];
    const text = Buffer.from(
      `${values.map((value, i) => `,${this.#names[i]!.toString()}:${value}`).join('')}}\n`,
    );
    this.#out.set(text, tail * this.#longest);
    this.#tailBytes[tail] = text.length;
    this.#codeBytes[tail] = length;
    return text.length;
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
    let rest = Buffer.alloc(0);
    const convert = async (block: Buffer): Promise<void> => {
      if (block.length === 0) return;
      const fast = this.#convertFast(block, input.name, rows + 1);
      if (fast !== null) {
        const { output } = this.#run.targets;
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
    for await (const chunk of input.chunks()) {
      const skipped = Math.min(toSkip, chunk.length);
      toSkip -= skipped;
      offset += skipped;
      if (skipped > 0) lines += linesIn(chunk.subarray(0, skipped));
      let block = Buffer.concat([rest, chunk.subarray(skipped)]);
      for (;;) {
        // Blocks have whole lines, and no more than the kernel takes; a longer line is a block of its own.
        const within = block.lastIndexOf(LF, Math.min(block.length, BLOCK_BYTES) - 1);
        const feed = within >= 0 || block.length <= BLOCK_BYTES ? within : block.indexOf(LF);
        if (feed < 0 || block.length <= BLOCK_BYTES / 2) break;
        await convert(block.subarray(0, feed + 1));
        block = block.subarray(feed + 1);
      }
      rest = block;
      // The reader of lines refuses it.
      if (rest.length > MOST_REST) await convert(rest);
    }
    for (;;) {
      const feed = rest.lastIndexOf(LF, BLOCK_BYTES - 1);
      const end = rest.length <= BLOCK_BYTES || feed < 0 ? rest.length : feed + 1;
      if (end === 0) return;
      await convert(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  }

  /** @returns null for a block with a line that is to be converted value by value; nothing is counted then */
  #convertFast(block: Buffer, file: string, firstRow: number): { bytes: Uint8Array; rows: number } | null {
    const kernel = this.#kernel;
    const { exports, output: records, capacity } = kernel;
    const { request, targets } = this.#run;
    const { tally } = targets;
    if (block.length > BLOCK_BYTES || !isUtf8(block) || block.includes(0)) return null;
    if (this.#names.some((name) => block.includes(name))) return null;
    const { blockAt, block: into } = this.#memory;
    into.set(block);
    const bytes = this.#bytes;
    const bounds = this.#rows;
    const out = this.#out;
    out.set(block, this.#blockAt);
    const byAdmin = new Uint32Array(256);
    const failures = new Uint32Array(ROW_STATUSES.length);
    const end = blockAt + block.length;
    let at = this.#outAt;
    let total = 0;
    let tries = tally.failedRows;
    let swapped = 0;
    const firstFailed: number[] = [];
    let expected = blockAt;
    while (expected < end) {
      const count = exports.scanNdjson(expected, end, capacity, false, request.resolution);
      if (count === 0 || this.#memory.hostRowCount > 0) return null;
      const failed = exports.encodeBatch(count, request.resolution);
      if (failed > 0) {
        // The rows go elsewhere, or end the run.
        if (request.errors.kind !== 'keep') return null;
        for (let i = 0; i < count; i++) {
          const status = records[recordStatusAt(i)]!;
          if (status === OK) continue;
          const isTried = tries++ < SWAP_TRIES;
          if (isTried && looksSwapped(kernel, kernel.input[2 * i]!, kernel.input[2 * i + 1]!)) swapped++;
          if (failures[status]!++ === 0) firstFailed[status] = total + i;
        }
      }
      for (let i = 0; i < count; i++) {
        const start = bounds[WORDS_PER_ROW * i]!;
        const feed = bounds[WORDS_PER_ROW * i + 1]!;
        let close = feed - 1;
        if (bytes[close] === CR) close--;
        const last = bytes[close - 1]!;
        // Lines that would be trimmed, are blank or long are left.
        if (start !== expected || bytes[start] !== OPEN || bytes[close] !== CLOSE || last <= 32 || last > 127)
          return null;
        if (close - start > MOST_LINE) return null;
        expected = feed + 1;
        // Copies within one array are the cheapest that there are here.
        const from = this.#blockAt + start - blockAt;
        out.copyWithin(at, from, from + close - start);
        at += close - start;
        const record = RECORD_BYTES * i;
        const status = records[record + RECORD_TEXT_BYTES]!;
        const tail = status === OK ? adminOf(records, record) : ADMIN_UNITS.length + status;
        const tailBytes = this.#tailBytes[tail]! || this.#makeTail(tail, records, record);
        const tailAt = tail * this.#longest;
        out.copyWithin(at, tailAt, tailAt + tailBytes);
        if (status === OK) {
          const code = at + this.#codeAt - record;
          const codeEnd = record + this.#codeBytes[tail]!;
          // The codes of a province are of one length at a resolution; if one is not, its block is converted slowly.
          if (records[codeEnd - 1] === 0 || (codeEnd < record + RECORD_TEXT_BYTES && records[codeEnd] !== 0))
            return null;
          for (let p = record; p < codeEnd; p++) out[code + p] = records[p]!;
          byAdmin[tail]!++;
        }
        at += tailBytes;
      }
      total += count;
    }
    // In the order in which the rows come.
    const met = firstFailed.flatMap((row, status) => (row === undefined ? [] : [{ row, status }]));
    for (const { row, status } of met.sort((one, other) => one.row - other.row)) {
      const word = ROW_STATUSES[status] as RowFailure;
      tally.fail(word, failures[status]);
      if (tally.first.has(word)) continue;
      tally.first.set(word, { file, row: firstRow + row, fault: this.#faultOf(block, row, file) });
    }
    tally.rows += total;
    tally.swapped += swapped;
    for (let admin = 0; admin < ADMIN_UNITS.length; admin++) tally.byAdmin[admin]! += byAdmin[admin]!;
    return { bytes: out.subarray(this.#outAt, at), rows: total };
  }

  /** The fault of a failed line of a block in words. */
  #faultOf(block: Buffer, line: number, file: string): string {
    let start = 0;
    for (let i = 0; i < line; i++) start = block.indexOf(LF, start) + 1;
    const feed = block.indexOf(LF, start);
    const text = block.toString('utf8', start, feed < 0 ? block.length : feed).trim();
    const documents = [parseObject(text, file, line + 1)];
    const { converter, columns } = this.#plan;
    const values = valuesOf(columns, [documents[0]!.value], file, 1, 'any');
    return converter.convert({ rowCount: 1, values, documents }, new Tally()).faultOf(0);
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
