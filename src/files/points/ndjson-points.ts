// Positions of NDJSON by the kernel's scan, where nothing else of the rows is wanted. A block with a line that the
// kernel does not read, or that may be none, is read value by value.

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
import type { PointRows } from './wanted.js';

const WORDS_PER_ROW = ROW_BYTES / 4;
const OPEN = 123;
/** A longer line may be nested too deeply. */
const MOST_LINE_BYTES = 1024;

/**
 * All rows of an input whose position is in `lat` and `lng`; the rows have no values.
 * @throws CliFailure BAD_INPUT as the source of formats/json/ndjson.ts
 */
export async function* ndjsonPoints(
  kernel: Kernel,
  input: Input,
  columns: readonly TableColumn[],
  where: PositionColumns,
): AsyncGenerator<PointRows> {
  let lines = 0;
  let rows = 0;
  for await (const block of lineBlocks(input.plain?.chunksFrom(0) ?? input.chunks(), BLOCK_BYTES)) {
    const latLngDeg = scanned(kernel, block);
    if (latLngDeg !== null) {
      const rowCount = latLngDeg.length / 2;
      lines += rowCount;
      rows += rowCount;
      yield { rows: { rowCount, values: [] }, latLngDeg };
      continue;
    }
    for await (const points of readSlowly(block, input.name, lines, rows + 1, columns, where)) {
      rows += points.rows.rowCount;
      yield points;
    }
    for (let at = block.indexOf(10); at >= 0; at = block.indexOf(10, at + 1)) lines++;
  }
}

/** The positions of a block of lines; null where one of them is not usual. */
function scanned(kernel: Kernel, block: Buffer): Float64Array | null {
  if (block.length > BLOCK_BYTES || !isUtf8(block) || block.includes(0)) return null;
  const { exports, capacity, input, output } = kernel;
  const memory = textMemoryOf(kernel);
  const { blockAt } = memory;
  memory.block.set(block);
  const bounds = new Uint32Array(output.buffer, exports.ROWS.value, WORDS_PER_ROW * capacity);
  const end = blockAt + block.length;
  const parts: Float64Array[] = [];
  let expected = blockAt;
  while (expected < end) {
    const count = exports.scanNdjson(expected, end, capacity, false, 0);
    if (count === 0 || memory.hostRowCount > 0) return null;
    for (let row = 0; row < count; row++) {
      const start = bounds[WORDS_PER_ROW * row]!;
      const feed = bounds[WORDS_PER_ROW * row + 1]!;
      // Blank lines and what is no object count in another way.
      if (start !== expected || block[start - blockAt] !== OPEN || feed - start > MOST_LINE_BYTES)
        return null;
      expected = feed + 1;
    }
    parts.push(input.slice(0, 2 * count));
  }
  const [first, ...more] = parts;
  if (first === undefined || more.length === 0) return first ?? null;
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
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
      yield { rows: { rowCount, values: [] }, latLngDeg };
      row += rowCount;
    }
  }
}
