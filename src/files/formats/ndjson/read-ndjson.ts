// Rows of NDJSON as ranges of bytes: the kernel reads lines with members of known columns, all other lines are read
// value by value, as formats/json/ reads them.

import { isUtf8 } from 'node:buffer';
import type { Kernel } from '../../../hexcodes/kernel/kernel.js';
import {
  AS_BOOLEAN,
  AS_DOUBLE,
  AS_LONG,
  AS_RAW,
  AS_TEXT,
  KINDS,
  MemberMemory,
  NUMBERS,
} from '../../../hexcodes/kernel/member-memory.js';
import type { MemberChoice } from '../../../hexcodes/wire/bulk/convert-lines.js';
import { linesIn } from '../../../hexcodes/wire/bulk/splitters.js';
import { jsonText, repeatedMember } from '../../../hexcodes/wire/params/json-grammar.js';
import { DIFFERS } from '../../../hexcodes/wire/params/query.js';
import { countSlow } from '../../../hexcodes/wire/rows/row-report.js';
import type { Input } from '../../disk/input.js';
import type { Ranges } from '../../rows/group-windows.js';
import { plainAdder, textAdder } from '../../rows/plain-values.js';
import {
  addValue,
  GrowingBytes,
  numberIn,
  rangesOf,
  type TextRows,
  type ValueAdder,
} from '../../rows/text-rows.js';
import type { ReadColumns, RowFit, TableColumn } from '../table.js';
import { degreesOf } from '../values/column-text.js';
import { valuesOf } from '../values/json-columns.js';
import { LINES_BYTES } from './infer-ndjson.js';
import { boundsOfLines, documentIn, lineBlocks, openObject } from './ndjson.js';
import { addNested, unescaped } from './nested-json.js';

const VALUE_BYTES = 8;
const [SPACE, CLOSE] = [0x20, 0x7d] as const;
const TEXTS = KINDS.text | KINDS.escaped;

/** The role of a column for the kernel, and the kinds of values that need no conversion. */
interface Way {
  readonly role: number;
  readonly asTheyAre: number;
}

function wayOf({ kind }: TableColumn, isTyped: boolean): Way {
  switch (kind) {
    case 'text':
      return { role: AS_TEXT, asTheyAre: KINDS.text | KINDS.null };
    case 'double':
      return isTyped
        ? { role: AS_DOUBLE, asTheyAre: NUMBERS | KINDS.null }
        : { role: AS_TEXT, asTheyAre: KINDS.integer | KINDS.fraction | KINDS.null };
    case 'boolean':
      return { role: isTyped ? AS_BOOLEAN : AS_TEXT, asTheyAre: KINDS.boolean | KINDS.null };
    case 'long':
      if (isTyped) return { role: AS_LONG, asTheyAre: KINDS.integer | KINDS.odd | KINDS.null };
      break;
    case 'json':
      return {
        role: isTyped ? AS_RAW : AS_TEXT,
        asTheyAre: KINDS.text | KINDS.integer | KINDS.fraction | KINDS.boolean | KINDS.null,
      };
  }
  return { role: AS_TEXT, asTheyAre: KINDS.null };
}

/** The columns of the first input, by which all inputs are read. */
interface NdjsonShape extends ReadColumns {
  readonly columns: readonly TableColumn[];
  /** The columns whose values are read, those of positions among them; absent for all. */
  readonly read?: readonly number[];
  /** Rows of a window. */
  readonly most: number;
  /** How rows must fit the columns. Ranges are texts; with `types` plain values in the types of the columns. */
  readonly fit: RowFit;
  /** Whether values of columns of several kinds are JSON, instead of texts without quotes. */
  readonly isJson: boolean;
  /** Members that are omitted from lines that are passed on: the two parts of a line are two more columns. */
  readonly replaced?: readonly string[];
}

export class NdjsonRowReader {
  readonly #kernel: Kernel;
  readonly #members: MemberMemory;
  readonly #columns: readonly TableColumn[];
  readonly #ways: readonly Way[];
  readonly #fit: RowFit;
  readonly #read: readonly number[];
  readonly #adders: readonly ValueAdder[];
  readonly #lat: number;
  readonly #lng: number;
  /** Names of the columns that conversions read. */
  readonly #deciding: readonly string[];
  readonly #most: number;
  readonly #ranges: Ranges[];
  readonly #latLngDeg: Float64Array;
  readonly #text: GrowingBytes;
  /** Offsets of the numbers of each column in the text, and of the block after them. */
  readonly #bases: readonly number[];
  readonly #blockAt: number;
  readonly #isLeft: Uint8Array;
  /** Members that are omitted from lines that are passed on. */
  readonly #replaced: MemberChoice | null = null;
  /** Why rows of a window are not read. */
  readonly #unread = new Map<number, string>();

  constructor(
    kernel: Kernel,
    { columns, lat, lng, code, own, read, most, fit, isJson, replaced }: NdjsonShape,
  ) {
    this.#kernel = kernel;
    this.#columns = columns;
    this.#fit = fit;
    this.#read = read ?? [...columns.keys()];
    this.#lat = lat;
    this.#lng = lng;
    this.#deciding = [lat, lng, code, own].flatMap((column) => columns[column]?.name ?? []);
    const isPlain = ({ kind }: TableColumn): boolean => fit === 'types' || (isJson && kind === 'json');
    this.#adders = columns.map((column) =>
      isPlain(column) ? plainAdder(column) : textAdder(column, isJson),
    );
    this.#ways = columns.map((column) => wayOf(column, isPlain(column)));
    this.#members = new MemberMemory(kernel);
    this.#members.set(
      columns.map(({ name }, c) => ({
        name,
        role: this.#ways[c]!.role,
        axis: c === lat ? 1 : c === lng ? 2 : 0,
      })),
    );
    this.#most = Math.min(most, this.#members.maxRows);
    let base = 0;
    this.#bases = this.#ways.map(({ role }) => {
      const at = base;
      if (isNumeric(role)) base += VALUE_BYTES * this.#most;
      return at;
    });
    for (const [c, each] of this.#bases.entries()) this.#members.setBase(c, each);
    this.#blockAt = base;
    this.#text = new GrowingBytes(base + 2 * LINES_BYTES);
    const ranges = (rows: number): Ranges => ({ ...rangesOf(rows), numbersAt: -1, isWhole: false });
    this.#ranges = columns.map((_, column) => ranges(this.#read.includes(column) ? this.#most : 0));
    if (replaced !== undefined) {
      this.#replaced = { isKept: false, names: replaced };
      this.#ranges.push(ranges(this.#most), ranges(this.#most));
    }
    this.#latLngDeg = new Float64Array(2 * this.#most);
    this.#isLeft = new Uint8Array(this.#most);
  }

  /**
   * Windows of rows from an offset on; the memory of one is reused by the next.
   * @param rowsBefore rows of the input before it
   * @throws CliFailure BAD_INPUT
   */
  async *windows(
    input: Input,
    from: number,
    rowsBefore: number,
  ): AsyncGenerator<{ readonly rows: TextRows; readonly endOffset: number }> {
    let lines = 0;
    let rows = rowsBefore;
    let offset = from;
    const skipped = (count: number): void => {
      lines = count;
    };
    for await (const block of lineBlocks(input, LINES_BYTES, from, skipped)) {
      let at = 0;
      const text = this.#text;
      text.at = this.#blockAt;
      text.add(block);
      const { fits, text: memory } = this.#members;
      const isPlain = fits && block.length <= memory.blockBytes && isUtf8(block);
      while (at < block.length) {
        text.at = this.#blockAt + block.length;
        const where = { file: input.name, lines, rows };
        this.#unread.clear();
        const read = isPlain ? this.#readBlock(block, at, where) : this.#readLines(block, at, where);
        const { rowCount } = read;
        at = read.end;
        lines = read.lines;
        rows += rowCount;
        const columns = this.#ranges;
        const window = { text, rowCount, columns, latLngDeg: this.#latLngDeg, unread: this.#unread };
        if (rowCount > 0) yield { rows: window, endOffset: offset + at };
      }
      offset += block.length;
    }
  }

  #readBlock(block: Buffer, at: number, { file, lines, rows }: Where): Read {
    const members = this.#members;
    members.text.block.set(at === 0 ? block : block.subarray(at), at);
    const [scanned, sizeBytes] = members.scan(at, block.length, this.#most, this.#blockAt, false);
    this.#latLngDeg.set(this.#kernel.input.subarray(0, 2 * scanned));
    this.#isLeft.fill(0, 0, scanned);
    const { hostRowCount, hostRows } = members.text;
    for (let i = 0; i < hostRowCount; i++) this.#isLeft[hostRows[i]!] = 1;
    let hasLeft = hostRowCount > 0;
    for (const column of this.#read) if (this.#take(column, scanned)) hasLeft = true;
    if (this.#replaced !== null) this.#cutLines(scanned);
    const read = { end: at + sizeBytes, lines: lines + scanned + members.blankLines };
    if (!hasLeft) return { rowCount: scanned, ...read };
    const left = this.#isLeft.subarray(0, scanned).reduce((sum, each) => sum + each);
    countSlow('file', 'spelling', left);
    const bounds = Array.from({ length: scanned }, (_, row) => members.text.rowBounds(row));
    return { rowCount: this.#readLeft(block, at, bounds, { file, lines, rows }), ...read };
  }

  /** Cuts lines before their closing brace. */
  #cutLines(rows: number): void {
    const { bytes } = this.#text;
    const [before, after] = this.#ranges.slice(-2);
    for (let row = 0; row < rows; row++) {
      if (this.#isLeft[row] !== 0) continue;
      const [start, end] = this.#members.text.rowBounds(row);
      let close = this.#blockAt + end - 1;
      while (bytes[close] !== CLOSE) close--;
      after!.starts[row] = close;
      after!.ends[row] = close + 1;
      while (bytes[close - 1]! <= SPACE) close--;
      let open = this.#blockAt + start;
      while (bytes[open]! <= SPACE) open++;
      before!.starts[row] = open;
      before!.ends[row] = close;
    }
  }

  /**
   * Copies the scanned values of a column.
   * @returns whether rows are left to be read slowly
   */
  #take(column: number, rows: number): boolean {
    const members = this.#members;
    const { role, asTheyAre } = this.#ways[column]!;
    const ranges = this.#ranges[column]!;
    ranges.starts.set(members.starts(column, rows));
    ranges.ends.set(members.ends(column, rows));
    const isKept = isNumeric(role);
    if (isKept) this.#text.bytes.set(members.values(column, rows), this.#bases[column]);
    ranges.numbersAt = isKept && role !== AS_BOOLEAN ? this.#bases[column]! : -1;
    ranges.isWhole = members.isEverywhere(column);
    const met = members.kindsMet(column);
    const isPosition = column === this.#lat || column === this.#lng;
    const isUsual = (met & ~asTheyAre) === 0 && (!isPosition || (met & ~(NUMBERS | KINDS.null)) === 0);
    return !isUsual && this.#repair(column, rows, isPosition);
  }

  /**
   * Converts the ranges of values of other kinds to the kind of their column.
   * @returns whether rows are left to be read slowly
   */
  #repair(column: number, rows: number, isPosition: boolean): boolean {
    const { role, asTheyAre } = this.#ways[column]!;
    const { kind: wanted } = this.#columns[column]!;
    const kinds = this.#members.kinds(column, rows);
    const numbers = this.#members.numbers(column, rows);
    const { starts, ends } = this.#ranges[column]!;
    const text = this.#text;
    let hasLeft = false;
    for (let row = 0; row < rows; row++) {
      const kind = kinds[row]!;
      if (kind === 0 || kind === KINDS.null) continue;
      let isRight = (kind & ~asTheyAre) === 0;
      if (!isRight && wanted === 'json' && (role === AS_RAW || kind !== KINDS.escaped)) {
        const start = text.at;
        isRight = addNested(text, starts[row]!, ends[row]!);
        starts[row] = start;
        ends[row] = text.at;
      } else if (!isRight && kind === KINDS.escaped && (wanted === 'text' || wanted === 'json')) {
        text.reserve(ends[row]! - starts[row]!);
        const end = unescaped(text.bytes, starts[row]!, ends[row]!, text.bytes, text.at);
        if (end >= 0) {
          starts[row] = text.at;
          ends[row] = text.at = end;
          isRight = true;
        }
      } else if (!isRight && wanted === 'double' && (kind & NUMBERS) !== 0) {
        starts[row] = text.at;
        text.addNumber(numbers[row]!);
        ends[row] = text.at;
        isRight = true;
      }
      if (isRight && isPosition && (kind & NUMBERS) === 0) {
        const degrees = (kind & TEXTS) === 0 ? Number.NaN : numberIn(text.bytes, starts[row]!, ends[row]!);
        this.#latLngDeg[2 * row + (column === this.#lat ? 0 : 1)] = degrees;
        isRight = !Number.isNaN(degrees);
      }
      if (isRight) continue;
      this.#isLeft[row] = 1;
      hasLeft = true;
    }
    return hasLeft;
  }

  /**
   * Reads the rows left by the scan, and removes blank ones.
   * @returns the number of rows
   */
  #readLeft(
    block: Buffer,
    at: number,
    bounds: readonly (readonly [start: number, end: number])[],
    { file, lines, rows }: Where,
  ): number {
    let line = lines;
    let counted = at;
    let rowCount = 0;
    for (const [row, [start, end]] of bounds.entries()) {
      if (this.#isLeft[row] !== 0) {
        line += linesIn(block, counted, start);
        counted = start;
        const bytes = block.subarray(start, end);
        if (!this.#readSlowly(bytes, file, line + 1, rows + rowCount + 1, rowCount)) continue;
      } else if (rowCount < row) this.#move(row, rowCount);
      rowCount++;
    }
    // Numbers no longer have the indexes of their rows.
    if (rowCount < bounds.length) for (const ranges of this.#ranges) ranges.numbersAt = -1;
    else this.#lineUpNumbers(rowCount);
    return rowCount;
  }

  #move(from: number, to: number): void {
    for (const { starts, ends } of this.#ranges) {
      starts[to] = starts[from]!;
      ends[to] = ends[from]!;
    }
    this.#latLngDeg.copyWithin(2 * to, 2 * from, 2 * from + 2);
  }

  /** Moves numbers of rows read slowly to the others. */
  #lineUpNumbers(rows: number): void {
    for (const { starts, ends, numbersAt } of this.#ranges) {
      if (numbersAt < 0) continue;
      for (let row = 0; row < rows; row++) {
        if (this.#isLeft[row] === 0 || starts[row]! < 0) continue;
        const at = numbersAt + VALUE_BYTES * row;
        this.#text.bytes.copyWithin(at, starts[row]!, ends[row]!);
        starts[row] = at;
        ends[row] = at + VALUE_BYTES;
      }
    }
  }

  #readLines(block: Buffer, from: number, { file, lines, rows }: Where): Read {
    for (const ranges of this.#ranges) ranges.numbersAt = -1;
    let rowCount = 0;
    let line = lines;
    let at = from;
    for (const [start, end] of boundsOfLines(block, from)) {
      if (rowCount === this.#most) break;
      line++;
      const bytes = block.subarray(start, end);
      if (this.#readSlowly(bytes, file, line, rows + rowCount + 1, rowCount)) rowCount++;
      at = end + 1;
    }
    return { rowCount, end: at, lines: line };
  }

  /** Reads any line. @returns false for a blank one. @throws CliFailure BAD_INPUT */
  #readSlowly(bytes: Uint8Array, file: string, line: number, number: number, row: number): boolean {
    const document = documentIn(bytes, file, line);
    if (document === null) return false;
    const { value, text: json } = document;
    const columns = this.#columns;
    const values = valuesOf(columns, [value], file, number, this.#fit);
    const text = this.#text;
    for (const c of this.#read) {
      const each = values[c]![0];
      // A list or an object among texts or numbers.
      const isNested = typeof each === 'object' && each !== null;
      addValue(text, this.#ranges[c]!, row, isNested ? jsonText(each) : each, this.#adders[c]!);
    }
    if (this.#replaced !== null) {
      const [before, after] = this.#ranges.slice(-2);
      addValue(text, before!, row, openObject(document, this.#replaced), addLine);
      addValue(text, after!, row, '}', addLine);
    }
    const twice = repeatedMember(json, ([name = '']) => this.#deciding.includes(name));
    if (twice !== undefined) this.#unread.set(row, `${twice} ${DIFFERS}`);
    for (const [half, column] of [this.#lat, this.#lng].entries()) {
      if (column < 0) continue;
      const degrees = degreesOf(columns[column]!, values[column]![0], half === 0 ? 'lat' : 'lng');
      this.#latLngDeg[2 * row + half] = twice === undefined ? degrees : Number.NaN;
    }
    return true;
  }
}

const addLine: ValueAdder = (into, value) => into.addText(value as string);

interface Where {
  readonly file: string;
  /** Lines and rows before this block. */
  readonly lines: number;
  readonly rows: number;
}

interface Read {
  readonly rowCount: number;
  /** End of the lines in the block, and their number. */
  readonly end: number;
  readonly lines: number;
}

/** Whether values have eight bytes among the numbers. */
const isNumeric = (role: number): boolean => role === AS_DOUBLE || role === AS_LONG || role === AS_BOOLEAN;
