// CSV and TSV as rows in columns, for conversions that change the format or the columns. Every value is text.

import type { Input } from '../disk/input.js';
import { isRest } from '../disk/rests.js';
import type { CsvDialect } from './csv-dialect.js';
import { openText, raggedFault } from './csv-header.js';
import { eachRow, fieldsOf } from './csv-rows.js';
import { BATCH_BYTES, BATCH_ROWS, type TableRows, type TableSource } from './table.js';

const QUOTE = 34;
/** Bytes that a field takes besides its text. */
const FIELD_BYTES = 32;

export async function openCsv(input: Input, dialect: CsvDialect): Promise<TableSource> {
  const { delimiter } = dialect;
  const text = await openText(input, dialect);
  const { names } = text;
  return {
    columns: names.map((name) => ({ name, kind: 'text' })),
    async *batches() {
      let values: string[][] = names.map(() => []);
      let rows = 0;
      let held = 0;
      let bytes = 0;
      let unread = new Map<number, string>();
      const batch = (): TableRows => {
        const full = { rowCount: held, values, ...(unread.size > 0 ? { unread } : {}) };
        unread = new Map();
        values = names.map(() => []);
        held = 0;
        bytes = 0;
        return full;
      };
      for await (const block of text.blocks(text.endOffset, () => rows + 1)) {
        for (const fields of rowsOf(block, delimiter)) {
          rows++;
          if (fields.length !== names.length) unread.set(held, raggedFault(fields.length, names.length));
          for (let c = 0; c < names.length; c++) {
            const field = fields[c] ?? '';
            values[c]!.push(field);
            bytes += FIELD_BYTES + field.length;
          }
          held++;
          if (held >= BATCH_ROWS || bytes >= BATCH_BYTES) yield batch();
        }
        if (isRest(block) && held > 0) yield batch();
      }
      if (held > 0) yield batch();
    },
  };
}

function* rowsOf(block: Uint8Array, delimiter: string): Generator<string[]> {
  if (!block.includes(QUOTE)) {
    for (const line of Buffer.from(block.buffer, block.byteOffset, block.length).toString().split('\n')) {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line;
      if (text !== '') yield text.split(delimiter);
    }
    return;
  }
  const rows: string[][] = [];
  eachRow(block, delimiter.charCodeAt(0), (start, end) => {
    rows.push(fieldsOf(block, start, end, delimiter.charCodeAt(0)));
  });
  yield* rows;
}
