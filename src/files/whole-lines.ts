// NDJSON to NDJSON by whole lines: a line is copied up to its closing brace, or only its kept members, and our
// members are written after it. A line of which the kernel is not certain is converted value by value.

import { ADMIN_UNITS } from '../hexcodes/admin-units.js';
import { type ConvertedLines, LineConverter, type LineShape } from '../hexcodes/wire/bulk/convert-lines.js';
import { linesIn } from '../hexcodes/wire/bulk/splitters.js';
import { BLOCK_BYTES } from '../hexcodes/wire/job.js';
import { DECODED } from '../hexcodes/wire/rows/convert-rows.js';
import { countSlow, type FailedRow } from '../hexcodes/wire/rows/row-report.js';
import type { Sample } from './columns/columns.js';
import { addedValues } from './columns/encode-columns.js';
import { codeColumn, findPosition, resolutionColumn } from './columns/position-columns.js';
import { type ConvertedRows, type RowConverter, rowConverter } from './convert-rows.js';
import { HEAD_BYTES, type Input, inputOf, nameOf, openInput, statOf } from './disk/input.js';
import type { Explained } from './driver.js';
import { documentIn, lineBlocks, ndjsonSink, openNdjson } from './formats/ndjson/ndjson.js';
import { sampled } from './formats/open.js';
import type { JsonDocument, TableColumn } from './formats/table.js';
import { degreesOf } from './formats/values/column-text.js';
import { DocumentBatch, narrowBatches, valuesOf } from './formats/values/json-columns.js';
import type { Run } from './request.js';
import { type Answer, type SlowAnswer, spliced, type WholeInput, WholeRows } from './whole-rows.js';

const LF = 10;

/** The columns of the first input, by which the lines of all inputs are read. */
export interface LinePlan {
  readonly shape: LineShape;
  readonly converter: RowConverter;
  readonly columns: readonly TableColumn[];
  /** The columns of positions; null where codes are read. */
  readonly position: readonly [lat: TableColumn, lng: TableColumn] | null;
}

/** @returns the plan for copying lines, or a sentence why there is none */
export async function planLines(run: Run): Promise<LinePlan | string> {
  const { request, sourceFormat, targetFormat, rejectsFormat, hexcodes, targets } = run;
  const { columns: choice } = request;
  if (sourceFormat !== 'ndjson' || targetFormat !== 'ndjson') return 'not from NDJSON to NDJSON';
  if (request.input.point !== undefined) return 'a row may become several';
  if (choice.position !== undefined) return 'positions are in one column';
  if (rejectsFormat !== null && rejectsFormat !== 'ndjson') return 'failed rows go to another format';
  if (targets.from !== null && targets.from.inputRows > 0 && targets.from.inputOffset === 0)
    return 'an earlier run was converted value by value';
  const input = await firstLines(run);
  if (input === null) return 'the first line of a pipe is long';
  try {
    const { source, sample } = await sampled(await openNdjson(input, 'any', null));
    const read = readIn(run, sample, input.name);
    if (read === null) return 'positions are in one column';
    const converter = rowConverter(hexcodes, request, {
      columns: source.columns,
      sample,
      hasHeader: true,
      file: input.name,
      isTyped: true,
    });
    const isDecode = request.operation === 'decode';
    const values = isDecode ? DECODED : addedValues(request, read.length > 2);
    const shape: LineShape = {
      resolution: isDecode ? null : request.resolution,
      read: read.map((column) => sample.names[column]!),
      added: converter.columns.added.map(({ name }, c) => ({ name, is: values[c]! })),
      chosen: converter.columns.chosen ?? null,
    };
    if (LineConverter.of(hexcodes.kernel, shape) === null) return 'names of columns are too long or too many';
    const { columns } = source;
    const position = isDecode ? null : ([columns[read[0]!]!, columns[read[1]!]!] as const);
    return { shape, converter, columns, position };
  } catch {
    // by-values.ts reports the same fault.
    return 'the first rows have a fault';
  } finally {
    input.close();
  }
}

/**
 * The columns that are read: of the code, or of the position and perhaps the resolution; null for other positions.
 */
function readIn({ request, hexcodes }: Run, sample: Sample, file: string): number[] | null {
  if (request.operation === 'decode')
    return [codeColumn(sample, request.columns, file, (text) => hexcodes.isValid(text))];
  const where = findPosition(sample, request.columns, file);
  if (where.kind !== 'pair') return null;
  const own = resolutionColumn(sample.names, file);
  return [where.lat, where.lng, ...(own < 0 ? [] : [own])];
}

/** The beginning of the first input, for a pipe its first lines; null where no line is complete. */
async function firstLines({ request, head }: Run): Promise<Input | null> {
  const [path] = request.inputs;
  if (path !== '-' && statOf(path!).sizeBytes !== null) return await openInput(path!, request.input);
  const feed = head.lastIndexOf(LF);
  if (feed < 0 && head.length === HEAD_BYTES) return null;
  return inputOf(feed < 0 ? head : head.subarray(0, feed + 1), nameOf(path!));
}

export function wholeLines(run: Run, plan: LinePlan): WholeRows {
  const lines = LineConverter.of(run.hexcodes.kernel, plan.shape)!;
  return new WholeRows(run, async ({ input, from }) => {
    let before = 0;
    let offset = 0;
    for await (const chunk of offset < from ? (input.plain?.chunksFrom(0) ?? []) : []) {
      before += linesIn(chunk, 0, from - offset);
      offset += chunk.length;
      if (offset >= from) break;
    }
    return new WholeLines(run, plan, lines, input, before);
  });
}

class WholeLines implements WholeInput {
  readonly start = 0;
  readonly work: { readonly kind: 'lines'; readonly shape: LineShape };
  readonly sliceBytes: number;
  readonly #file: string;

  constructor(
    private readonly run: Run,
    private readonly plan: LinePlan,
    private readonly lines: LineConverter,
    private readonly input: Input,
    /** Number of converted lines of the input, for messages about faults. */
    private line: number,
  ) {
    this.work = { kind: 'lines', shape: plan.shape };
    this.sliceBytes = Math.min(BLOCK_BYTES, lines.blockBytes);
    this.#file = input.name;
  }

  blocks(from: number): AsyncIterable<Uint8Array> {
    return lineBlocks(this.input, this.lines.blockBytes, from, (lines) => {
      this.line = lines;
    });
  }

  convert(block: Buffer, from: number): ConvertedLines {
    return this.lines.convert(block, from);
  }

  async mended(block: Uint8Array, answer: ConvertedLines, from: number): Promise<Answer> {
    const { left, lines, restAt } = answer;
    if (left.length === 0) {
      this.line += lines;
      return this.run.targets.output.holdsBytes ? { ...answer, bytes: answer.bytes.slice() } : answer;
    }
    // The answer is in the kernel's memory, which conversions by values do not overwrite.
    const slow: Omit<SlowAnswer, 'status' | 'bytes'>[] = [];
    const blank: number[] = [];
    const batch = new DocumentBatch();
    const answers: Pick<SlowAnswer, 'status' | 'bytes'>[] = [];
    const byAdmin = new Uint32Array(ADMIN_UNITS.length);
    const flush = async (): Promise<void> => {
      for (const documents of narrowBatches(batch.take(), this.plan.columns.length))
        answers.push(...(await this.#written(documents, byAdmin)));
    };
    let line = this.line + 1;
    let counted = from;
    for (const { row, start, end, at } of left) {
      line += linesIn(block, counted, start);
      counted = start;
      const document = documentIn(block.subarray(start, end), this.#file, line);
      if (document === null) {
        blank.push(row);
        continue;
      }
      slow.push({ row, start, end, answerStart: at, answerEnd: at });
      if (batch.add(document)) await flush();
    }
    await flush();
    this.line += linesIn(block, from, restAt);
    if (slow.length > 0)
      this.run.said = 'Converted by bytes: lines were copied as they are, but for those that cannot be.';
    countSlow('file', 'line', slow.length);
    const mended = slow.map((each, n) => ({ ...each, ...answers[n]! }));
    return spliced(answer, mended, blank, byAdmin);
  }

  #convert(documents: JsonDocument[]): ConvertedRows {
    const objects = documents.map(({ value }) => value);
    const values = valuesOf(this.plan.columns, objects, this.#file, 1, 'any');
    return this.plan.converter.convert({ rowCount: documents.length, values, documents });
  }

  /** @param byAdmin to which rows that are OK are added */
  async #written(
    documents: JsonDocument[],
    byAdmin: Uint32Array,
  ): Promise<Pick<SlowAnswer, 'status' | 'bytes'>[]> {
    const rows = this.#convert(documents);
    for (const [admin, count] of rows.byAdmin.entries()) byAdmin[admin]! += count;
    let bytes: Uint8Array = new Uint8Array(0);
    const write = async (given: Uint8Array): Promise<void> => {
      bytes = given;
    };
    await ndjsonSink({ write }, this.plan.converter.columns).write(rows);
    let at = 0;
    return rows.status.map((status) => {
      const start = at;
      at = bytes.indexOf(LF, start) + 1;
      return { bytes: bytes.subarray(start, at), status };
    });
  }

  explain(block: Uint8Array, { start, end }: FailedRow): Explained {
    const document = documentIn(block.subarray(start, end), this.#file, this.line)!;
    const fault = (): string => this.#convert([document]).faultOf(0);
    const { position } = this.plan;
    if (position === null) return { fault };
    const [lat, lng] = position;
    const degrees = [
      degreesOf(lat, document.value[lat.name] ?? null, 'lat'),
      degreesOf(lng, document.value[lng.name] ?? null, 'lng'),
    ] as const;
    return { degrees, fault };
  }
}
