// A table of CSV as a workbook of Excel, for the worker, which loads this when it is needed.
import { XlsxWriter } from '../../tables/xlsx/xlsx-writer.js';
import { fieldsOf, RowCutter } from './table-plan.js';

const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const ROWS_AT_ONCE = 1000;

/** @throws TableError for a table that is larger than a sheet can be */
export async function workbookOf(table: Blob, delimiter: string): Promise<Blob> {
  const cutter = new RowCutter(delimiter);
  const parts: Blob[] = [];
  let writer: XlsxWriter | undefined;
  const add = (rows: readonly string[]): void => {
    const [names, ...others] = rows;
    if (names === undefined) return;
    const data = writer === undefined ? others : rows;
    writer ??= new XlsxWriter(fieldsOf(names.replace(/^\ufeff/, ''), delimiter));
    for (let at = 0; at < data.length; at += ROWS_AT_ONCE) {
      const fields = data.slice(at, at + ROWS_AT_ONCE).map((row) => fieldsOf(row, delimiter));
      writer.add(fields.length, (row, column) => fields[row]![column]);
    }
    parts.push(new Blob(writer.take() as Uint8Array<ArrayBuffer>[]));
  };
  const reader = table.stream().pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    add(cutter.push(value));
  }
  add(cutter.end());
  writer?.end();
  parts.push(new Blob((writer?.take() ?? []) as Uint8Array<ArrayBuffer>[]));
  return new Blob(parts, { type: TYPE });
}
