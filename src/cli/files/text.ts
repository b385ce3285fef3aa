// CSV and TSV as they stand: blocks of whole rows go to the pool as bytes and come back as bytes, in order. Rows are
// looked at here only where something failed in their block.

import { isUtf8 } from 'node:buffer';
import { ADMIN_UNITS } from '../../admin-units.js';
import { Pool } from '../../pool/pool.js';
import { CsvSplitter, firstRowEnd } from '../../wire/block-splitter.js';
import { convertBlock } from '../../wire/convert.js';
import { BulkInputError, type BulkJob, type ConvertedBlock, ROW_STATUSES } from '../../wire/job.js';
import { badInput } from '../exit-codes.js';
import { workerKernel } from '../library.js';
import { looksSwapped } from '../position.js';
import { addedColumns, codeColumn, DECODE_ADDED, ENCODE_ADDED, encodeColumns } from './columns.js';
import { csvQuoted } from './csv.js';
import { eachRow, fieldsOf, textEnd } from './csv-rows.js';
import { formatOfName } from './format.js';
import type { Input } from './input.js';
import type { Run } from './run.js';
import { stopped } from './tables.js';
import { ROW_FAILURES, type RowFailure, type Tally } from './tally.js';

/** Below this, starting threads takes longer than the work. */
const INLINE_BYTES = 4 * 1024 * 1024;
/** Blocks at work or waiting for their turn, for each thread. */
const BLOCKS_PER_THREAD = 6;
/** Failed rows that are tried with lat and lng exchanged. */
const SWAP_TRIES = 1000;
const MAX_HEADER_BYTES = 1024 * 1024;

/** Whether a run can go this way. */
export function isTextRun({ request, sourceFormat, targetFormat }: Run): boolean {
  const { keep, drop } = request.columns;
  if (sourceFormat !== targetFormat || (sourceFormat !== 'csv' && sourceFormat !== 'tsv')) return false;
  if (keep !== undefined || drop !== undefined) return false;
  if (request.errors.kind !== 'file') return true;
  const rejects = formatOfName(request.errors.path).format;
  return rejects === null || rejects === sourceFormat;
}

interface Opening {
  readonly names: string[];
  readonly job: BulkJob;
  /** The header of the output. */
  readonly head: Uint8Array;
  readonly headerBytes: number;
}

/** One block on its way. */
interface Travelling {
  readonly bytes: Uint8Array;
  readonly answer: Promise<ConvertedBlock>;
  /** Offset in the content of its input where it ends. */
  readonly endOffset: number;
}

type Convert = (job: BulkJob, block: Uint8Array) => Promise<ConvertedBlock>;

export async function convertText(run: Run): Promise<void> {
  const { request, targets, hexcodes, totalBytes } = run;
  const isSmall = totalBytes !== null && totalBytes <= INLINE_BYTES;
  const pool = isSmall ? null : new Pool({ kernel: await workerKernel(), threads: request.threads });
  const convert: Convert = async (job, block) => {
    if (pool === null) return convertBlock(hexcodes.kernel, job, block);
    await pool.room();
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
  const { opening, rest } = await readOpening(run, input, chunks, delimiter);
  if (firstNames !== null && JSON.stringify(firstNames) !== JSON.stringify(opening.names)) {
    throw badInput({ file: input.name }, `other columns than ${request.inputs[0]}`);
  }
  if (skipBytes === null) return opening.names;
  if (firstNames === null && (targets.from?.outputOffset ?? 0) === 0)
    await targets.output.write(opening.head);
  if (firstNames === null && (targets.from?.rejectsOffset ?? 0) === 0)
    await targets.rejects?.write(opening.head);

  const splitter = new CsvSplitter(delimiter);
  const travelling: Travelling[] = [];
  const mostTravelling = BLOCKS_PER_THREAD * request.threads;
  let offset = Math.max(opening.headerBytes, skipBytes);
  const row = { next: 1 };
  const settle = async (): Promise<void> => {
    const { bytes, answer, endOffset } = travelling.shift() as Travelling;
    await take(run, input, opening, bytes, await answer, row);
    run.tick(inputNumber, endOffset);
  };
  const send = async (blocks: readonly Uint8Array[]): Promise<void> => {
    for (const block of blocks) {
      checkText(block, input.name, delimiter, opening, row, travelling);
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
    // Rows before the fault are still to be answered: their own faults come first.
    while (travelling.length > 0) await settle();
    if (error instanceof BulkInputError) throw badInput({ file: input.name, row: row.next }, error.message);
    throw error;
  }
  while (travelling.length > 0) await settle();
  return opening.names;
}

async function readOpening(
  run: Run,
  input: Input,
  chunks: AsyncIterator<Uint8Array>,
  delimiter: number,
): Promise<{ opening: Opening; rest: Uint8Array }> {
  const { request } = run;
  let bytes: Uint8Array = new Uint8Array(0);
  let headerBytes = -1;
  while (headerBytes < 0) {
    const next = await chunks.next();
    if (next.done === true) break;
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
    headerBytes = firstRowEnd(bytes, delimiter);
    if (headerBytes < 0 && bytes.length > MAX_HEADER_BYTES) {
      throw badInput({ file: input.name }, 'the header row is longer than 1 MiB');
    }
  }
  if (bytes.length === 0) throw badInput({ file: input.name }, 'the file is empty: a header row is needed');
  if (headerBytes < 0) headerBytes = bytes.length;
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const header = bytes.subarray(hasMark ? 3 : 0, headerBytes);
  if (!isUtf8(header) || header.includes(0))
    throw badInput({ file: input.name }, 'the header row is not UTF-8 text');
  const names = fieldsOf(header, 0, header.length, delimiter);
  const { columns, operation } = request;
  const isEncode = operation === 'encode';
  const at = isEncode ? encodeColumns(names, columns, input.name) : null;
  const hexcodes = isEncode ? -1 : codeColumn(names, columns, input.name);
  const readsResolution = at !== null && at.resolution >= 0;
  const ours = (isEncode ? ENCODE_ADDED : DECODE_ADDED).filter(
    ({ name }) => !(readsResolution && name === 'resolution'),
  );
  const kept = names.map((name) => ({ name, kind: 'text' as const }));
  const added = addedColumns(ours, kept, columns.prefix, input.name);
  const bare = header.subarray(0, textEnd(header, 0, header.length));
  const lineEnd = header.at(-2) === 13 && header.at(-1) === 10 ? '\r\n' : '\n';
  const separator = String.fromCharCode(delimiter);
  const tail = added.map(({ name }) => separator + csvQuoted(name)).join('') + lineEnd;
  const opening: Opening = {
    names,
    headerBytes,
    head: Buffer.concat([bare, Buffer.from(tail)]),
    job: {
      operation,
      input: 'csv',
      output: 'csv',
      resolution: request.resolution,
      delimiter,
      csv: {
        columns: names.length,
        lat: at?.lat ?? -1,
        lng: at?.lng ?? -1,
        resolution: at?.resolution ?? -1,
        hexcodes,
        lineEnd,
      },
    },
  };
  return { opening, rest: bytes.subarray(headerBytes) };
}

/** Refuses what is no text, by row and column. */
function checkText(
  block: Uint8Array,
  file: string,
  delimiter: number,
  opening: Opening,
  row: { readonly next: number },
  travelling: readonly Travelling[],
): void {
  if (!block.includes(0) && isUtf8(block)) return;
  let number = row.next;
  for (const { bytes } of travelling) eachRow(bytes, delimiter, () => number++);
  eachRow(block, delimiter, (start, end) => {
    const bytes = block.subarray(start, end);
    if (bytes.includes(0) || !isUtf8(bytes)) {
      const place = fieldsOf(bytes, 0, bytes.length, delimiter).findIndex((text) => /[\0\ufffd]/.test(text));
      const what = bytes.includes(0) ? 'a NUL byte' : 'not UTF-8';
      throw badInput({ file, row: number, column: opening.names[place] }, what);
    }
    number++;
  });
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
  if (request.operation === 'encode') countProvinces(answer, tally);
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

const O = 0x4f;
const K = 0x4b;

/** Whether a row of an answer ends with the status OK. `end` is behind its line end. */
function isOkRow(bytes: Uint8Array, end: number): boolean {
  const last = bytes[end - 2] === 13 ? end - 3 : end - 2;
  return bytes[last] === K && bytes[last - 1] === O && (bytes[last - 2] === 44 || bytes[last - 2] === 9);
}

/** Finds what is worth telling of a block with failed rows: ragged rows, exchanged columns, the row to stop at. */
function lookAtFailures(
  run: Run,
  input: Input,
  opening: Opening,
  block: Uint8Array,
  answer: ConvertedBlock,
  firstRow: number,
): void {
  const { request, hexcodes, targets } = run;
  const { csv, delimiter } = opening.job;
  const statuses: boolean[] = [];
  eachRow(answer.bytes, delimiter, (_, end) => statuses.push(isOkRow(answer.bytes, end)));
  let index = 0;
  let tries = targets.tally.failedRows;
  eachRow(block, delimiter, (start, end) => {
    const row = firstRow + index;
    if (statuses[index++] === true) return;
    const fields = fieldsOf(block, start, end, delimiter);
    if (fields.length !== opening.names.length) {
      const column = fields.length < opening.names.length ? opening.names[fields.length] : undefined;
      throw badInput(
        { file: input.name, row, column },
        `${fields.length} fields, the header has ${opening.names.length}`,
      );
    }
    if (request.errors.kind === 'stop')
      throw stopped(input.name, row, failureOf(answer, row - firstRow, delimiter));
    if (csv === undefined || request.operation !== 'encode' || tries++ >= SWAP_TRIES) return;
    if (looksSwapped(hexcodes, Number(fields[csv.lat]), Number(fields[csv.lng]))) targets.tally.swapped++;
  });
}

/** The status of a row of an answer. */
function failureOf(answer: ConvertedBlock, index: number, delimiter: number): RowFailure {
  let at = 0;
  let word = '';
  eachRow(answer.bytes, delimiter, (start, end) => {
    if (at++ === index) word = fieldsOf(answer.bytes, start, end, delimiter).at(-1) ?? '';
  });
  return word in ROW_FAILURES ? (word as RowFailure) : 'INVALID_REQUEST';
}

const PLACE_BY_LETTERS = new Map(
  ADMIN_UNITS.map(({ code }, place) => [
    (code.charCodeAt(2) || 0) | (code.charCodeAt(1) << 8) | (code.charCodeAt(0) << 16),
    place,
  ]),
);

/** Counts the rows of each province by the two columns before the line end: `…,HN,OK`. */
function countProvinces({ bytes, rows }: ConvertedBlock, tally: Tally): void {
  let seen = 0;
  const count = (end: number): void => {
    seen++;
    if (!isOkRow(bytes, end)) return;
    // Back over the line end and `,OK` to the last letter of the admin code.
    const last = end - (bytes[end - 2] === 13 ? 6 : 5);
    const third = bytes[last - 2] as number;
    const isThree = third >= 65 && third <= 90;
    const letters = isThree
      ? (bytes[last] as number) | ((bytes[last - 1] as number) << 8) | (third << 16)
      : ((bytes[last] as number) << 8) | ((bytes[last - 1] as number) << 16);
    const place = PLACE_BY_LETTERS.get(letters);
    if (place !== undefined) tally.byAdmin[place] = (tally.byAdmin[place] as number) + 1;
  };
  if (!bytes.includes(34)) {
    for (let feed = bytes.indexOf(10); feed >= 0; feed = bytes.indexOf(10, feed + 1)) count(feed + 1);
  } else {
    eachRow(bytes, bytes.includes(9) && !bytes.includes(44) ? 9 : 44, (_, end) => count(end));
  }
  if (seen !== rows) throw new Error(`an answer of ${rows} rows has ${seen}`);
}
