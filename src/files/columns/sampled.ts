// Looks at the first rows of a source before they are read: columns are found by their values, too.

import { SAMPLE_ROWS } from '../formats/csv-dialect.js';
import type { TableRows, TableSource } from '../formats/table.js';
import { codeTextOf } from '../formats/values/column-text.js';
import type { Sample } from './columns.js';

/** A source whose first rows have been looked at. */
export async function sampled(source: TableSource): Promise<{ source: TableSource; sample: Sample }> {
  const batches = source.batches()[Symbol.asyncIterator]();
  const first = await batches.next();
  const { columns } = source;
  const rowCount = first.done === true ? 0 : Math.min(first.value.rowCount, SAMPLE_ROWS);
  const values = first.done === true ? [] : first.value.values;
  const rows = Array.from({ length: rowCount }, (_, row) =>
    columns.map((column, c) => codeTextOf(column, values[c]?.[row])),
  );
  async function* all(): AsyncGenerator<TableRows> {
    for (let next = first; next.done !== true; next = await batches.next()) yield next.value;
  }
  return { source: { ...source, batches: all }, sample: { names: columns.map(({ name }) => name), rows } };
}
