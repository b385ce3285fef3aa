// Converts the rows of the kernel's last scan and writes their answers. The kernel does nearly all of them; rows that
// it cannot read with certainty are read by host-row.ts, and answers that it cannot write are written by
// host-row.ts.

import type { Border } from '../../kernel/index-file.js';
import { INVALID_HEXCODE, type Kernel, OK } from '../../kernel/kernel.js';
import {
  positionResolutionAt,
  positionStatusAt,
  READ_RECORD_AT,
  RECORD_BYTES,
  RECORD_TEXT_BYTES,
  recordAt,
  recordStatusAt,
} from '../../kernel/output-layout.js';
import {
  FROM_CSV,
  FROM_FRAMES,
  FROM_JSON,
  fieldPiece,
  type Piece,
  pieceLists,
  type TextMemory,
  textMemoryOf,
  VALUE,
  WITH_CERTAINTY,
  WITH_FORMER,
  WITH_ID,
  WITH_RESOLUTION,
  WITH_ROW,
} from '../../kernel/text-memory.js';
import type { AnswerSink } from '../bytes/byte-sink.js';
import { type CsvShape, looksSwapped, type Operation, ROW_STATUSES, type RowStatus } from '../job.js';
import { codeIn } from './csv-fields.js';
import {
  csvOf,
  isNotJson,
  jsonOf,
  type ReadRow,
  type RowAnswer,
  readCode,
  readCsvRow,
  readItem,
  readPosition,
  tailOf,
} from './host-row.js';
import {
  countSlow,
  type RowAllowance,
  type RowOrigin,
  type RowReport,
  type SlowReason,
  slowWork,
} from './row-report.js';

/** An element of an array is not JSON. */
export class BrokenArrayError extends Error {
  override readonly name = 'BrokenArrayError';
}

/** How rows are converted and written. */
export interface RowsTask {
  readonly operation: Operation;
  /** FROM_CSV, FROM_JSON or FROM_FRAMES. */
  readonly source: number;
  readonly output: 'csv' | 'json' | 'records';
  readonly resolution: number;
  readonly delimiter: number;
  /**
   * Columns of CSV answers: WITH_ROW, WITH_ID, WITH_RESOLUTION; of encode answers also WITH_FORMER and WITH_CERTAINTY,
   * in JSON too.
   */
  readonly columns: number;
  /** Ends a CSV row that has no line end of its own. */
  readonly lineEnd: '\n' | '\r\n';
  /** The byte written after each JSON body. */
  readonly separator: number;
  /** Index in ROW_STATUSES of the status that answers every row; 0 where rows are converted. */
  readonly refusal: number;
  readonly maxItemBytes: number;
  /** Items are elements of one array: BrokenArrayError is thrown where one of them is not JSON. */
  readonly isArray: boolean;
  readonly csv: CsvShape | undefined;
  readonly report: RowReport | undefined;
  readonly origin: RowOrigin;
}

const INVALID_REQUEST = ROW_STATUSES.indexOf('INVALID_REQUEST');
/** `!`, in a record: no hexcode has it. */
export const NO_CODE = 33;
/** An answer of the kernel is longer than its row by less than this. */
const MAX_ADDED_BYTES = 4096;
const COMMA = 44;
const NUMBER_BYTES = Buffer.from('0123456789.eE+-');
const lenient = new TextDecoder();

/** Kernels whose tails are set, which is done once each, because the tails are always the same. */
const prepared = new WeakSet<Kernel>();

/** The text memory of a kernel whose writers have the texts of all statuses. */
export function preparedMemoryOf(kernel: Kernel): TextMemory {
  const memory = textMemoryOf(kernel);
  if (!prepared.has(kernel)) {
    for (const [index, status] of ROW_STATUSES.entries()) memory.setTail(index, status, tailOf(status));
    memory.setUnitNames(kernel.formerProvinces ?? []);
    memory.setBands(kernel.bands);
    prepared.add(kernel);
  }
  return memory;
}

/** Answers to the rows of the kernel's scans of one body, in their order. */
export class RowAnswers {
  readonly #kernel: Kernel;
  readonly #memory: TextMemory;
  readonly #task: RowsTask;
  readonly #sink: AnswerSink;
  readonly #allowance: RowAllowance | undefined;
  /** Rows of the last scan whose answers the host writes, too. */
  readonly #items = new Map<number, ReadRow>();

  constructor(kernel: Kernel, task: RowsTask, sink: AnswerSink, allowance?: RowAllowance) {
    this.#kernel = kernel;
    this.#memory = preparedMemoryOf(kernel);
    this.#task = task;
    this.#sink = sink;
    this.#allowance = allowance;
  }

  /**
   * Converts the rows of the last scan, as far as the allowance goes, and adds their answers to the sink.
   * @param scanned number of these rows
   * @param resolution of all of them, or EACH_ITS_OWN
   * @returns how many of the first rows are answered
   */
  add(scanned: number, resolution: number): number {
    const { operation, refusal, output } = this.#task;
    const { exports } = this.#kernel;
    const count = this.#readHostRows(scanned);
    if (refusal === 0) {
      if (operation === 'decode') exports.decodeBatch(count);
      else exports.encodeBatch(count, resolution);
    }
    const answered = output === 'records' ? count : this.#write(count);
    this.#allowance?.takeRows(answered);
    return answered;
  }

  /**
   * Reads into INPUT the rows that the scan has left to the host.
   * @returns the number of rows that can be converted: all, or those before the first that the allowance does not
   * cover
   */
  #readHostRows(scanned: number): number {
    const [kernel, memory, task] = [this.#kernel, this.#memory, this.#task];
    this.#items.clear();
    const count = task.source === FROM_FRAMES ? 0 : memory.hostRowCount;
    for (let i = 0; i < count; i++) {
      const index = memory.hostRows[i]!;
      if (!this.#takeSlow(index)) return index;
      if (task.source === FROM_CSV) {
        countSlow(task.origin, task.operation === 'decode' ? 'code' : 'number');
        if (task.operation === 'decode') putCode(kernel, index, lenient.decode(memory.codeText(index)));
        else
          for (const axis of [0, 1] as const)
            kernel.input[2 * index + axis] = hardNumber(memory, index, axis, task.delimiter);
        continue;
      }
      const row = readItem(task, memory.rowText(index));
      if (task.isArray && isNotJson(row)) throw new BrokenArrayError();
      countSlow(task.origin, row.faults === undefined ? 'spelling' : 'refused');
      this.#items.set(index, row);
      memory.setStatus(index, INVALID_REQUEST);
      if (row.faults !== undefined) continue;
      if (task.operation === 'decode') {
        putCode(kernel, index, row.hexcodes as string);
      } else {
        kernel.input[2 * index] = row.latDeg;
        kernel.input[2 * index + 1] = row.lngDeg;
        kernel.resolutions[index] = row.resolution;
      }
    }
    return scanned;
  }

  /** Counts a row that the host reads or writes; false where the allowance does not cover it. */
  #takeSlow(index: number): boolean {
    const sizeBytes = this.#task.source === FROM_FRAMES ? 0 : this.#memory.rowSizeBytes(index);
    if (this.#allowance?.takeSlow(sizeBytes) === false) return false;
    slowWork.rows++;
    slowWork.bytes += sizeBytes;
    return true;
  }

  /** @returns the number of rows written: all, or those before the first that the allowance does not cover */
  #write(count: number): number {
    const [memory, task, sink] = [this.#memory, this.#task, this.#sink];
    const { exports, textOutAt } = memory;
    const { operation, source, columns, delimiter, separator, refusal } = task;
    const isJson = task.output === 'json';
    const feed = task.lineEnd.length === 2 ? 13 : 10;
    const writeFrom = (from: number): number => {
      if (operation === 'encode') {
        return isJson
          ? exports.writeEncodedJson(from, count, columns, separator, refusal)
          : exports.writeRows(from, count, source, delimiter, feed, refusal);
      }
      return isJson
        ? exports.writeDecodedJson(count, from, count, source, separator, refusal)
        : exports.writeDecodedCsv(count, from, count, columns, source, delimiter, feed, refusal);
    };
    if (operation === 'encode' && !isJson)
      memory.usePieces(csvPieces(columns, delimiter, source === FROM_CSV ? task.resolution : null));
    let from = 0;
    while (from < count) {
      const offset = sink.textOffset;
      exports.setTextEnd(textOutAt + offset);
      const okBefore = memory.statusCounts[0]!;
      const stop = writeFrom(from);
      if (columns & WITH_ROW)
        task.report?.addWritten(from, stop, sink.sizeBytes - textOutAt - offset, okBefore);
      sink.addWritten(memory.textOut.subarray(offset, memory.textEnd - textOutAt));
      if (stop === from) {
        // The kernel stops at a row either because the host must write it, or because TEXT_OUT is full.
        const freeBytes = memory.textOut.length - offset;
        // A ragged row is padded to all columns.
        const maxBytes = memory.rowSizeBytes(stop) + (task.csv?.columns ?? 0) + MAX_ADDED_BYTES;
        if (freeBytes < maxBytes && sink.freeTextOut()) continue;
        // A row that the host has read was counted before.
        if (!memory.isLeftToHost(stop) && !this.#takeSlow(stop)) break;
        const answer = this.#answerOf(stop, count);
        const status = ROW_STATUSES.indexOf(answer.status);
        if (!memory.isLeftToHost(stop)) countSlow(task.origin, slowReasonOf(answer));
        memory.statusCounts[status]!++;
        memory.setStatus(stop, status);
        if (isJson) {
          sink.addText(jsonOf(answer) + String.fromCharCode(separator));
        } else {
          if (columns & WITH_ROW) throw new RangeError('A decoded position is beyond the range of printing');
          const withId = (columns & WITH_ID) !== 0;
          sink.addText(csvOf(answer, withId, String.fromCharCode(delimiter)) + task.lineEnd);
        }
        from++;
      } else {
        from = stop;
      }
    }
    task.report?.endScan(from, refusal === 0);
    return from;
  }

  /** The answer to a row that the host must write. @param count rows of the scan that are converted */
  #answerOf(index: number, count: number): RowAnswer {
    const [kernel, task] = [this.#kernel, this.#task];
    const { operation } = task;
    const row = this.#items.get(index) ?? this.#readRow(index);
    const status = this.#statusOf(index, count, row);
    const added = {
      ...(task.columns & WITH_FORMER ? { formerProvince: formerAt(kernel, status, index) } : {}),
      ...(task.columns & WITH_CERTAINTY ? { border: borderAt(kernel, status, index) } : {}),
    };
    if (status === 'INVALID_REQUEST') {
      return { operation, row, status, ...added, isSwapped: looksSwapped(kernel, row.latDeg, row.lngDeg) };
    }
    if (status !== 'OK') return { operation, row, status, ...added };
    if (operation === 'encode')
      return { operation, row, status, ...added, code: kernel.textAt(recordAt(index)) };
    const position = {
      latDeg: kernel.outputFloats[2 * index]!,
      lngDeg: kernel.outputFloats[2 * index + 1]!,
      resolution: kernel.output[positionResolutionAt(count, index)]!,
    };
    return { operation, row, status, position };
  }

  #readRow(index: number): ReadRow {
    const [kernel, memory, task] = [this.#kernel, this.#memory, this.#task];
    const { operation, source, resolution } = task;
    if (source === FROM_JSON) return readItem(task, memory.rowText(index));
    if (source === FROM_CSV)
      return readCsvRow(operation, memory.rowText(index), task.csv!, task.delimiter, resolution);
    if (operation === 'encode')
      return readPosition(kernel.input[2 * index]!, kernel.input[2 * index + 1]!, memory.resolutionOf(index));
    const record = kernel.inputBytes.subarray(recordAt(index), recordAt(index) + RECORD_TEXT_BYTES);
    const end = record.indexOf(0);
    return readCode(lenient.decode(end < 0 ? record : record.subarray(0, end)));
  }

  #statusOf(index: number, count: number, row: ReadRow): RowStatus {
    const [{ output }, task] = [this.#kernel, this.#task];
    if (row.faults !== undefined) return 'INVALID_REQUEST';
    if (task.refusal !== 0) return ROW_STATUSES[task.refusal]!;
    if (task.operation === 'encode') return ROW_STATUSES[output[recordStatusAt(index)]!]!;
    return output[positionStatusAt(count, index)] === INVALID_HEXCODE ? 'INVALID_HEXCODES' : 'OK';
  }
}

/** Why the host writes the answer to a row that the kernel has read. */
function slowReasonOf({ status }: RowAnswer): SlowReason {
  return status === 'INVALID_REQUEST' ? 'refused' : 'answer';
}

function formerAt(kernel: Kernel, status: RowStatus, index: number): string | null {
  if (status !== 'OK') return null;
  const unit = kernel.exports.unitOf(kernel.input[2 * index]!, kernel.input[2 * index + 1]!);
  return kernel.formerProvinces?.[unit] ?? null;
}

function borderAt(kernel: Kernel, status: RowStatus, index: number): Border {
  if (status !== 'OK') return { borderM: null, certainty: null };
  return kernel.borderAt(kernel.input[2 * index]!, kernel.input[2 * index + 1]!);
}

/** A coordinate whose value the kernel cannot determine with certainty, read from its text in the kernel's memory. */
function hardNumber(memory: TextMemory, index: number, axis: 0 | 1, delimiter: number): number {
  const at = memory.coordinateAt(index, axis);
  // A comma is a decimal comma, unless it ends the field.
  const mayHoldComma = delimiter !== COMMA || memory.isQuoted(index, at);
  let text = '';
  for (let p = at; ; p++) {
    const byte = memory.byteAt(p);
    if (byte === COMMA && mayHoldComma) text += '.';
    else if (NUMBER_BYTES.includes(byte)) text += String.fromCharCode(byte);
    else return Number(text);
  }
}

/** Stores the record of a code in any spelling in INPUT, or a record that is not a code. Overwrites OUTPUT. */
export function putCode(kernel: Kernel, index: number, text: string): void {
  const at = recordAt(index);
  if (kernel.readText(codeIn(text)) === OK) {
    kernel.inputBytes.set(kernel.output.subarray(READ_RECORD_AT, READ_RECORD_AT + RECORD_BYTES), at);
  } else {
    kernel.inputBytes.fill(0, at, at + RECORD_BYTES);
    kernel.inputBytes[at] = NO_CODE;
  }
}

/** Lists of CSV by columns, delimiter and resolution. */
const knownPieces = new Map<string, Uint8Array>();

/**
 * The columns of an encode answer in CSV.
 * @param columns WITH_ROW and the like
 * @param resolution of all rows; null where each has one in ROWS
 */
function csvPieces(columns: number, delimiter: number, resolution: number | null): Uint8Array {
  const key = `${columns} ${delimiter} ${resolution}`;
  let lists = knownPieces.get(key);
  if (lists === undefined) {
    const comma = String.fromCharCode(delimiter);
    const has = (column: number): boolean => (columns & column) !== 0;
    const id: Piece[] = has(WITH_ID) ? [VALUE.id, comma] : [];
    const lead: Piece[] = has(WITH_ROW) ? [] : [...id, VALUE.lat, comma, VALUE.lng];
    const level: Piece[] = has(WITH_RESOLUTION) ? [comma, resolution?.toString() ?? VALUE.resolution] : [];
    const listOf = (isOk: boolean): Piece[] => {
      const value = (each: number): Piece[] => (isOk ? [comma, each] : [comma]);
      const former = has(WITH_FORMER) ? value(VALUE.former) : [];
      const certainty = has(WITH_CERTAINTY) ? [...value(VALUE.metres), ...value(VALUE.share)] : [];
      const status = [comma, isOk ? ROW_STATUSES[0] : VALUE.status, VALUE.lineEnd];
      return [
        ...lead,
        ...value(VALUE.code),
        ...level,
        ...value(VALUE.admin),
        ...former,
        ...certainty,
        ...status,
      ];
    };
    lists = pieceLists(listOf(true), listOf(false), '')!;
    knownPieces.set(key, lists);
  }
  return lists;
}

// Lists of texts and values that the kernel writes after chosen fields of rows, and after the members of lines of
// NDJSON. Here an option is a piece; the writers do not know options. The list of whole rows of CSV is in
// convert-rows.ts.

const OK_STATUS = ROW_STATUSES[0];

/**
 * The pieces after chosen fields of rows, which end with LF.
 * @param resolution of all rows; null where each has the resolution of its code
 * @param fields by column; null where the host writes them, and `hasFields` says whether there are any
 * @returns null for too many
 */
export function fieldPieces(
  fields: readonly number[] | null,
  hasFields: boolean,
  added: readonly AddedMember['is'][],
  delimiter: string,
  resolution: number | null,
): Uint8Array | null {
  const listOf = (isOk: boolean): Piece[] => {
    const ours = added.map((is): Piece[] => {
      if (is === 'resolution' && resolution !== null) return [String(resolution)];
      if (is === 'status') return [isOk ? OK_STATUS : VALUE.status];
      return isOk ? [VALUE[is]] : [];
    });
    const columns = [...(fields ?? []).map((column) => [fieldPiece(column)]), ...ours];
    const lead = fields === null && hasFields ? [delimiter] : [];
    return [...lead, ...columns.flatMap((column, c) => (c === 0 ? column : [delimiter, ...column])), '\n'];
  };
  return pieceLists(listOf(true), listOf(false), '');
}

/** The values that encode adds to a row, by column name; the resolution is that of each row. */
export interface AddedValue {
  /** With the prefix. */
  readonly name: string;
  readonly is: 'code' | 'resolution' | 'admin' | 'former' | 'metres' | 'share' | 'status';
}

/** A value that encode or decode adds. */
export interface AddedMember {
  /** With the prefix. */
  readonly name: string;
  readonly is: AddedValue['is'] | 'centreLat' | 'centreLng';
}

/** The values that decode adds, in the order of their columns. */
export const DECODED = ['centreLat', 'centreLng', 'resolution', 'status'] as const;

const TEXTS: ReadonlySet<AddedMember['is']> = new Set(['code', 'admin', 'former', 'status']);

/**
 * The members that are added to lines of NDJSON.
 * @param resolution of all rows; null where each has the one of its code
 * @returns null where their names are too long
 */
export function memberPieces(added: readonly AddedMember[], resolution: number | null): Uint8Array | null {
  const listOf = (isOk: boolean): Piece[] => [
    ...added.flatMap(({ name, is }): Piece[] => {
      const lead = `,${JSON.stringify(name)}:`;
      if (is === 'resolution' && resolution !== null) return [lead, String(resolution)];
      if (is === 'status') return [lead, '"', isOk ? OK_STATUS : VALUE.status, '"'];
      if (!isOk) return [lead, 'null'];
      return TEXTS.has(is) ? [lead, '"', VALUE[is], '"'] : [lead, VALUE[is]];
    }),
    '}\n',
  ];
  return pieceLists(listOf(true), listOf(false), 'null');
}
