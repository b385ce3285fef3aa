// NDJSON: one JSON object a line. A row from NDJSON is written as it is in the input, with our fields before its closing
// brace, so that numbers keep their spelling. A row in which a field is left out or replaced is serialized again.

import type { Input } from '../disk/input.js';
import type { Output } from '../disk/output.js';
import { columnsOf, parseObject, valuesOf } from './json-columns.js';
import { linesOf } from './lines.js';
import {
  BATCH_ROWS,
  type JsonDocument,
  jsonBigint,
  jsonOf,
  type SinkColumns,
  type TableRows,
  type TableSink,
  type TableSource,
} from './table.js';

/** @param isStrict whether later rows must fit the columns of the first batch, as targets that are tables need */
export async function openNdjson(input: Input, isStrict: boolean): Promise<TableSource> {
  const batches = documents(input);
  const first = (await batches.next()).value ?? [];
  const columns = columnsOf(first.map(({ value }) => value));
  return {
    columns,
    async *batches() {
      let row = 1;
      for (let batch: JsonDocument[] | undefined = first; batch !== undefined; ) {
        const objects = batch.map(({ value }) => value);
        yield {
          rowCount: batch.length,
          values: valuesOf(columns, objects, input.name, row, isStrict),
          documents: batch,
        };
        row += batch.length;
        const next: IteratorResult<JsonDocument[], undefined> = await batches.next();
        batch = next.value;
      }
    },
  };
}

async function* documents(input: Input): AsyncGenerator<JsonDocument[], undefined> {
  let batch: JsonDocument[] = [];
  for await (const lines of linesOf(input.chunks(), input.name)) {
    for (const { text, line } of lines) {
      batch.push(parseObject(text, input.name, line));
      if (batch.length < BATCH_ROWS) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

export function ndjsonSink(output: Output, columns: SinkColumns): TableSink {
  const { kept, added, isWhole } = columns;
  const all = [...kept, ...added];
  const addedNames = added.map(({ name }) => `${JSON.stringify(name)}:`);
  return {
    async write({ rowCount, values, documents: given }: TableRows) {
      const lines: string[] = [];
      for (let row = 0; row < rowCount; row++) {
        const document = given?.[row];
        if (document !== undefined && isWhole && added.every(({ name }) => !(name in document.value))) {
          const open = document.text.slice(0, document.text.lastIndexOf('}')).trimEnd();
          const fields = added.map(
            (column, c) =>
              `${addedNames[c]}${JSON.stringify(jsonOf(column, values[kept.length + c]?.[row]))}`,
          );
          lines.push(`${open}${open.endsWith('{') ? '' : ','}${fields.join(',')}}\n`);
          continue;
        }
        const object: Record<string, unknown> = {};
        if (document !== undefined && isWhole) Object.assign(object, document.value);
        all.forEach((column, c) => {
          if (document === undefined || c >= kept.length || column.name in document.value) {
            object[column.name] = jsonOf(column, values[c]?.[row]);
          }
        });
        lines.push(`${JSON.stringify(object, jsonBigint)}\n`);
      }
      await output.write(Buffer.from(lines.join('')));
    },
    async close() {},
  };
}
