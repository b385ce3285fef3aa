// CSV and TSV as they stand: blocks of whole rows go to the pool as bytes and come back as bytes, in order. Rows are
// looked at here only where something failed in their block.

import { Pool } from '../../pool/pool.js';
import { type Block, BlockBuffers } from '../../wire/bulk/block-buffers.js';
import { convertBlock } from '../../wire/bulk/convert-block.js';
import { CsvSplitter } from '../../wire/bulk/splitters.js';
import { BulkInputError, type BulkJob, type ConvertedBlock, ROW_STATUSES } from '../../wire/job.js';
import { badInput } from '../file-faults.js';
import { workerKernel } from '../library.js';
import { type Opening, readOpening } from './by-bytes-opening.js';
import { countDecoded, countEncoded, isOkRow, lookAtFailures } from './by-bytes-rows.js';
import type { Input } from './disk/input.js';
import { formatOfName, isGzipName } from './format.js';
import { refuseNoText } from './formats/csv-header.js';
import { eachRow } from './formats/csv-rows.js';
import type { Run } from './request.js';
import type { RowFailure } from './tally.js';

/** Below this, starting threads takes longer than the work. */
const INLINE_BYTES = 4 * 1024 * 1024;
/** Blocks at work or waiting for their turn, for each thread. */
const BLOCKS_PER_THREAD = 4;

/** Whether a run can go this way. */
export function canConvertByBytes({ request, sourceFormat, targetFormat }: Run): boolean {
  const { keep, drop } = request.columns;
  if (sourceFormat !== targetFormat || (sourceFormat !== 'csv' && sourceFormat !== 'tsv')) return false;
  if (keep !== undefined || drop !== undefined) return false;
  if (request.errors.kind !== 'file') return true;
  const rejects = formatOfName(request.errors.path).format;
  return rejects === null || rejects === sourceFormat;
}

/** One block on its way. */
interface Travelling {
  readonly bytes: Block;
  readonly answer: Promise<ConvertedBlock>;
  /** Offset in the content of its input where it ends. */
  readonly endOffset: number;
}

type Convert = (job: BulkJob, block: Uint8Array) => Promise<ConvertedBlock>;

export async function convertByBytes(run: Run): Promise<void> {
  const { request, targets, hexcodes, totalBytes } = run;
  const isPlain = !request.inputs.some((path) => isGzipName(path));
  const isSmall = isPlain && totalBytes !== null && totalBytes <= INLINE_BYTES;
  const pool = isSmall ? null : new Pool({ kernel: await workerKernel(), threads: request.threads });
  const convert: Convert = async (job, block) => {
    if (pool === null) return convertBlock(hexcodes.kernel, job, block);
    await pool.whenBodyMayContinue();
    return pool.convert(job, block);
  };
  try {
    let names: string[] | null = null;
    for (let inputNumber = 0; inputNumber < request.inputs.length; inputNumber++) {
      const input = await run.open(inputNumber);
      const isDone = targets.from !== null && inputNumber < targets.from.inputNumber;
      const skipBytes =
        targets.from !== null && inputNumber === targets.from.inputNumber ? targets.from.inputOffset : 0;
      names = await convertInput(run, input, inputNumber, names, isDone ? null : skipBytes, convert);
    }
  } finally {
    await pool?.close();
  }
}

/** @param skipBytes of the content that an earlier run did; null for all of it */
async function convertInput(
  run: Run,
  input: Input,
  inputNumber: number,
  firstNames: string[] | null,
  skipBytes: number | null,
  convert: Convert,
): Promise<string[]> {
  const { request, targets, sourceFormat } = run;
  const delimiter = sourceFormat === 'csv' ? 44 : 9;
  const chunks = input.chunks()[Symbol.asyncIterator]();
  const { opening, rest } = await readOpening(request, input, chunks, delimiter);
  if (firstNames !== null && JSON.stringify(firstNames) !== JSON.stringify(opening.names)) {
    throw badInput({ file: input.name }, `other columns than ${request.inputs[0]}`);
  }
  if (skipBytes === null) return opening.names;
  if (firstNames === null && (targets.from?.outputOffset ?? 0) === 0)
    await targets.output.write(opening.head);
  if (firstNames === null && (targets.from?.rejectsOffset ?? 0) === 0)
    await targets.rejects?.write(opening.head);

  const buffers = new BlockBuffers();
  const splitter = new CsvSplitter(delimiter, buffers);
  const travelling: Travelling[] = [];
  const mostTravelling = BLOCKS_PER_THREAD * request.threads;
  let offset = Math.max(opening.headerBytes, skipBytes);
  const row = { next: 1 };
  let isSettling = false;
  const settle = async (): Promise<void> => {
    const { bytes, answer, endOffset } = travelling.shift() as Travelling;
    isSettling = true;
    await take(run, input, opening, bytes, await answer, row);
    buffers.giveBack(bytes);
    run.tick(inputNumber, endOffset);
    isSettling = false;
  };
  const send = async (blocks: readonly Block[]): Promise<void> => {
    for (const block of blocks) {
      refuseNoText(block, input.name, delimiter, opening.names, () => {
        let number = row.next;
        for (const { bytes } of travelling) eachRow(bytes, delimiter, () => number++);
        return number;
      });
      offset += block.length;
      const answer = convert(opening.job, block);
      // A failure is thrown when its turn comes; until then it must not count as unhandled.
      answer.catch(() => undefined);
      travelling.push({ bytes: block, answer, endOffset: offset });
      if (travelling.length >= mostTravelling) await settle();
    }
  };
  try {
    let toSkip = Math.max(0, skipBytes - opening.headerBytes);
    for (let chunk: Uint8Array | null = rest; chunk !== null; ) {
      const skipped = Math.min(toSkip, chunk.length);
      toSkip -= skipped;
      if (skipped < chunk.length) await send(splitter.push(chunk.subarray(skipped)));
      const next: IteratorResult<Uint8Array> = await chunks.next();
      chunk = next.done === true ? null : next.value;
    }
    await send(splitter.end());
  } catch (error) {
    // A fault of the reader: rows before it are still to be answered, and their own faults come first.
    while (!isSettling && travelling.length > 0) await settle();
    if (error instanceof BulkInputError) throw badInput({ file: input.name, row: row.next }, error.message);
    throw error;
  }
  while (travelling.length > 0) await settle();
  return opening.names;
}

/** Writes one answered block as the error policy says, and counts it. */
async function take(
  run: Run,
  input: Input,
  opening: Opening,
  block: Uint8Array,
  answer: ConvertedBlock,
  row: { next: number },
): Promise<void> {
  const { targets, request } = run;
  const { tally } = targets;
  const { delimiter } = opening.job;
  const firstRow = row.next;
  row.next += answer.rows;
  if (answer.failed > 0) lookAtFailures(run, input, opening, block, answer, firstRow);
  tally.rows += answer.rows;
  ROW_STATUSES.forEach((word, place) => {
    if (word !== 'OK') tally.fail(word as RowFailure, answer.byStatus[place]);
  });
  if (request.operation === 'encode') countEncoded(answer, delimiter, tally);
  else countDecoded(run, opening, block, answer, tally);
  if (answer.failed === 0 || request.errors.kind === 'keep') {
    await targets.output.write(answer.bytes);
    return;
  }
  const good: Uint8Array[] = [];
  const bad: Uint8Array[] = [];
  eachRow(answer.bytes, delimiter, (start, end) => {
    const bytes = answer.bytes.subarray(start, end);
    (isOkRow(answer.bytes, end) ? good : bad).push(bytes);
  });
  await targets.output.write(Buffer.concat(good));
  await targets.rejects?.write(Buffer.concat(bad));
}
