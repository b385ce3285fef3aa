// Single rows of answered blocks: failures that need a message, and the province of each row. The status is the last
// field of an answered row, and its last letter differs for each status.

import { ADMIN_UNITS } from '../../admin-units.js';
import type { ConvertedBlock } from '../../wire/job.js';
import { ROW_STATUSES } from '../../wire/job.js';
import { looksSwapped } from '../../wire/swapped.js';
import type { Opening } from './by-bytes-opening.js';
import type { Input } from './disk/input.js';
import { ragged } from './formats/csv-header.js';
import { eachRow, fieldsOf } from './formats/csv-rows.js';
import type { Run } from './request.js';
import { ROW_FAILURES, type RowFailure, SWAP_TRIES, stopped, type Tally } from './tally.js';

const CR = 13;
const DASH = 45;
const QUOTE = 34;
const INVALID_REQUEST = ROW_STATUSES.indexOf('INVALID_REQUEST');
const FAILURE_BY_LAST_LETTER = new Map(
  (Object.keys(ROW_FAILURES) as RowFailure[]).map((word) => [word.charCodeAt(word.length - 1), word]),
);
const LAST_OF_OK = 'K'.charCodeAt(0);

/** Index of the last byte of a row's text; `end` is behind its line end. */
function lastByte(bytes: Uint8Array, end: number): number {
  return bytes[end - 2] === CR ? end - 3 : end - 2;
}

/** Whether a row of an answer succeeded. */
export function isOkRow(bytes: Uint8Array, end: number): boolean {
  return bytes[lastByte(bytes, end)] === LAST_OF_OK;
}

/**
 * Looks through a block with failed rows for rows of a wrong length, for the row to stop at, and for exchanged columns,
 * which it counts.
 * @throws CliFailure for a row of a wrong length, and for any failed row under `--errors stop`
 */
export function lookAtFailures(
  run: Run,
  input: Input,
  opening: Opening,
  block: Uint8Array,
  answer: ConvertedBlock,
  firstRow: number,
): void {
  const { request, hexcodes, targets } = run;
  const { csv, delimiter } = opening.job;
  const isStop = request.errors.kind === 'stop';
  let tries = targets.tally.failedRows;
  const mayBeRagged = (answer.byStatus[INVALID_REQUEST] ?? 0) > 0;
  if (!mayBeRagged && !isStop && tries >= SWAP_TRIES) return;
  const failures: (RowFailure | undefined)[] = [];
  eachRow(answer.bytes, delimiter, (_, end) => {
    failures.push(FAILURE_BY_LAST_LETTER.get(answer.bytes[lastByte(answer.bytes, end)] as number));
  });
  let index = 0;
  eachRow(block, delimiter, (start, end) => {
    const row = firstRow + index;
    const failure = failures[index++];
    if (failure === undefined) return;
    const isTried = csv !== undefined && request.operation === 'encode' && tries++ < SWAP_TRIES;
    if (failure !== 'INVALID_REQUEST' && !isStop && !isTried) return;
    const fields = fieldsOf(block, start, end, delimiter);
    if (fields.length !== opening.names.length) {
      throw ragged(input.name, row, fields.length, opening.names);
    }
    if (isStop) throw stopped(input.name, row, failure);
    if (isTried && looksSwapped(hexcodes.kernel, Number(fields[csv.lat]), Number(fields[csv.lng]))) {
      targets.tally.swapped++;
    }
  });
}

/** Admin codes as a number: three letters, or two and 0. */
const PLACE_BY_LETTERS = new Map(
  ADMIN_UNITS.map(({ code }, place) => [
    lettersOf(code.charCodeAt(0), code.charCodeAt(1), code.charCodeAt(2) || 0),
    place,
  ]),
);

function lettersOf(first: number, second: number, third: number): number {
  return (first << 16) | (second << 8) | third;
}

function isCapital(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 65 && byte <= 90;
}

function add(tally: Tally, place: number | undefined): void {
  if (place !== undefined) tally.byAdmin[place] = (tally.byAdmin[place] as number) + 1;
}

/** Counts the rows of each province in an answer of encode, by the field before the status: `…,HN,OK`. */
export function countEncoded({ bytes, rows }: ConvertedBlock, delimiter: number, tally: Tally): void {
  let seen = 0;
  const count = (end: number): void => {
    seen++;
    const last = lastByte(bytes, end);
    if (bytes[last] !== LAST_OF_OK) return;
    // Back over `,OK` to the last letter of the admin code.
    const at = last - 3;
    const isThree = isCapital(bytes[at - 2]);
    const [b, c] = [bytes[at - 1] as number, bytes[at] as number];
    add(tally, PLACE_BY_LETTERS.get(isThree ? lettersOf(bytes[at - 2] as number, b, c) : lettersOf(b, c, 0)));
  };
  if (!bytes.includes(QUOTE)) {
    for (let feed = bytes.indexOf(10); feed >= 0; feed = bytes.indexOf(10, feed + 1)) count(feed + 1);
  } else {
    eachRow(bytes, delimiter, (_, end) => count(end));
  }
  if (seen !== rows) throw new Error(`an answer of ${rows} rows has ${seen}`);
}

/** Counts the rows of each province of decode, by the codes of the block that was answered. */
export function countDecoded(
  run: Run,
  { job }: Opening,
  block: Uint8Array,
  answer: ConvertedBlock,
  tally: Tally,
): void {
  const { delimiter } = job;
  const column = job.csv?.hexcodes ?? 0;
  const isOk: boolean[] = [];
  if (answer.failed > 0) {
    eachRow(answer.bytes, delimiter, (_, end) => isOk.push(isOkRow(answer.bytes, end)));
  }
  const hasQuotes = block.includes(QUOTE);
  let index = 0;
  eachRow(block, delimiter, (start, end) => {
    if (isOk[index++] === false) return;
    let at = start;
    for (let skipped = 0; skipped < column; skipped++) at = block.indexOf(delimiter, at) + 1;
    const letters = [block[at], block[at + 1], block[at + 2]] as [number, number, number];
    const isThree = isCapital(letters[2]);
    const isPlain = !hasQuotes && block[at + (isThree ? 3 : 2)] === DASH;
    const place = isPlain
      ? PLACE_BY_LETTERS.get(lettersOf(letters[0], letters[1], isThree ? letters[2] : 0))
      : undefined;
    if (place !== undefined) return add(tally, place);
    // Any other spelling, or quotes that may hold delimiters.
    const text = fieldsOf(block, start, end, delimiter)[column] ?? '';
    const code = run.hexcodes.decode(text)?.admin_code ?? '';
    add(
      tally,
      PLACE_BY_LETTERS.get(lettersOf(code.charCodeAt(0), code.charCodeAt(1), code.charCodeAt(2) || 0)),
    );
  });
}
