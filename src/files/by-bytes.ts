// CSV to CSV and TSV to TSV as bytes: blocks of whole rows are converted and written in their order. Single rows are
// read here only where they have failed.

import type { Kernel } from '../hexcodes/kernel/kernel.js';
import { type Block, BlockBuffers } from '../hexcodes/wire/bulk/block-buffers.js';
import { convertBlock } from '../hexcodes/wire/bulk/convert-block.js';
import { CsvSplitter } from '../hexcodes/wire/bulk/splitters.js';
import { ByteSink } from '../hexcodes/wire/bytes/byte-sink.js';
import { BLOCK_BYTES, BulkInputError, type BulkJob, type ConvertedBlock } from '../hexcodes/wire/job.js';
import { ANSWER_BUFFER_BYTES } from '../pool/block-shelf.js';
import type { Pool } from '../pool/pool.js';
import { holdsAngles } from '../tables/positions/in-values.js';
import { withAngles } from './by-bytes-angles.js';
import { type Opening, readOpening } from './by-bytes-opening.js';
import { checkFailures, refuseRagged, writeCounted } from './by-bytes-rows.js';
import { findPosition } from './columns/position-columns.js';
import { type Input, STDIN_NAME } from './disk/input.js';
import type { Reached } from './disk/journal.js';
import type { PlainFile } from './disk/plain-file.js';
import { isRest } from './disk/rests.js';
import { badInput } from './exit-codes.js';
import { FORMATS, formatOfName } from './format.js';
import { refuseNoText, rowsOfText } from './formats/csv-header.js';
import { eachRow } from './formats/csv-rows.js';
import type { Run } from './request.js';
import { convertSlices, isWorthThreads, startPool, workersOf } from './slices.js';

// Where the blocks of a file are converted: by the kernel of this thread, or by the workers of a pool. Both use the
// buffers of written answers again.
interface BlockConverter {
  /** Most blocks that are handed in before the answer to the first of them is written. */
  readonly mostPending: number;
  convert(job: BulkJob, block: Uint8Array): Promise<ConvertedBlock>;
  /** Takes back an answer that nobody reads any more. */
  giveBack(answer: ConvertedBlock): void;
}

interface Converters {
  readonly inline: BlockConverter;
  /** Where threads are worth it. */
  readonly pool: Pool | undefined;
}

/** Blocks in the pool or answered and not yet written, for each thread. */
const BLOCKS_PER_THREAD = 4;
const NO_BYTES = new Uint8Array(0);

/** Converts in this thread, a block at a time. */
function inlineConverter(kernel: Kernel): BlockConverter {
  const sink = new ByteSink();
  const free: Uint8Array<ArrayBuffer>[] = [];
  return {
    mostPending: 1,
    async convert(job, block) {
      const buffer = free.pop() ?? new Uint8Array(ANSWER_BUFFER_BYTES);
      return convertBlock(kernel, job, block, buffer, sink);
    },
    giveBack({ bytes: { buffer } }) {
      if (buffer.byteLength === ANSWER_BUFFER_BYTES) free.push(new Uint8Array(buffer));
    },
  };
}

function poolConverter(pool: Pool): BlockConverter {
  return {
    mostPending: BLOCKS_PER_THREAD * pool.threads,
    async convert(job, block) {
      await pool.whenBodyMayContinue();
      return pool.convert(job, block);
    },
    giveBack: ({ bytes }) => pool.giveBack(bytes),
  };
}

/** Whether a run can be converted by bytes: neither format nor columns change, also not in the file of failed rows. */
export function canConvertByBytes({ request, sourceFormat, targetFormat, sample, source }: Run): boolean {
  const { keep, drop } = request.columns;
  // Numbers of ours are written with a point.
  const hasNumbers = request.operation === 'decode' || request.hasCertainty === true;
  if (hasNumbers && request.csv.decimal === ',') return false;
  if (sourceFormat !== targetFormat || FORMATS[sourceFormat].delimiter === null) return false;
  if (keep !== undefined || drop !== undefined) return false;
  // A row of a line or an area may become several.
  if (request.input.point !== undefined) return false;
  if (request.operation === 'encode' && sample !== null) {
    const first = request.inputs[0] === '-' ? STDIN_NAME : request.inputs[0]!;
    const where = findPosition(sample, request.columns, first, source.hasHeader);
    if (where.kind !== 'pair') return false;
    if (holdsAngles(sample, where.lat, 'lat') || holdsAngles(sample, where.lng, 'lng')) return false;
  }
  if (request.errors.kind !== 'file') return true;
  const rejects = formatOfName(request.errors.path).format;
  return rejects === null || rejects === sourceFormat;
}

/**
 * Whether workers make a run faster whose blocks come from here, out of a pipe or of packed files. To read blocks, hand
 * them to workers and write their answers takes this thread as long as to encode them itself; to decode takes it two to
 * three times as long.
 */
function isWorthPool({ request }: Run): boolean {
  return request.operation === 'decode' && request.threads > 1;
}

/** A block whose answer is not written yet. */
interface PendingBlock {
  readonly bytes: Block;
  readonly answer: Promise<ConvertedBlock>;
  /** Where the block ends in the content of its input. */
  readonly endOffset: number;
}

export async function convertByBytes(run: Run): Promise<void> {
  const { request, targets, hexcodes } = run;
  const inline = inlineConverter(hexcodes.kernel);
  let pool: Pool | undefined;
  try {
    let names: string[] | null = null;
    for (let inputNumber = 0; inputNumber < request.inputs.length; inputNumber++) {
      const input = await run.open(inputNumber);
      const isDone = targets.from !== null && inputNumber < targets.from.inputNumber;
      const isResumed = inputNumber === targets.from?.inputNumber;
      const skip = isResumed ? targets.from : { inputOffset: 0, inputRows: 0 };
      const isPlain = input.plain !== null;
      if (!isDone && (isPlain ? isWorthThreads(run) : isWorthPool(run)))
        pool ??= await startPool(isPlain ? workersOf(request) : request.threads);
      const by = { inline, pool };
      names = await convertInput(run, input, inputNumber, names, isDone ? null : skip, by);
    }
  } finally {
    await pool?.close();
  }
}

/**
 * @param firstNames the header of the first input; null if this is the first
 * @param skip how far an earlier run converted the input; null for all of it
 * @returns the header of this input
 */
async function convertInput(
  run: Run,
  input: Input,
  inputNumber: number,
  firstNames: string[] | null,
  skip: Pick<Reached, 'inputOffset' | 'inputRows'> | null,
  { inline, pool }: Converters,
): Promise<string[]> {
  const { targets } = run;
  const delimiter = run.source.delimiter.charCodeAt(0);
  const opened = input.chunks()[Symbol.asyncIterator]();
  const { opening, rest } = await readOpening(run, input, opened, firstNames);
  if (skip === null) return opening.names;
  if (firstNames === null && (targets.from?.outputOffset ?? 0) === 0)
    await targets.output.write(opening.head);
  if (firstNames === null && (targets.from?.rejectsOffset ?? 0) === 0)
    await targets.rejects?.write(opening.head);

  let offset = Math.max(opening.headerBytes, skip.inputOffset);
  const row = { next: skip.inputRows + 1 };
  const { plain } = input;
  if (plain !== null && pool !== undefined) {
    await convertByThreads({ run, input, inputNumber, opening, row, inline, pool, plain }, offset);
    return opening.names;
  }
  const converter = pool === undefined ? inline : poolConverter(pool);
  const buffers = new BlockBuffers();
  const splitter = new CsvSplitter(delimiter, buffers);
  const pending: PendingBlock[] = [];
  let isWriting = false;
  const writeFirst = async (): Promise<void> => {
    const { bytes, answer, endOffset } = pending.shift()!;
    isWriting = true;
    const answered = await answer.catch((error: unknown) => {
      if (error instanceof BulkInputError) refuseRagged(input, opening, bytes, row.next);
      throw error;
    });
    await writeAnswer(run, input, opening, bytes, answered, row);
    buffers.giveBack(bytes);
    if (!targets.output.holdsBytes) converter.giveBack(answered);
    run.tick({ inputNumber, inputOffset: endOffset, inputRows: row.next - 1 });
    isWriting = false;
  };
  const send = async (blocks: readonly Block[]): Promise<void> => {
    for (const block of blocks) {
      // A failed row before the one that is no text ends a run that stops at failed rows.
      const sound = rowsOfText(block, delimiter);
      if (sound.length > 0) {
        offset += sound.length;
        const answer = converter.convert(opening.job, sound);
        // A failure is thrown when this block is the first. Until then it must not count as an unhandled rejection.
        answer.catch(() => undefined);
        pending.push({ bytes: sound, answer, endOffset: offset });
      }
      refuseNoText(block.subarray(sound.length), input.name, delimiter, opening.names, () => {
        let number = row.next;
        for (const { bytes } of pending) eachRow(bytes, delimiter, () => number++);
        return number;
      });
      if (pending.length >= converter.mostPending) await writeFirst();
    }
  };
  try {
    if (plain === null) {
      let toSkip = Math.max(0, skip.inputOffset - opening.headerBytes);
      for (let chunk: Uint8Array | null = rest; chunk !== null; ) {
        const skipped = Math.min(toSkip, chunk.length);
        toSkip -= skipped;
        if (skipped < chunk.length) await send(splitter.push(chunk.subarray(skipped)));
        else if (isRest(chunk)) {
          await send(splitter.flush());
          while (pending.length > 0) await writeFirst();
        }
        const next: IteratorResult<Uint8Array> = await opened.next();
        chunk = next.done === true ? null : next.value;
      }
    } else {
      for await (const chunk of plain.chunksFrom(offset)) await send(splitter.push(chunk));
    }
    for (const block of splitter.endClosed()) await send([block]);
  } catch (error) {
    // An error of the input: the blocks before it are written first, and an error in one of them is reported instead.
    // After an error of a write nothing more is written.
    while (!isWriting && pending.length > 0) await writeFirst();
    if (error instanceof BulkInputError) throw badInput({ file: input.name, row: row.next }, error.message);
    throw error;
  }
  while (pending.length > 0) await writeFirst();
  return opening.names;
}

interface ThreadedInput {
  readonly run: Run;
  readonly input: Input;
  readonly inputNumber: number;
  readonly opening: Opening;
  /** Number of the next row; moved on by the rows that are written. */
  readonly row: { next: number };
  readonly inline: BlockConverter;
  readonly pool: Pool;
  readonly plain: PlainFile;
}

/** Converts a plain file from an offset on, slice by slice. */
async function convertByThreads(threaded: ThreadedInput, from: number): Promise<void> {
  const { run, input, inputNumber, opening, row, inline, pool, plain } = threaded;
  const { targets, request } = run;
  const { job, names } = opening;
  const write = async (block: Uint8Array, answer: ConvertedBlock, endOffset: number): Promise<void> => {
    await writeAnswer(run, input, opening, block, answer, row);
    run.tick({ inputNumber, inputOffset: endOffset, inputRows: row.next - 1 });
  };
  await convertSlices({
    kernel: run.hexcodes.kernel,
    pool,
    work: { kind: 'rows', job },
    file: plain,
    from,
    holdsBytes: targets.output.holdsBytes,
    sliceBytes: request.sliceBytes ?? BLOCK_BYTES,
    async written({ offset, sizeBytes }, given) {
      const answer = given as ConvertedBlock;
      const block = answer.failed > 0 ? plain.bytesAt(offset, sizeBytes) : NO_BYTES;
      await write(block, answer, offset + sizeBytes);
    },
    async left({ offset }) {
      try {
        const block = await rowsFrom(plain, offset, job.delimiter);
        const sound = rowsOfText(block, job.delimiter);
        if (sound.length > 0) {
          const answer = await inline.convert(job, sound).catch((error: unknown) => {
            if (error instanceof BulkInputError) refuseRagged(input, opening, sound, row.next);
            throw error;
          });
          await write(sound, answer, offset + sound.length);
          if (!targets.output.holdsBytes) inline.giveBack(answer);
        }
        refuseNoText(block.subarray(sound.length), input.name, job.delimiter, names, () => row.next);
        return offset + block.length;
      } catch (error) {
        if (error instanceof BulkInputError)
          throw badInput({ file: input.name, row: row.next }, error.message);
        throw error;
      }
    },
  });
}

/** The next block of whole rows of a file. @throws BulkInputError for a row that is longer than a block */
async function rowsFrom(plain: PlainFile, offset: number, delimiter: number): Promise<Block> {
  const splitter = new CsvSplitter(delimiter);
  for await (const chunk of plain.chunksFrom(offset)) {
    const [block] = splitter.push(chunk);
    if (block !== undefined) return block;
  }
  for (const block of splitter.endClosed()) return block;
  return NO_BYTES;
}

/**
 * Counts the rows of an answered block and writes them as the error policy says.
 * @param row number of the block's first row; moved on by its rows
 */
async function writeAnswer(
  run: Run,
  input: Input,
  opening: Opening,
  block: Uint8Array,
  given: ConvertedBlock,
  row: { next: number },
): Promise<void> {
  const firstRow = row.next;
  row.next += given.rows;
  const answer = withAngles(run, input, opening, block, given);
  if (answer.failed > 0) checkFailures(run, input, opening, block, answer, firstRow);
  await writeCounted(run, answer);
}
