// Positions of NDJSON by the kernel's scan, with values for those columns only that are wanted. A block with a line
// that the kernel does not read, or that may be none, is read value by value.

import { isUtf8 } from 'node:buffer';
import { ROW_BYTES } from '../../hexcodes/kernel/exports.js';
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { textMemoryOf } from '../../hexcodes/kernel/text-memory.js';
import { BLOCK_BYTES } from '../../hexcodes/wire/job.js';
import { type PositionColumns, positionReader } from '../columns/position-columns.js';
import type { Input } from '../disk/input.js';
import { narrowBatches, parseObject, valuesOf } from '../formats/json/json-columns.js';
import { lineBlocks } from '../formats/line-blocks.js';
import { linesOf } from '../formats/lines.js';
import type { TableColumn } from '../formats/table.js';
import { BOOLEAN, ESCAPED, FRACTION, INTEGER, LineScanner, TEXT } from '../rows/scan-line.js';
import type { PointRows, WantedColumns } from './wanted.js';

const WORDS_PER_ROW = ROW_BYTES / 4;
const [OPEN, LETTER_T] = [123, 116] as const;
/** A longer line may be nested too deeply. */
const MOST_LINE_BYTES = 1024;

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
  for await (const block of lineBlocks(input.plain?.chunksFrom(0) ?? input.chunks(), BLOCK_BYTES)) {
    const usual = scanner.scan(block);
    if (usual !== null) {
      for (const points of usual) {
        lines += points.rows.rowCount;
        rows += points.rows.rowCount;
        yield points;
      }
      continue;
    }
    for await (const points of readSlowly(block, input.name, lines, rows + 1, columns, where)) {
      rows += points.rows.rowCount;
      yield points;
    }
    for (let at = block.indexOf(10); at >= 0; at = block.indexOf(10, at + 1)) lines++;
  }
}

class BlockScanner {
  readonly #kernel: Kernel;
  readonly #bounds: Uint32Array;
  readonly #columns: readonly TableColumn[];
  readonly #wanted: readonly number[];
  readonly #lines: LineScanner;

  constructor(kernel: Kernel, columns: readonly TableColumn[], wanted: readonly number[]) {
    const { exports, capacity, output } = kernel;
    this.#kernel = kernel;
    this.#bounds = new Uint32Array(output.buffer, exports.ROWS.value, WORDS_PER_ROW * capacity);
    this.#columns = columns;
    this.#wanted = wanted;
    this.#lines = new LineScanner(columns.map(({ name }) => name));
  }

  /** The rows of a block of lines; null where one of them is not usual. */
  scan(block: Buffer): PointRows[] | null {
    if (block.length > BLOCK_BYTES || !isUtf8(block) || block.includes(0)) return null;
    const { exports, capacity, input } = this.#kernel;
    const memory = textMemoryOf(this.#kernel);
    const { blockAt } = memory;
    memory.block.set(block);
    const bounds = this.#bounds;
    const end = blockAt + block.length;
    const parts: PointRows[] = [];
    let expected = blockAt;
    while (expected < end) {
      const count = exports.scanNdjson(expected, end, capacity, false, 0);
      if (count === 0 || memory.hostRowCount > 0) return null;
      const values: unknown[][] = [];
      for (const column of this.#wanted) values[column] = new Array<unknown>(count);
      for (let row = 0; row < count; row++) {
        const start = bounds[WORDS_PER_ROW * row]!;
        const feed = bounds[WORDS_PER_ROW * row + 1]!;
        // Blank lines and what is no object count in another way.
        if (start !== expected || block[start - blockAt] !== OPEN || feed - start > MOST_LINE_BYTES)
          return null;
        expected = feed + 1;
        if (this.#wanted.length > 0 && !this.#readValues(block, start - blockAt, feed - blockAt, values, row))
          return null;
      }
      parts.push({ rows: { rowCount: count, values }, latLngDeg: input.slice(0, 2 * count) });
    }
    return parts;
  }

  /** @returns false for a line with values that are left */
  #readValues(block: Buffer, start: number, end: number, values: unknown[][], row: number): boolean {
    const lines = this.#lines;
    if (!lines.scan(block, start, end)) return false;
    for (const column of this.#wanted) {
      const kind = lines.kinds[column]!;
      if (kind === ESCAPED || this.#columns[column]!.kind === 'json') return false;
      const from = lines.starts[column]!;
      values[column]![row] =
        kind === TEXT
          ? block.toString('utf8', from, lines.ends[column])
          : kind === INTEGER || kind === FRACTION
            ? lines.numbers[column]
            : kind === BOOLEAN
              ? block[from] === LETTER_T
              : null;
    }
    return true;
  }
}

async function* readSlowly(
  block: Buffer,
  file: string,
  earlierLines: number,
  firstRow: number,
  columns: readonly TableColumn[],
  where: PositionColumns,
): AsyncGenerator<PointRows> {
  const read = positionReader(columns, where);
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield block;
  }
  let row = firstRow;
  for await (const some of linesOf(whole(), file, earlierLines)) {
    const all = some.map(({ text, line }) => parseObject(text, file, line));
    for (const documents of narrowBatches(all, columns.length)) {
      const objects = documents.map(({ value }) => value);
      const rowCount = documents.length;
      const values = valuesOf(columns, objects, file, row, 'any');
      const latLngDeg = new Float64Array(2 * rowCount);
      read({ rowCount, values, documents }, latLngDeg);
      yield { rows: { rowCount, values }, latLngDeg };
      row += rowCount;
    }
  }
}
