// Reads a file of arrivals for `hexcodes plan --trace`: CSV or TSV, packed or not, with the project's own reader of
// rows.

import type { Trace } from '../../capacity/simulate/trace.js';
import { TraceBuilder, TraceFault } from '../../capacity/simulate/trace-builder.js';
import { openInput } from '../../files/disk/input.js';
import { badInput } from '../../files/file-faults.js';
import { formatOfBytes, formatOfName } from '../../files/format.js';
import { openCsv } from '../../files/formats/csv.js';
import { dialectOf } from '../../files/formats/csv-dialect.js';

const CHOICE = { delimiter: null, decimal: '.', hasHeader: true } as const;

/**
 * @param mostPoints of one message
 * @throws CliFailure BAD_INPUT with file, row, column, value and rule
 */
export async function readTraceFile(path: string, mostPoints: number): Promise<Trace> {
  const input = await openInput(path);
  const file = input.name;
  try {
    const named = input.path === null ? null : formatOfName(input.path).format;
    const format = named ?? formatOfBytes(input.head);
    if (format !== 'csv' && format !== 'tsv')
      throw badInput({ file }, `it is ${format}, and a trace is CSV or TSV`);
    const { columns, batches } = await openCsv(
      input,
      dialectOf(input.head, format, CHOICE, () => false),
    );
    const builder = new TraceBuilder(
      columns.map(({ name }) => name),
      mostPoints,
    );
    for await (const { values } of batches()) builder.add(values as readonly (readonly string[])[]);
    return builder.build();
  } catch (error) {
    if (error instanceof TraceFault)
      throw badInput({ file, row: error.row, column: error.column }, error.message);
    throw error;
  } finally {
    input.close();
  }
}
