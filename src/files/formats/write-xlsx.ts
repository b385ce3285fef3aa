// Writes rows of texts as a workbook of Excel.

import { TableError } from '../../tables/table-error.js';
import { type Cell, XlsxWriter } from '../../tables/xlsx/xlsx-writer.js';
import type { Output } from '../disk/output.js';
import type { Wanted } from '../driver.js';
import { badOutput } from '../exit-codes.js';
import { numberIn, type TextRows } from '../rows/text-rows.js';
import { type RowWriter, type WrittenColumns, wantedRows } from '../rows/write-text.js';
import type { ColumnKind } from './table.js';

/** Numbers of other kinds are texts, which become numbers where Excel keeps all of their digits. */
const NUMBERS: ReadonlySet<ColumnKind> = new Set(['double', 'float', 'int', 'uint']);

export class XlsxRowWriter implements RowWriter {
  readonly #writer: XlsxWriter;

  /** @param columns none of which is made of records */
  constructor(
    private readonly output: Output,
    private readonly columns: WrittenColumns,
  ) {
    this.#writer = this.#guarded(() => new XlsxWriter(columns.kept.map(({ name }) => name)));
  }

  async write(rows: TextRows, records: Uint8Array, wanted: Wanted): Promise<void> {
    const { kept } = this.columns;
    const { bytes } = rows.text;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const wantedOnes = new Int32Array(rows.rowCount);
    const count = wantedRows(records, rows.rowCount, wanted, wantedOnes);
    const ranges = kept.map(({ index }) => rows.columns[index]!);
    const isNumber = kept.map(({ kind }) => NUMBERS.has(kind));
    const cellAt = (row: number, c: number): Cell => {
      const start = ranges[c]!.starts[wantedOnes[row]!]!;
      if (start < 0) return null;
      const end = ranges[c]!.ends[wantedOnes[row]!]!;
      const number = isNumber[c] === true ? numberIn(bytes, start, end) : Number.NaN;
      if (!Number.isNaN(number)) return number;
      const value = text.toString('utf8', start, end);
      return isNumber[c] === true ? numberOf(value) : value;
    };
    this.#guarded(() => this.#writer.add(count, cellAt));
    await this.#emit();
  }

  async close(): Promise<void> {
    this.#writer.end();
    await this.#emit();
  }

  async #emit(): Promise<void> {
    for (const piece of this.#writer.take()) await this.output.write(piece);
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof TableError) throw badOutput(this.output.name, error, error.hint);
      throw error;
    }
  }
}

/** A number, but for an integer of JSON with more digits. */
function numberOf(text: string): Cell {
  const number = Number(text);
  return String(number) === text || Object.is(number, -0) ? number : text;
}
