// Blocks of CSV and TSV by the kernel's scan: where rows are, and their positions in the kernel's input. A row that the
// kernel does not read is read here field by field, as formats/csv.ts reads all of them.

import { ROW_BYTES } from '../../hexcodes/kernel/exports.js';
import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { type TextMemory, textMemoryOf } from '../../hexcodes/kernel/text-memory.js';
import { CsvSplitter } from '../../hexcodes/wire/bulk/splitters.js';
import { BulkInputError } from '../../hexcodes/wire/job.js';
import type { Input } from '../disk/input.js';
import { badInput } from '../exit-codes.js';
import type { CsvDialect } from './csv-dialect.js';
import { readHeader, refuseNoText } from './csv-header.js';
import { fieldsOf } from './csv-rows.js';
import type { TableColumn } from './table.js';
import { degreesOf } from './values/column-text.js';

const WORDS_PER_ROW = ROW_BYTES / 4;
const [LF, CR, QUOTE] = [10, 13, 34] as const;
const TEXT: TableColumn = { name: '', kind: 'text' };

/** Rows of a block, as many as the kernel takes at a time. Their positions are at the beginning of its input. */
export interface ScannedRows {
  readonly count: number;
  readonly block: Buffer;
  startOf(row: number): number;
  /** Where the text of a row ends, without its line end. */
  endOf(row: number): number;
  /** Whether fields of a row may be in quotes: then `fieldsOf` has them. */
  isQuoted(row: number): boolean;
  fieldsOf(row: number): string[];
}

/**
 * All rows of an input whose position is in two columns. Positions of rows that have none are NaN.
 * @throws CliFailure BAD_INPUT as the source of csv.ts
 */
export async function* scannedCsv(
  kernel: Kernel,
  input: Input,
  dialect: CsvDialect,
  { lat, lng }: { readonly lat: number; readonly lng: number },
): AsyncGenerator<ScannedRows> {
  const chunks = input.chunks()[Symbol.asyncIterator]();
  const { names, rest } = await readHeader(input, chunks, dialect);
  const delimiter = dialect.delimiter.charCodeAt(0);
  const scanner = new BlockScanner(kernel, input.name, names, delimiter, lat, lng);
  const splitter = new CsvSplitter(delimiter);
  try {
    for (const block of splitter.push(rest)) yield* scanner.scan(block);
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) break;
      for (const block of splitter.push(next.value)) yield* scanner.scan(block);
    }
    for (const block of splitter.endClosed()) yield* scanner.scan(block);
  } catch (error) {
    if (error instanceof BulkInputError)
      throw badInput({ file: input.name, row: scanner.rows + 1 }, error.message);
    throw error;
  }
}

class BlockScanner {
  /** Rows read so far. */
  rows = 0;
  readonly #kernel: Kernel;
  readonly #memory: TextMemory;
  readonly #bounds: Uint32Array;
  readonly #file: string;
  readonly #names: readonly string[];
  readonly #delimiter: number;
  readonly #lat: number;
  readonly #lng: number;

  constructor(
    kernel: Kernel,
    file: string,
    names: readonly string[],
    delimiter: number,
    lat: number,
    lng: number,
  ) {
    this.#kernel = kernel;
    this.#memory = textMemoryOf(kernel);
    const { exports, output, capacity } = kernel;
    this.#bounds = new Uint32Array(output.buffer, exports.ROWS.value, WORDS_PER_ROW * capacity);
    this.#file = file;
    this.#names = names;
    this.#delimiter = delimiter;
    this.#lat = lat;
    this.#lng = lng;
  }

  *scan(given: Uint8Array): Generator<ScannedRows> {
    const { blockAt, block: into } = this.#memory;
    const { exports, capacity } = this.#kernel;
    const block = Buffer.from(given.buffer, given.byteOffset, given.length);
    refuseNoText(block, this.#file, this.#delimiter, this.#names, () => this.rows + 1);
    const hasQuotes = block.includes(QUOTE);
    // Without quotes a CR at the end of a file is a line end, whatever precedes it.
    const isCut = !hasQuotes && block.at(-1) === CR;
    into.set(isCut ? block.subarray(0, -1) : block);
    exports.useCsvColumns(this.#names.length, this.#lat, this.#lng, -1, this.#delimiter);
    const end = blockAt + block.length - (isCut ? 1 : 0);
    for (let at = blockAt; at < end; ) {
      const count = exports.scanCsv(at, end, capacity, false, 0);
      at = exports.csvEnd.value;
      if (count === 0) continue;
      const rows = this.#rowsOf(block, count, hasQuotes);
      this.#readOthers(rows);
      yield rows;
      this.rows += count;
    }
  }

  #rowsOf(block: Buffer, count: number, hasQuotes: boolean): ScannedRows {
    const { blockAt } = this.#memory;
    const bounds = this.#bounds;
    const delimiter = this.#delimiter;
    const startOf = (row: number): number => bounds[WORDS_PER_ROW * row]! - blockAt;
    const endOf = (row: number): number => {
      const end = bounds[WORDS_PER_ROW * row + 1]! - blockAt;
      // To the kernel a CR at the end of a file is text.
      return end === block.length && block[end - 1] === CR ? end - 1 : end;
    };
    return {
      count,
      block,
      startOf,
      endOf,
      isQuoted: (row) => hasQuotes && block.subarray(startOf(row), endOf(row)).includes(QUOTE),
      fieldsOf(row) {
        let end = bounds[WORDS_PER_ROW * row + 1]! - blockAt;
        // Only the line end of a row is not text.
        if (block[end] === CR) end++;
        if (block[end] === LF) end++;
        return fieldsOf(block, startOf(row), end, delimiter);
      },
    };
  }

  /** Reads the positions of rows that the kernel has left or refused. */
  #readOthers({ count, fieldsOf: fieldsAt }: ScannedRows): void {
    const { input } = this.#kernel;
    const memory = this.#memory;
    for (let row = 0; row < count; row++) {
      if (memory.statusOf(row) === 0 && !memory.isLeftToHost(row)) continue;
      const fields = fieldsAt(row);
      const isRagged = fields.length !== this.#names.length;
      input[2 * row] = isRagged ? Number.NaN : degreesOf(TEXT, fields[this.#lat], 'lat');
      input[2 * row + 1] = isRagged ? Number.NaN : degreesOf(TEXT, fields[this.#lng], 'lng');
    }
  }
}
