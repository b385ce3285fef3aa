// Rows that are copied whole, followed by our columns: CSV to CSV, TSV to TSV, NDJSON to NDJSON. The kernel writes
// them, a block or a slice at a time; rows that it cannot answer are converted value by value and inserted among the
// others.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kernel } from '../hexcodes/kernel/kernel.js';
import { ByteSink } from '../hexcodes/wire/bytes/byte-sink.js';
import { type BlockReport, type ConvertedRows, ROW_STATUSES, type RowStatus } from '../hexcodes/wire/job.js';
import { type FailedRow, failedRowsOf, packedFailures } from '../hexcodes/wire/rows/row-report.js';
import type { Pool } from '../pool/pool.js';
import {
  ANSWER_BUFFER_BYTES,
  answerSlice,
  type FileSlice,
  type SliceAnswer,
  type SliceWork,
} from '../pool/slices.js';
import type { PlainFile } from './disk/plain-file.js';
import type { Batch, Explained, Pipeline, Reading, Wanted } from './driver.js';
import type { FilesRequest, Run } from './request.js';

// A plain file converted by threads: each reads slices of it, and their answers are written in the order of the file.
// Slices that a thread leaves are converted here.

/**
 * Slices for each thread that are being converted or answered and not yet written. A worker holds as many: with the
 * two of the service it waits for this thread, which converts and writes meanwhile.
 */
const SLICES_PER_THREAD = 8;
/** Largest inputs for which threads are not worth their start. Decoding takes two to three times as long. */
const INLINE_BYTES = { encode: 256 * 1024 * 1024, decode: 16 * 1024 * 1024 };

/** Whether threads make a sliced run faster. */
function isWorthThreads({ request, totalBytes }: Pick<Run, 'request' | 'totalBytes'>): boolean {
  if (request.threads === 1 || totalBytes === null) return false;
  return request.sliceBytes !== undefined || totalBytes > INLINE_BYTES[request.operation];
}

/** Starts the workers of a pool, which is loaded only on demand: most runs need none. */
async function startPool(threads: number): Promise<Pool> {
  const [{ Pool }, { workerKernel }] = await Promise.all([import('../pool/pool.js'), import('./library.js')]);
  return new Pool({ kernel: await workerKernel(), threads, blocksPerThread: SLICES_PER_THREAD });
}

/** Workers besides this thread, which converts too. */
const workersOf = ({ threads }: FilesRequest): number => Math.max(1, threads - 1);

interface Sliced<Batch> {
  readonly kernel: Kernel;
  readonly pool: Pool;
  readonly work: SliceWork;
  readonly file: PlainFile;
  /** Start of a row or line. */
  readonly from: number;
  readonly sliceBytes: number;
  /** Whether the bytes of an answer are still read after they were written. */
  readonly holdsBytes: boolean;
  batchOf(answer: SliceAnswer, slice: FileSlice): Promise<Batch>;
  /** Rows from the beginning of a slice that a thread has left. */
  left(slice: FileSlice): AsyncGenerator<Batch>;
}

class PendingSlice {
  /** Undefined while it is pending; null where the slice was left. */
  answer: SliceAnswer | null | undefined;
  fault: unknown;
  readonly settled: Promise<void>;

  constructor(
    readonly slice: FileSlice,
    answer: Promise<SliceAnswer | null> | SliceAnswer | null,
    readonly isOfPool: boolean,
  ) {
    if (!(answer instanceof Promise)) this.answer = answer;
    this.settled = Promise.resolve(answer).then(
      (given) => {
        this.answer = given;
      },
      (fault: unknown) => {
        this.fault = fault ?? new Error('a slice without an answer');
      },
    );
  }

  get isSettled(): boolean {
    return this.answer !== undefined || this.fault !== undefined;
  }
}

/** The rows of a file to its end: workers convert slices, and so does this thread instead of waiting. */
async function* slicedBatches<Batch extends { readonly endOffset: number }>(
  sliced: Sliced<Batch>,
): AsyncGenerator<Batch> {
  const { kernel, pool, work, file, sliceBytes, holdsBytes } = sliced;
  const most = SLICES_PER_THREAD * (pool.threads + 1);
  const pending: PendingSlice[] = [];
  const dropped: Promise<void>[] = [];
  const free: Uint8Array<ArrayBuffer>[] = [];
  const sink = new ByteSink();
  let next = sliced.from;
  /** A file that grows meanwhile is read up to its earlier size. */
  let isCut = false;
  const cut = (): FileSlice | null => {
    const slice = isCut ? null : file.sliceAt(next, sliceBytes);
    isCut = slice === null || slice.isLast;
    if (slice !== null) next = slice.offset + slice.sizeBytes;
    return slice;
  };
  const ofPool = async (slice: FileSlice): Promise<SliceAnswer | null> => {
    await pool.whenBodyMayContinue();
    return pool.convertSlice(work, slice);
  };
  const giveBack = ({ answer, isOfPool }: PendingSlice): void => {
    if (answer === null || answer === undefined) return;
    if (isOfPool) pool.giveBack(answer.bytes);
    else if (answer.bytes.buffer.byteLength === ANSWER_BUFFER_BYTES)
      free.push(new Uint8Array(answer.bytes.buffer));
  };
  const drop = (): void => {
    for (const each of pending.splice(0)) dropped.push(each.settled.then(() => giveBack(each)));
  };
  try {
    for (;;) {
      const inPool = pending.filter(({ isOfPool, isSettled }) => isOfPool && !isSettled).length;
      for (let n = inPool; n < SLICES_PER_THREAD * pool.threads && pending.length < most; n++) {
        const slice = cut();
        if (slice === null) break;
        pending.push(new PendingSlice(slice, ofPool(slice), true));
      }
      const [first] = pending;
      if (first === undefined) return;
      if (!first.isSettled) {
        const own = pending.length < most ? cut() : null;
        if (own === null) await first.settled;
        else {
          const buffer = free.pop() ?? new Uint8Array(ANSWER_BUFFER_BYTES);
          pending.push(new PendingSlice(own, answerSlice(kernel, work, own, sink, buffer), false));
          await nextTurn();
        }
        continue;
      }
      pending.shift();
      if (first.fault !== undefined) throw first.fault;
      const { slice, answer } = first;
      if (answer !== null && answer !== undefined) {
        yield await sliced.batchOf(answer, slice);
        if (!holdsBytes) giveBack(first);
        await nextTurn();
        continue;
      }
      let end = slice.offset;
      for await (const batch of sliced.left(slice)) {
        yield batch;
        end = batch.endOffset;
      }
      if (end === slice.offset) return;
      if (end === slice.offset + slice.sizeBytes) continue;
      // The slice ended within a row, so the next ones begin within one.
      drop();
      next = end;
      isCut = false;
    }
  } finally {
    // The file stays open until no thread reads it.
    drop();
    await Promise.all(dropped);
  }
}

export interface Answer extends ConvertedRows {
  readonly bytes: Uint8Array;
  readonly report: BlockReport;
}

export interface WholeInput {
  /** Offset of its first row in the content. */
  readonly start: number;
  /** How the threads of a pool convert slices, and their largest size. */
  readonly work: SliceWork;
  readonly sliceBytes: number;
  /** Blocks of whole rows from an offset on; each is valid until the next is requested. @throws CliFailure BAD_INPUT */
  blocks(from: number): AsyncIterable<Uint8Array>;
  /**
   * Converts rows of a block from a byte on.
   * @returns the start of the rows to convert next, and bytes that are valid until then
   */
  convert(block: Uint8Array, from: number): Answer & { readonly restAt: number };
  /** Inserts the answers to rows that the kernel cannot answer into those of `convert` or a thread. */
  mended(block: Uint8Array, answer: Answer, from: number): Promise<Answer>;
  explain(block: Uint8Array, failed: FailedRow): Explained;
}

export class WholeRows implements Pipeline {
  #pool: Pool | undefined;

  /** @param open checks the header of an input */
  constructor(
    private readonly run: Run,
    private readonly open: (reading: Reading) => Promise<WholeInput>,
  ) {}

  async *batches(reading: Reading): AsyncGenerator<Batch> {
    const whole = await this.open(reading);
    if (reading.isDone) return;
    const { plain } = reading.input;
    let offset = Math.max(whole.start, reading.from);
    if (plain !== null && isWorthThreads(this.run)) {
      yield* this.#sliced(whole, plain, offset);
      return;
    }
    for await (const block of whole.blocks(offset)) {
      yield* this.#answers(whole, block, offset);
      offset += block.length;
    }
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }

  async *#answers(whole: WholeInput, block: Uint8Array, offset: number): AsyncGenerator<Batch> {
    for (let at = 0; at < block.length; ) {
      const converted = whole.convert(block, at);
      const answer = await whole.mended(block, converted, at);
      at = converted.restAt;
      yield this.#batch(whole, answer, block, offset + at);
    }
  }

  /** Rows converted by the threads of a pool, and here for those that they leave. */
  async *#sliced(whole: WholeInput, plain: PlainFile, from: number): AsyncGenerator<Batch> {
    const { request, hexcodes, targets } = this.run;
    this.#pool ??= await startPool(workersOf(request));
    const batchOf = async (answer: SliceAnswer, { offset, sizeBytes }: FileSlice): Promise<Batch> => {
      const block = answer.failed > 0 ? plain.bytesAt(offset, sizeBytes) : answer.bytes.subarray(0, 0);
      const mended = await whole.mended(block, { ...answer, report: answer.report! }, 0);
      return this.#batch(whole, mended, block, offset + sizeBytes);
    };
    const answers = (block: Uint8Array, offset: number): AsyncGenerator<Batch> =>
      this.#answers(whole, block, offset);
    yield* slicedBatches<Batch>({
      kernel: hexcodes.kernel,
      pool: this.#pool,
      work: whole.work,
      file: plain,
      from,
      sliceBytes: Math.min(request.sliceBytes ?? whole.sliceBytes, whole.sliceBytes),
      holdsBytes: targets.output.holdsBytes,
      batchOf,
      async *left({ offset }) {
        for await (const block of whole.blocks(offset)) {
          yield* answers(block, offset);
          return;
        }
      },
    });
  }

  #batch(whole: WholeInput, answer: Answer, block: Uint8Array, endOffset: number): Batch<FailedRow> {
    const { output, rejects } = this.run.targets;
    const { rows, failed, byStatus, report } = answer;
    return {
      rows,
      failed,
      byStatus,
      byAdmin: report.byAdmin,
      endOffset,
      failures: () => failedRowsOf(report),
      explain: (failure) => whole.explain(block, failure),
      async write(wanted) {
        const target = wanted === 'failed' ? rejects : output;
        await target?.write(wanted === 'all' ? answer.bytes : rowsOf(answer, wanted));
      },
    };
  }
}

function rowsOf({ bytes, report }: Answer, wanted: Wanted): Buffer {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const { answerStart, answerEnd } of failedRowsOf(report)) {
    parts.push(wanted === 'ok' ? bytes.subarray(at, answerStart) : bytes.subarray(answerStart, answerEnd));
    at = answerEnd;
  }
  if (wanted === 'ok') parts.push(bytes.subarray(at));
  return Buffer.concat(parts);
}

/** The answer to a row that was converted value by value. */
export interface SlowAnswer {
  /** Index and bounds of the row in the block. */
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly status: RowStatus;
  /** Bounds of the answer that it replaces. */
  readonly answerStart: number;
  readonly answerEnd: number;
  readonly bytes: Uint8Array;
}

/**
 * An answer with slow ones among its rows.
 * @param slow in the order of their rows, for each of which the answer has a failed row or none
 * @param blank numbers of lines that are not rows, which the answer counts
 * @param slowAdmins the slow ones that are OK, by province
 */
export function spliced(
  answer: Answer,
  slow: readonly SlowAnswer[],
  blank: readonly number[],
  slowAdmins: Uint32Array,
): Answer {
  const byStatus = answer.byStatus.slice();
  const byAdmin = answer.report.byAdmin.map((rows, admin) => rows + slowAdmins[admin]!);
  const parts: Uint8Array[] = [];
  const failures: FailedRow[] = [];
  const before = failedRowsOf(answer.report);
  let next = 0;
  let gone = 0;
  let at = 0;
  let shift = 0;
  const rowIn = (row: number): number => {
    while (gone < blank.length && blank[gone]! < row) gone++;
    return row - gone;
  };
  const moveTo = (row: number): void => {
    for (let each = before[next]; each !== undefined && each.row < row; each = before[++next]) {
      const [answerStart, answerEnd] = [each.answerStart + shift, each.answerEnd + shift];
      failures.push({ ...each, row: rowIn(each.row), answerStart, answerEnd });
    }
  };
  for (const { bytes, ...each } of slow) {
    moveTo(each.row);
    const replaced = before[next];
    if (replaced?.row === each.row) {
      byStatus[ROW_STATUSES.indexOf(replaced.status)]!--;
      next++;
    }
    byStatus[ROW_STATUSES.indexOf(each.status)]!++;
    parts.push(answer.bytes.subarray(at, each.answerStart), bytes);
    at = each.answerEnd;
    const answerStart = each.answerStart + shift;
    if (each.status !== 'OK')
      failures.push({ ...each, row: rowIn(each.row), answerStart, answerEnd: answerStart + bytes.length });
    shift += bytes.length - (each.answerEnd - each.answerStart);
  }
  moveTo(Number.POSITIVE_INFINITY);
  parts.push(answer.bytes.subarray(at));
  const rows = byStatus.reduce((sum, count) => sum + count, 0);
  return {
    bytes: Buffer.concat(parts),
    rows,
    failed: failures.length,
    byStatus,
    report: { byAdmin, failures: packedFailures(failures) },
  };
}
