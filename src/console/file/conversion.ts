// Converts a file as its bytes come, with the code of the command and the service, to the same bytes. Counts rows,
// and keeps the first failed ones.

import { ADMIN_UNITS } from '../../hexcodes/admin-units.js';
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { positionStatusAt, recordAt, recordStatusAt } from '../../hexcodes/kernel/output-layout.js';
import { type TextMemory, textMemoryOf } from '../../hexcodes/kernel/text-memory.js';
import { convertInto } from '../../hexcodes/wire/bulk/convert-block.js';
import { BulkReader } from '../../hexcodes/wire/bulk/reader.js';
import type { Block, BlockBuffers } from '../../hexcodes/wire/bulk/splitters.js';
import { ByteSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import {
  BulkInputError,
  type BulkRequest,
  looksSwapped,
  type Operation,
  ROW_STATUSES,
} from '../../hexcodes/wire/job.js';
import { csvFields } from '../../hexcodes/wire/rows/csv-fields.js';
import { readCsvRow } from '../../hexcodes/wire/rows/host-row.js';
import { type FailedRow, failedRowsOf, RowReport } from '../../hexcodes/wire/rows/row-report.js';
import { NOWHERE, PointList } from '../points/drawn-points.js';
import type { FailedExample, FileFormat, FileTally } from './messages.js';
import { concat } from './table-plan.js';
import { ZoneColumn, type ZonesOfRows, zoneColumn } from './zone-column.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Admin numbers by the letters of their codes, two or three of them in base 32. */
const ADMIN_BY_LETTERS = new Uint8Array(32 * 32 * 32).fill(NOWHERE);
for (const [admin, { code }] of ADMIN_UNITS.entries()) {
  const bytes = new TextEncoder().encode(code);
  ADMIN_BY_LETTERS[lettersAt(bytes, 0)] = admin;
}

/** Index of the letters before the first hyphen or the end. */
function lettersAt(bytes: Uint8Array, at: number): number {
  const third = bytes[at + 2] ?? 0;
  return ((bytes[at]! & 31) << 10) | ((bytes[at + 1]! & 31) << 5) | (third >= 65 ? third & 31 : 0);
}

/** Reads the points of a conversion out of the kernel's memory, at the end of each of its scans. */
class PointsReport extends RowReport {
  constructor(
    private readonly kernel: Kernel,
    private readonly rows: TextMemory,
    private readonly of: Operation,
    private readonly points: PointList,
    private readonly zones: ZonesOfRows | undefined,
    /** The first row of the next scan. */
    private row: number,
  ) {
    super(rows, of);
  }

  /** Zones of the rows of the block, where there are zones. */
  readonly rowZones: Bytes[] = [];

  override endScan(count: number, isConverted: boolean): void {
    super.endScan(count, isConverted);
    const zones = this.#findZones(count);
    if (this.of === 'encode') this.#addEncoded(count, zones);
    else this.#addDecoded(count, zones);
    this.row += count;
  }

  #findZones(count: number): Bytes | undefined {
    if (this.zones === undefined) return undefined;
    const { input, outputFloats, output } = this.kernel;
    const from = this.of === 'encode' ? input : outputFloats;
    const positions = new Float64Array(2 * count).fill(Number.NaN);
    for (let i = 0; i < count; i++) {
      const status = output[this.of === 'encode' ? recordStatusAt(i) : positionStatusAt(count, i)];
      if (status !== 0 || this.rows.statusOf(i) !== 0) continue;
      positions[2 * i] = from[2 * i]!;
      positions[2 * i + 1] = from[2 * i + 1]!;
    }
    const found = this.zones.find(positions) as Bytes;
    this.rowZones.push(found);
    return found;
  }

  #addEncoded(count: number, zones: Bytes | undefined): void {
    const { input, output } = this.kernel;
    for (let i = 0; i < count; i++) {
      const isFound = output[recordStatusAt(i)] === 0 && this.rows.statusOf(i) === 0;
      const isElsewhere = !isFound && output[recordStatusAt(i)] === 1;
      if (!isFound && !isElsewhere) continue;
      const admin = isFound ? ADMIN_BY_LETTERS[lettersAt(output, recordAt(i))]! : NOWHERE;
      this.points.add(input[2 * i]!, input[2 * i + 1]!, admin, this.row + i, zones?.[i]);
    }
  }

  #addDecoded(count: number, zones: Bytes | undefined): void {
    const { inputBytes, output, outputFloats } = this.kernel;
    for (let i = 0; i < count; i++) {
      if (output[positionStatusAt(count, i)] !== 0 || this.rows.statusOf(i) !== 0) continue;
      const admin = ADMIN_BY_LETTERS[lettersAt(inputBytes, recordAt(i))]!;
      this.points.add(outputFloats[2 * i]!, outputFloats[2 * i + 1]!, admin, this.row + i, zones?.[i]);
    }
  }
}

/** Prefix of our columns where the file has a column with one of their names. */
const PREFIX = 'hexcodes_';
/** Number of failed rows that are shown for each status. */
const EXAMPLES = 3;
const MAX_EXAMPLE_UNITS = 120;

/**
 * Decides how a file is converted, by its beginning: positions to codes if it has positions, otherwise codes to
 * positions.
 * @param beginning the header row at least, or the whole file
 * @param known parts of the request
 * @throws BulkInputError why it cannot be encoded, if it can be neither
 */
export function requestFor(
  beginning: Uint8Array,
  input: FileFormat,
  resolution: number,
  known: Partial<BulkRequest> = {},
): BulkRequest {
  if (input === 'ndjson') {
    const [line = ''] = new TextDecoder().decode(beginning.subarray(0, 65_536)).trimStart().split('\n', 1);
    const isCodes = /^(?:"|\{.*"hexcodes"\s*:)/.test(line) && !/"lat(?:itude)?"\s*:/.test(line);
    return { operation: isCodes ? 'decode' : 'encode', input, output: input, resolution, prefix: '' };
  }
  let why: unknown;
  for (const operation of ['encode', 'decode'] as const) {
    for (const prefix of ['', PREFIX]) {
      const request = { operation, input, output: input, resolution, ...known, prefix };
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

/** Differences between the answer and the text given to the readers. */
interface Shown {
  /** Whether it begins with a byte order mark. */
  readonly hasMark?: boolean;
  /** Zones whose names become a column. */
  readonly zones?: ZonesOfRows | undefined;
}

const MARK = Uint8Array.of(0xef, 0xbb, 0xbf);
const NO_ROWS: Bytes = new Uint8Array();

export class FileConversion {
  readonly tally: FileTally;
  readonly points = new PointList();
  /** Pairs: the first row of each block of answers, and its byte offset in all answers. */
  readonly blocks: number[] = [];
  #answeredBytes = 0;
  readonly #reader: BulkReader;
  readonly #sink = new ByteSink();
  #hasHead = false;
  #head: Bytes = NO_ROWS;
  #failed: Bytes[] = [];
  #hasFailed = false;
  #zoneColumn: ZoneColumn | undefined;

  constructor(
    private readonly kernel: Kernel,
    private readonly request: BulkRequest,
    private readonly buffers: BlockBuffers,
    private readonly shown: Shown = {},
  ) {
    this.#reader = new BulkReader(request, buffers, kernel);
    this.tally = {
      operation: request.operation,
      prefix: request.prefix,
      rows: 0,
      byStatus: ROW_STATUSES.map(() => 0),
      byAdmin: Array.from({ length: 34 }, () => 0),
      examples: [],
      byZone: (shown.zones?.names ?? []).map(() => 0),
      zoneColumn: '',
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
    if (this.shown.zones !== undefined && this.#reader.job !== undefined) this.#openZones(this.shown.zones);
    const answers: Bytes[] = [];
    const add = (bytes: Bytes): void => {
      answers.push(bytes);
      this.#answeredBytes += bytes.length;
    };
    if (!this.#hasHead && this.#reader.job !== undefined) {
      this.#hasHead = true;
      this.#head = this.#shownHead();
      const column = this.#zoneColumn;
      add(column === undefined ? this.#head : column.withName(this.#head, this.tally.zoneColumn));
    }
    for (const block of blocks) {
      this.blocks.push(this.tally.rows, this.#answeredBytes);
      add(this.#answer(block));
    }
    return answers;
  }

  #openZones({ names }: ZonesOfRows): void {
    if (this.#zoneColumn !== undefined) return;
    const { output, delimiter } = this.#reader.job!;
    const separator = output === 'csv' ? String.fromCharCode(delimiter) : undefined;
    this.#zoneColumn = new ZoneColumn(names, separator);
    const head = new TextDecoder().decode(this.#shownHead()).trimEnd();
    const taken = separator === undefined ? [] : (csvFields(head, delimiter) ?? []);
    this.tally.zoneColumn = zoneColumn(taken, PREFIX);
  }

  /** Answers to rows that failed since the last call, with the header row first. */
  takeFailed(): Bytes[] {
    const failed = this.#failed;
    this.#failed = [];
    if (failed.length === 0 || this.#hasFailed) return failed;
    this.#hasFailed = true;
    return [this.#head, ...failed];
  }

  /** The header row of the readers, with the byte order mark of the answer. */
  #shownHead(): Bytes {
    const head = this.#reader.head.slice();
    return this.shown.hasMark === true && head[0] !== MARK[0] ? concat(MARK, head) : head;
  }

  #answer(block: Block): Bytes {
    const { kernel, tally } = this;
    const job = this.#reader.job!;
    const memory = textMemoryOf(kernel);
    const report = new PointsReport(kernel, memory, job.operation, this.points, this.shown.zones, tally.rows);
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
    return this.#withZones(answer, report.rowZones, failedRowsOf(found));
  }

  #withZones(answer: Bytes, parts: readonly Bytes[], failed: readonly FailedRow[]): Bytes {
    if (this.#zoneColumn === undefined) return answer;
    const zones = concat(...parts);
    const { byZone } = this.tally;
    for (const zone of zones) if (zone < byZone.length) byZone[zone]!++;
    return this.#zoneColumn.added(answer, zones, failed);
  }

  #keepFailedRows(answer: Bytes, rows: readonly FailedRow[]): void {
    if (rows.length === 0) return;
    const parts = rows.map(({ answerStart, answerEnd }) => answer.subarray(answerStart, answerEnd));
    this.#failed.push(concat(...parts));
  }

  #keepFailedLines(answer: Bytes): void {
    const lines = new TextDecoder().decode(answer).split('\n');
    const failed = lines.filter((line) => line !== '' && !/"status":"OK"/.test(line));
    this.#failed.push(new TextEncoder().encode(`${failed.join('\n')}\n`));
  }

  #example(block: Block, { row, status, start, end }: FailedRow): FailedExample {
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
      text: text.length > MAX_EXAMPLE_UNITS ? `${text.slice(0, MAX_EXAMPLE_UNITS)}…` : text,
      reasons: (faults ?? []).map(({ parameter, message }) => `${parameter} ${message}`),
      isSwapped: this.#isSwapped(text),
    };
  }

  /** Whether a failed row lies in Viet Nam with its two numbers exchanged; quoted fields are not checked. */
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
