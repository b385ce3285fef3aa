// Lines of NDJSON that the kernel has left, converted value by value and put between those that it has converted.

import type { ConvertedLines, LeftLine } from '../hexcodes/wire/bulk/convert-lines.js';
import { linesIn } from '../hexcodes/wire/bulk/splitters.js';
import { ROW_STATUSES } from '../hexcodes/wire/job.js';
import { type FailedRow, failedRowsOf, packedFailures } from '../hexcodes/wire/rows/row-report.js';
import type { AnsweredRows } from './by-bytes-rows.js';
import type { RowConverter, RowStatus } from './convert-rows.js';
import { DocumentBatch, narrowBatches, parseObject, valuesOf } from './formats/json/json-columns.js';
import { ndjsonSink } from './formats/json/ndjson.js';
import { MAX_LINE_BYTES, textOfLine, tooLongLine } from './formats/lines.js';
import type { JsonDocument, TableColumn } from './formats/table.js';
import { Tally } from './tally.js';

const LF = 10;

interface LeftAnswer {
  readonly bytes: Uint8Array;
  readonly status: RowStatus;
}

export class LeftLines {
  readonly #converter: RowConverter;
  readonly #columns: readonly TableColumn[];

  /** @param columns of the first input, by which lines are read */
  constructor(converter: RowConverter, columns: readonly TableColumn[]) {
    this.#converter = converter;
    this.#columns = columns;
  }

  /** @param line its number in the file @returns null for a blank one @throws CliFailure BAD_INPUT */
  read(bytes: Uint8Array, file: string, line: number): JsonDocument | null {
    if (bytes.length > MAX_LINE_BYTES) throw tooLongLine(file, line);
    const text = textOfLine(bytes, file, line);
    return text === '' ? null : parseObject(text, file, line);
  }

  /** Converts one line, to say what is wrong with it. */
  convert(document: JsonDocument, file: string): ReturnType<RowConverter['convert']> {
    return this.#convert([document], file, new Tally());
  }

  #convert(documents: JsonDocument[], file: string, tally: Tally): ReturnType<RowConverter['convert']> {
    const objects = documents.map(({ value }) => value);
    const values = valuesOf(this.#columns, objects, file, 1, 'any');
    return this.#converter.convert({ rowCount: documents.length, values, documents }, tally);
  }

  /**
   * The answer to lines of a block, with the answers to those that were left.
   * @param from where the lines begin in the block, and `earlierLines` of the file before them
   * @throws CliFailure BAD_INPUT for a line that is no row
   */
  async answer(
    block: Buffer,
    converted: ConvertedLines,
    file: string,
    from: number,
    earlierLines: number,
  ): Promise<AnsweredRows> {
    const byAdmin = converted.report.byAdmin.slice();
    const answers: LeftAnswer[] = [];
    const sound: LeftLine[] = [];
    const blank: LeftLine[] = [];
    const batch = new DocumentBatch();
    const flush = async (): Promise<void> => {
      for (const documents of narrowBatches(batch.take(), this.#columns.length)) {
        const tally = new Tally();
        answers.push(...(await this.#written(documents, file, tally)));
        tally.byAdmin.forEach((rows, admin) => {
          byAdmin[admin]! += rows;
        });
      }
    };
    let line = earlierLines + 1;
    let counted = from;
    for (const left of converted.left) {
      line += linesIn(block, counted, left.start);
      counted = left.start;
      const document = this.read(block.subarray(left.start, left.end), file, line);
      if (document === null) blank.push(left);
      else {
        sound.push(left);
        if (batch.add(document)) await flush();
      }
    }
    await flush();
    return merged(converted, sound, answers, blank, byAdmin);
  }

  async #written(documents: JsonDocument[], file: string, tally: Tally): Promise<LeftAnswer[]> {
    const rows = this.#convert(documents, file, tally);
    let bytes: Uint8Array = new Uint8Array(0);
    const write = async (given: Uint8Array): Promise<void> => {
      bytes = given;
    };
    await ndjsonSink({ write }, this.#converter.columns).write(rows);
    let at = 0;
    return rows.status.map((status) => {
      const start = at;
      at = bytes.indexOf(LF, start) + 1;
      return { bytes: bytes.subarray(start, at), status };
    });
  }
}

function merged(
  converted: ConvertedLines,
  sound: readonly LeftLine[],
  answers: readonly LeftAnswer[],
  blank: readonly LeftLine[],
  byAdmin: Uint32Array,
): AnsweredRows {
  const byStatus = converted.byStatus.slice();
  const pieces: Uint8Array[] = [];
  const failures: FailedRow[] = [];
  const ofKernel = failedRowsOf(converted.report);
  let next = 0;
  let gone = 0;
  let at = 0;
  let shift = 0;
  const moveTo = (row: number): void => {
    for (let each = ofKernel[next]; each !== undefined && each.row < row; each = ofKernel[++next])
      failures.push({
        ...each,
        row: each.row - blankBefore(each.row),
        answerStart: each.answerStart + shift,
        answerEnd: each.answerEnd + shift,
      });
  };
  const blankBefore = (row: number): number => {
    while (gone < blank.length && blank[gone]!.row < row) gone++;
    return gone;
  };
  for (const [n, left] of sound.entries()) {
    moveTo(left.row);
    const { bytes, status } = answers[n]!;
    pieces.push(converted.bytes.subarray(at, left.at), bytes);
    at = left.at;
    const answerStart = at + shift;
    shift += bytes.length;
    byStatus[ROW_STATUSES.indexOf(status)]!++;
    const { row, start, end } = left;
    if (status !== 'OK')
      failures.push({
        row: row - blankBefore(row),
        status,
        start,
        end,
        answerStart,
        answerEnd: answerStart + bytes.length,
      });
  }
  moveTo(Number.POSITIVE_INFINITY);
  pieces.push(converted.bytes.subarray(at));
  const rows = byStatus.reduce((sum, count) => sum + count, 0);
  return {
    bytes: Buffer.concat(pieces),
    rows,
    failed: failures.length,
    byStatus,
    report: { byAdmin, failures: packedFailures(failures) },
  };
}
