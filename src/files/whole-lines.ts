// NDJSON to NDJSON by whole lines: a line is copied up to its closing brace, or only its kept members, and our
// members are written after it. A line of which the kernel is not certain is converted value by value.

import { ADMIN_UNITS } from '../hexcodes/admin-units.js';
import { type ConvertedLines, LineConverter, type LineShape } from '../hexcodes/wire/bulk/convert-lines.js';
import { linesIn } from '../hexcodes/wire/bulk/splitters.js';
import { BLOCK_BYTES, type RowStatus } from '../hexcodes/wire/job.js';
import { DECODED } from '../hexcodes/wire/rows/convert-rows.js';
import { countSlow, type FailedRow } from '../hexcodes/wire/rows/row-report.js';
import type { FirstRows, ValueBatches } from './by-values.js';
import type { Sample } from './columns/columns.js';
import { codeColumn, findPosition, resolutionColumn } from './columns/position-columns.js';
import { planOf } from './columns/row-plan.js';
import { HEAD_BYTES, type Input, inputOf, nameOf, openInput, statOf } from './disk/input.js';
import type { Output } from './disk/output.js';
import type { Batch, Explained } from './driver.js';
import { documentIn, lineBlocks, openNdjson } from './formats/ndjson/ndjson.js';
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
  readonly first: FirstRows;
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
    const { columns } = source;
    const { kept, sink, ours, own } = planOf(run, { columns, sample }, 'values');
    if (own >= 0 && !kept.includes(own)) return 'rows have resolutions of their own, which are left out';
    const isDecode = request.operation === 'decode';
    const values = isDecode ? DECODED : ours.filter((is) => is !== null && is !== 'lat' && is !== 'lng');
    const shape: LineShape = {
      resolution: isDecode ? null : request.resolution,
      read: read.map((column) => sample.names[column]!),
      added: sink.added.map(({ name }, c) => ({ name, is: values[c]! })),
      chosen: sink.chosen ?? null,
    };
    if (LineConverter.of(hexcodes.kernel, shape) === null) return 'names of columns are too long or too many';
    const position = isDecode ? null : ([columns[read[0]!]!, columns[read[1]!]!] as const);
    return { shape, first: { source, sample }, position };
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
  const output = new HeldOutput();
  const work: LineWork = { ...plan, lines, output, batches: null };
  return new WholeRows(run, async ({ input, from }) => {
    let before = 0;
    let offset = 0;
    for await (const chunk of offset < from ? (input.plain?.chunksFrom(0) ?? []) : []) {
      before += linesIn(chunk, 0, from - offset);
      offset += chunk.length;
      if (offset >= from) break;
    }
    return new WholeLines(run, work, input, before);
  });
}

/** Bytes that are written, until they are taken. */
class HeldOutput implements Output {
  readonly name = '';
  readonly holdsBytes = true;
  #parts: Uint8Array[] = [];

  async write(bytes: Uint8Array): Promise<void> {
    this.#parts.push(bytes);
  }

  take(): Buffer {
    return Buffer.concat(this.#parts.splice(0));
  }

  async finish(): Promise<void> {}
  abandon(): void {}
}

/** How lines are converted: by the kernel, and by their values where it leaves them. */
interface LineWork extends LinePlan {
  readonly lines: LineConverter;
  /** Loaded for the first line that is left or has failed: most runs have none. */
  batches: ValueBatches | null;
  readonly output: HeldOutput;
}

class WholeLines implements WholeInput {
  readonly start = 0;
  readonly work: { readonly kind: 'lines'; readonly shape: LineShape };
  readonly sliceBytes: number;
  readonly #file: string;

  constructor(
    private readonly run: Run,
    private readonly of: LineWork,
    private readonly input: Input,
    /** Number of converted lines of the input, for messages about faults. */
    private line: number,
  ) {
    this.work = { kind: 'lines', shape: of.shape };
    this.sliceBytes = Math.min(BLOCK_BYTES, of.lines.blockBytes);
    this.#file = input.name;
  }

  blocks(from: number): AsyncIterable<Uint8Array> {
    return lineBlocks(this.input, this.of.lines.blockBytes, from, (lines) => {
      this.line = lines;
    });
  }

  convert(block: Buffer, from: number): ConvertedLines {
    return this.of.lines.convert(block, from);
  }

  async mended(block: Uint8Array, answer: ConvertedLines, from: number): Promise<Answer> {
    const { left, lines, restAt } = answer;
    const isLoading = this.of.batches === null && answer.failed + left.length > 0;
    const isHeld = isLoading || left.length > 0 || this.run.targets.output.holdsBytes;
    // The bytes of the answer are those of the kernel's memory, to which positions of codes are printed.
    const own = isHeld ? { ...answer, bytes: answer.bytes.slice() } : answer;
    if (isLoading) await this.#load();
    if (left.length === 0) {
      this.line += lines;
      return own;
    }
    const slow: Omit<SlowAnswer, 'status' | 'bytes'>[] = [];
    const blank: number[] = [];
    const batch = new DocumentBatch();
    const answers: Pick<SlowAnswer, 'status' | 'bytes'>[] = [];
    const byAdmin = new Uint32Array(ADMIN_UNITS.length);
    const flush = async (): Promise<void> => {
      for (const documents of narrowBatches(batch.take(), this.of.first.source.columns.length))
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
    return spliced(own, mended, blank, byAdmin);
  }

  async #load(): Promise<void> {
    const { ValueBatches } = await import('./by-values.js');
    const { first, output } = this.of;
    this.of.batches = await ValueBatches.of(this.run, first, { output, rejects: null, from: null });
  }

  #batchesOf(documents: JsonDocument[]): Generator<Batch> {
    const { batches, first } = this.of;
    const objects = documents.map(({ value }) => value);
    const values = valuesOf(first.source.columns, objects, this.#file, 1, 'any');
    return batches!.of({ rowCount: documents.length, values, documents }, 0);
  }

  /** @param byAdmin to which rows that are OK are added */
  async #written(
    documents: JsonDocument[],
    byAdmin: Uint32Array,
  ): Promise<Pick<SlowAnswer, 'status' | 'bytes'>[]> {
    const answers: Pick<SlowAnswer, 'status' | 'bytes'>[] = [];
    for (const batch of this.#batchesOf(documents)) {
      for (let admin = 0; admin < byAdmin.length; admin++) byAdmin[admin]! += batch.byAdmin[admin]!;
      const statuses = new Array<RowStatus>(batch.rows).fill('OK');
      for (const { row, status } of batch.failures()) statuses[row] = status;
      await batch.write('all');
      const bytes = this.of.output.take();
      let at = 0;
      for (const status of statuses) {
        const start = at;
        at = bytes.indexOf(LF, start) + 1;
        answers.push({ bytes: bytes.subarray(start, at), status });
      }
    }
    return answers;
  }

  explain(block: Uint8Array, { start, end, status }: FailedRow): Explained {
    const document = documentIn(block.subarray(start, end), this.#file, this.line)!;
    const fault = (): string => {
      const [batch] = this.#batchesOf([document]);
      return batch!.explain({ row: 0, status }).fault();
    };
    const { position } = this.of;
    if (position === null) return { fault };
    const [lat, lng] = position;
    const degrees = [
      degreesOf(lat, document.value[lat.name] ?? null, 'lat'),
      degreesOf(lng, document.value[lng.name] ?? null, 'lng'),
    ] as const;
    return { degrees, fault };
  }
}
