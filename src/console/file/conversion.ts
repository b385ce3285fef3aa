// Converts a file as its bytes come, by the code of the command and the service: the same bytes leave. Beside them it
// counts, and keeps the first rows that failed.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { positionStatusAt, recordAt, recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import { type TextMemory, textMemoryOf } from '../../hexcodes/kernel/text-memory.js';
import type { Block, BlockBuffers } from '../../hexcodes/wire/bulk/block-buffers.js';
import { convertInto } from '../../hexcodes/wire/bulk/convert-block.js';
import { BulkReader } from '../../hexcodes/wire/bulk/reader.js';
import { ByteSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import { BulkInputError, type BulkRequest, type Operation, ROW_STATUSES } from '../../hexcodes/wire/job.js';
import { readCsvRow } from '../../hexcodes/wire/rows/read-row.js';
import { type FailedRow, failedRowsOf, RowReport } from '../../hexcodes/wire/rows/row-report.js';
import { looksSwapped } from '../../hexcodes/wire/swapped.js';
import { ANCHOR, mercatorX, mercatorY, type PointsToDraw } from '../points/drawn-points.js';
import type { FailedExample, FileFormat, FileTally } from './messages.js';

// The positions of the rows of a file, collected while it is converted, as the map draws them.

/** Most points that are drawn: 18 MB. */
const MOST_POINTS = 2_000_000;
const FIRST_POINTS = 65_536;
/** Stands for a position in no province. */
const NOWHERE = 255;
/** MapLibre draws nothing beyond. */
const MOST_LAT_DEG = 85;

/** Admin numbers by the letters of their codes, two or three of them in base 32. */
const ADMIN_BY_LETTERS = new Uint8Array(32 * 32 * 32).fill(NOWHERE);
for (const [admin, { code }] of ADMIN_UNITS.entries()) {
  const bytes = new TextEncoder().encode(code);
  ADMIN_BY_LETTERS[lettersAt(bytes, 0)] = admin;
}

/** The place of the letters before the first hyphen or the end. */
function lettersAt(bytes: Uint8Array, at: number): number {
  const third = bytes[at + 2] ?? 0;
  return ((bytes[at]! & 31) << 10) | ((bytes[at + 1]! & 31) << 5) | (third >= 65 ? third & 31 : 0);
}

export class PointList {
  #offsets = new Float32Array(2 * FIRST_POINTS);
  #admins = new Uint8Array(FIRST_POINTS);
  #count = 0;
  #left = 0;
  /** West, south, east, north. */
  readonly #box: [number, number, number, number] = [180, 90, -180, -90];

  add(latDeg: number, lngDeg: number, admin: number): void {
    if (!(Math.abs(latDeg) <= MOST_LAT_DEG && Math.abs(lngDeg) <= 180)) return;
    if (this.#count === MOST_POINTS) {
      this.#left++;
      return;
    }
    if (this.#count === this.#admins.length) this.#grow();
    this.#offsets[2 * this.#count] = mercatorX(lngDeg) - ANCHOR.x;
    this.#offsets[2 * this.#count + 1] = mercatorY(latDeg) - ANCHOR.y;
    this.#admins[this.#count++] = admin;
    if (admin !== NOWHERE) this.#widen(latDeg, lngDeg);
  }

  /** All points so far, in buffers of their own. */
  take(): PointsToDraw {
    const [west, south, east, north] = this.#box;
    return {
      offsets: this.#offsets.slice(0, 2 * this.#count),
      admins: this.#admins.slice(0, this.#count),
      left: this.#left,
      box: west > east ? undefined : { west, south, east, north },
    };
  }

  #widen(latDeg: number, lngDeg: number): void {
    const box = this.#box;
    if (lngDeg < box[0]) box[0] = lngDeg;
    if (latDeg < box[1]) box[1] = latDeg;
    if (lngDeg > box[2]) box[2] = lngDeg;
    if (latDeg > box[3]) box[3] = latDeg;
  }

  #grow(): void {
    const offsets = new Float32Array(2 * this.#offsets.length);
    offsets.set(this.#offsets);
    this.#offsets = offsets;
    const admins = new Uint8Array(2 * this.#admins.length);
    admins.set(this.#admins);
    this.#admins = admins;
  }
}

/** Reads the points of a conversion out of the kernel's memory, at the end of each of its scans. */
class PointsReport extends RowReport {
  constructor(
    private readonly kernel: Kernel,
    private readonly rows: TextMemory,
    private readonly of: Operation,
    private readonly points: PointList,
  ) {
    super(rows, of);
  }

  override endScan(count: number, isConverted: boolean): void {
    super.endScan(count, isConverted);
    if (this.of === 'encode') this.#addEncoded(count);
    else this.#addDecoded(count);
  }

  #addEncoded(count: number): void {
    const { input, output } = this.kernel;
    for (let i = 0; i < count; i++) {
      const isFound = output[recordStatusAt(i)] === 0 && this.rows.statusOf(i) === 0;
      const isElsewhere = !isFound && output[recordStatusAt(i)] === 1;
      if (!isFound && !isElsewhere) continue;
      const admin = isFound ? ADMIN_BY_LETTERS[lettersAt(output, recordAt(i))]! : NOWHERE;
      this.points.add(input[2 * i]!, input[2 * i + 1]!, admin);
    }
  }

  #addDecoded(count: number): void {
    const { inputBytes, output, outputFloats } = this.kernel;
    for (let i = 0; i < count; i++) {
      if (output[positionStatusAt(count, i)] !== 0 || this.rows.statusOf(i) !== 0) continue;
      const admin = ADMIN_BY_LETTERS[lettersAt(inputBytes, recordAt(i))]!;
      this.points.add(outputFloats[2 * i]!, outputFloats[2 * i + 1]!, admin);
    }
  }
}

/** Put before the names of our columns where the file has one of them. */
const PREFIX = 'hexcodes_';
/** Failed rows that are shown, of each status. */
const EXAMPLES = 3;
const MOST_EXAMPLE_UNITS = 120;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * How a file is to be converted, by its beginning: positions to codes where it has positions, else codes to positions.
 * @param beginning the header row at least, or the whole file
 * @throws BulkInputError why it cannot be encoded, where it can be neither
 */
export function requestFor(beginning: Uint8Array, input: FileFormat, resolution: number): BulkRequest {
  if (input === 'ndjson') {
    const [line = ''] = new TextDecoder().decode(beginning.subarray(0, 65_536)).trimStart().split('\n', 1);
    const isCodes = /^["{]/.test(line) && !/"lat"\s*:/.test(line);
    return { operation: isCodes ? 'decode' : 'encode', input, output: input, resolution, prefix: '' };
  }
  let why: unknown;
  for (const operation of ['encode', 'decode'] as const) {
    for (const prefix of ['', PREFIX]) {
      const request = { operation, input, output: input, resolution, prefix };
      try {
        const trial = new BulkReader(request);
        trial.push(beginning);
        if (trial.job === undefined) trial.end();
        return request;
      } catch (error) {
        if (!(error instanceof BulkInputError)) throw error;
        why ??= error;
      }
    }
  }
  throw why;
}

/** How the answer differs from what the readers were given. */
interface Shown {
  /** Header row for the readers, and the one of the file, which stands in the answer. */
  readonly header?: { readonly read: string; readonly shown: string };
  /** Whether it begins with a byte order mark. */
  readonly hasMark?: boolean;
}

const MARK = '\ufeff';
const NO_ROWS: Bytes = new Uint8Array();

export class FileConversion {
  readonly tally: FileTally;
  readonly points = new PointList();
  readonly #reader: BulkReader;
  readonly #sink = new ByteSink();
  #hasHead = false;
  #head: Bytes = NO_ROWS;
  #failed: Bytes[] = [];
  #hasFailed = false;

  constructor(
    private readonly kernel: Kernel,
    private readonly request: BulkRequest,
    private readonly buffers: BlockBuffers,
    private readonly shown: Shown = {},
  ) {
    this.#reader = new BulkReader(request, buffers);
    this.tally = {
      operation: request.operation,
      prefix: request.prefix,
      rows: 0,
      byStatus: ROW_STATUSES.map(() => 0),
      byAdmin: Array.from({ length: 34 }, () => 0),
      examples: [],
    };
  }

  /** @returns the answers that are ready. @throws BulkInputError where the rest cannot be read */
  push(chunk: Uint8Array): Bytes[] {
    return this.#answers(this.#reader.push(chunk));
  }

  /** The rest, after the last chunk. */
  end(): Bytes[] {
    return this.#answers(this.#reader.end());
  }

  #answers(blocks: readonly Block[]): Bytes[] {
    const answers = blocks.map((block) => this.#answer(block));
    if (this.#hasHead || this.#reader.job === undefined) return answers;
    this.#hasHead = true;
    this.#head = this.#shownHead(this.#reader.head.slice());
    return [this.#head, ...answers];
  }

  /** Answers of rows that failed since the last call, below the header row. */
  takeFailed(): Bytes[] {
    const failed = this.#failed;
    this.#failed = [];
    if (failed.length === 0 || this.#hasFailed) return failed;
    this.#hasFailed = true;
    return [this.#head, ...failed];
  }

  #shownHead(head: Bytes): Bytes {
    const { header, hasMark = false } = this.shown;
    if (header === undefined && !hasMark) return head;
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(head);
    const named = header === undefined ? text : text.replace(header.read, () => header.shown);
    return new TextEncoder().encode(hasMark && !named.startsWith(MARK) ? MARK + named : named);
  }

  #answer(block: Block): Bytes {
    const { kernel, tally } = this;
    const job = this.#reader.job!;
    const report = new PointsReport(kernel, textMemoryOf(kernel), job.operation, this.points);
    this.#sink.start();
    const { byStatus } = convertInto(kernel, job, block, this.#sink, { report });
    const found = report.result();
    for (const failed of failedRowsOf(found)) {
      if (tally.examples.filter(({ status }) => status === failed.status).length >= EXAMPLES) continue;
      tally.examples.push(this.#example(block, failed));
    }
    byStatus.forEach((count, place) => {
      tally.byStatus[place]! += count;
      tally.rows += count;
    });
    found.byAdmin.forEach((count, admin) => {
      tally.byAdmin[admin]! += count;
    });
    this.buffers.giveBack(block);
    const answer = this.#sink.take();
    this.#keepFailedRows(answer, failedRowsOf(found));
    if (job.output === 'ndjson' && byStatus[0]! < byStatus.reduce((a, b) => a + b))
      this.#keepFailedLines(answer);
    return answer;
  }

  #keepFailedRows(answer: Bytes, rows: readonly FailedRow[]): void {
    if (rows.length === 0) return;
    const kept = new Uint8Array(
      rows.reduce((size, { answerStart, answerEnd }) => size + answerEnd - answerStart, 0),
    );
    let at = 0;
    for (const { answerStart, answerEnd } of rows) {
      kept.set(answer.subarray(answerStart, answerEnd), at);
      at += answerEnd - answerStart;
    }
    this.#failed.push(kept);
  }

  #keepFailedLines(answer: Bytes): void {
    const lines = new TextDecoder().decode(answer).split('\n');
    const failed = lines.filter((line) => line !== '' && !/"status":"OK"/.test(line));
    this.#failed.push(new TextEncoder().encode(`${failed.join('\n')}\n`));
  }

  #example(
    block: Block,
    { row, status, start, end }: ReturnType<typeof failedRowsOf>[number],
  ): FailedExample {
    const job = this.#reader.job!;
    const bytes = block.subarray(start, end);
    const text = new TextDecoder().decode(bytes);
    const faults =
      status === 'INVALID_REQUEST' && job.csv !== undefined
        ? readCsvRow(job.operation, bytes, job.csv, job.delimiter, this.request.resolution).faults
        : undefined;
    return {
      row: this.tally.rows + row + 1,
      status,
      text: text.length > MOST_EXAMPLE_UNITS ? `${text.slice(0, MOST_EXAMPLE_UNITS)}…` : text,
      reasons: (faults ?? []).map(({ parameter, message }) => `${parameter} ${message}`),
      isSwapped: this.#isSwapped(text),
    };
  }

  /** Whether a row that failed lies in Viet Nam with its two numbers exchanged; quoted fields are not looked at. */
  #isSwapped(row: string): boolean {
    const { csv, delimiter, operation } = this.#reader.job!;
    if (csv === undefined || operation !== 'encode') return false;
    const fields = row.trim().split(String.fromCharCode(delimiter));
    const [lat, lng] = [csv.lat, csv.lng].map((column) =>
      Number.parseFloat((fields[column] ?? '').replace(',', '.')),
    );
    return looksSwapped(this.kernel, lat!, lng!);
  }
}
