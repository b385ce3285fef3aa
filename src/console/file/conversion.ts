// Converts a file as its bytes come, by the code of the command and the service: the same bytes leave. Beside them it
// counts, and keeps the first rows that failed.
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { textMemoryOf } from '../../hexcodes/kernel/text-memory.js';
import type { Block, BlockBuffers } from '../../hexcodes/wire/bulk/block-buffers.js';
import { convertInto } from '../../hexcodes/wire/bulk/convert-block.js';
import { BulkReader } from '../../hexcodes/wire/bulk/reader.js';
import { ByteSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import { BulkInputError, type BulkRequest, ROW_STATUSES } from '../../hexcodes/wire/job.js';
import { readCsvRow } from '../../hexcodes/wire/rows/read-row.js';
import { failedRowsOf } from '../../hexcodes/wire/rows/row-report.js';
import type { FailedExample, FileFormat, FileTally } from './messages.js';
import { PointList, PointsReport } from './points.js';

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

export class FileConversion {
  readonly tally: FileTally;
  readonly points = new PointList();
  readonly #reader: BulkReader;
  readonly #sink = new ByteSink();
  #hasHead = false;

  constructor(
    private readonly kernel: Kernel,
    private readonly request: BulkRequest,
    private readonly buffers: BlockBuffers,
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
    return [this.#reader.head.slice(), ...answers];
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
    return this.#sink.take();
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
      reason: (faults ?? []).map(({ parameter, message }) => `${parameter} ${message}`).join('; '),
    };
  }
}
