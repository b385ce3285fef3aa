// Positions of NDJSON by the kernel's scan, with values for those columns only that are wanted. A block with a line
// that the kernel does not read, or that may be none, is read value by value.

import { isUtf8 } from 'node:buffer';
import { ROW_BYTES } from '../../hexcodes/kernel/exports.js';
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { AS_TEXT, KINDS, MemberMemory, NUMBERS } from '../../hexcodes/kernel/member-memory.js';
import { textMemoryOf } from '../../hexcodes/kernel/text-memory.js';
import { linesIn } from '../../hexcodes/wire/bulk/splitters.js';
import { BLOCK_BYTES } from '../../hexcodes/wire/job.js';
import {
  type PositionColumns,
  positionIndexes,
  positionReader,
  withoutContradictions,
} from '../columns/position-columns.js';
import type { Input } from '../disk/input.js';
import { narrowBatches, valuesOf } from '../formats/json/json-columns.js';
import { boundsOfLines, documentIn, lineBlocks } from '../formats/lines.js';
import type { TableColumn } from '../formats/table.js';
import type { PointRows, WantedColumns } from './wanted.js';

const WORDS_PER_ROW = ROW_BYTES / 4;
const [OPEN, LETTER_T] = [123, 116] as const;
/** A longer line may be nested too deeply. */
const MAX_LINE_BYTES = 1024;

/**
 * All rows of an input whose position is in `lat` and `lng`.
 * @throws CliFailure BAD_INPUT as the source of formats/json/ndjson.ts
 */
export async function* ndjsonPoints(
  kernel: Kernel,
  input: Input,
  columns: readonly TableColumn[],
  where: PositionColumns,
  { numbers, others }: WantedColumns,
): AsyncGenerator<PointRows> {
  const scanner = new BlockScanner(kernel, columns, [...new Set([...numbers, ...others])]);
  let lines = 0;
  let rows = 0;
  for await (const block of lineBlocks(input, BLOCK_BYTES)) {
    const usual = scanner.scan(block);
    if (usual !== null) {
      for (const points of usual) {
        lines += points.rows.rowCount;
        rows += points.rows.rowCount;
        yield points;
      }
      continue;
    }
    for (const points of readSlowly(block, input.name, lines, rows + 1, columns, where)) {
      rows += points.rows.rowCount;
      yield points;
    }
    lines += linesIn(block);
  }
}

class BlockScanner {
  readonly #kernel: Kernel;
  readonly #bounds: Uint32Array;
  readonly #columns: readonly TableColumn[];
  readonly #wanted: readonly number[];
  readonly #members: MemberMemory;
  readonly #position: readonly number[];

  constructor(kernel: Kernel, columns: readonly TableColumn[], wanted: readonly number[]) {
    const { exports, capacity, output } = kernel;
    this.#kernel = kernel;
    this.#bounds = new Uint32Array(output.buffer, exports.ROWS.value, WORDS_PER_ROW * capacity);
    this.#columns = columns;
    this.#wanted = wanted;
    this.#members = new MemberMemory(kernel);
    this.#position = ['lat', 'lng'].map((axis) => columns.findIndex(({ name }) => name === axis));
    const [lat, lng] = this.#position;
    this.#members.set(
      columns.map(({ name }, c) => ({ name, role: AS_TEXT, axis: c === lat ? 1 : c === lng ? 2 : 0 })),
    );
  }

  /** The rows of a block of lines; null where one of them is not usual. */
  scan(block: Buffer): PointRows[] | null {
    if (block.length > BLOCK_BYTES || !isUtf8(block)) return null;
    textMemoryOf(this.#kernel).block.set(block);
    return this.#wanted.length > 0 ? this.#scanMembers(block) : this.#scanPoints(block);
  }

  #scanPoints(block: Buffer): PointRows[] | null {
    if (block.includes(0)) return null;
    const { exports, capacity, input } = this.#kernel;
    const memory = textMemoryOf(this.#kernel);
    const { blockAt } = memory;
    const bounds = this.#bounds;
    const end = blockAt + block.length;
    const parts: PointRows[] = [];
    let expected = blockAt;
    while (expected < end) {
      const count = exports.scanNdjson(expected, end, capacity, false, 0);
      if (count === 0 || memory.hostRowCount > 0) return null;
      for (let row = 0; row < count; row++) {
        const start = bounds[WORDS_PER_ROW * row]!;
        const feed = bounds[WORDS_PER_ROW * row + 1]!;
        // Blank lines and what is no object count in another way.
        if (start !== expected || block[start - blockAt] !== OPEN || feed - start > MAX_LINE_BYTES)
          return null;
        expected = feed + 1;
      }
      parts.push({ rows: { rowCount: count, values: [] }, latLngDeg: input.slice(0, 2 * count) });
    }
    return parts;
  }

  #scanMembers(block: Buffer): PointRows[] | null {
    const members = this.#members;
    const parts: PointRows[] = [];
    for (let at = 0; at < block.length; ) {
      const [rowCount, sizeBytes] = members.scan(at, block.length, members.mostRows, 0, false);
      if (rowCount === 0 || members.text.hostRowCount > 0 || members.blankLines > 0) return null;
      const isPoint = (column: number): boolean =>
        members.isEverywhere(column) && (members.kindsMet(column) & ~NUMBERS) === 0;
      if (!this.#position.every(isPoint)) return null;
      const values: unknown[][] = [];
      for (const column of this.#wanted) {
        if (this.#columns[column]!.kind === 'json') return null;
        values[column] = this.#valuesOf(block, column, rowCount);
      }
      parts.push({ rows: { rowCount, values }, latLngDeg: this.#kernel.input.slice(0, 2 * rowCount) });
      at += sizeBytes;
    }
    return parts;
  }

  #valuesOf(block: Buffer, column: number, rows: number): unknown[] {
    const members = this.#members;
    const kinds = members.kinds(column, rows);
    const starts = members.starts(column, rows);
    const ends = members.ends(column, rows);
    const numbers = members.numbers(column, rows);
    const values = new Array<unknown>(rows);
    for (let row = 0; row < rows; row++) {
      const kind = kinds[row]!;
      if ((kind & NUMBERS) !== 0) values[row] = numbers[row];
      else if (kind === KINDS.text) values[row] = block.toString('utf8', starts[row], ends[row]);
      else if (kind === KINDS.escaped)
        values[row] = JSON.parse(block.toString('utf8', starts[row]! - 1, ends[row]! + 1));
      else values[row] = kind === KINDS.boolean ? block[starts[row]!] === LETTER_T : null;
    }
    return values;
  }
}

function* readSlowly(
  block: Buffer,
  file: string,
  earlierLines: number,
  firstRow: number,
  columns: readonly TableColumn[],
  where: PositionColumns,
): Generator<PointRows> {
  const read = positionReader(columns, where);
  const indexes = positionIndexes(where);
  let row = firstRow;
  const all = Array.from(boundsOfLines(block), ([start, end], n) =>
    documentIn(block.subarray(start, end), file, earlierLines + n + 1),
  ).filter((document) => document !== null);
  for (const documents of narrowBatches(all, columns.length)) {
    const objects = documents.map(({ value }) => value);
    const rowCount = documents.length;
    const values = valuesOf(columns, objects, file, row, 'any');
    const latLngDeg = new Float64Array(2 * rowCount);
    read(withoutContradictions({ rowCount, values, documents }, columns, indexes), latLngDeg);
    yield { rows: { rowCount, values }, latLngDeg };
    row += rowCount;
  }
}
