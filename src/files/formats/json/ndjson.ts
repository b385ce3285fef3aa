// NDJSON: one JSON object a line. A row from NDJSON is written as it is in the input, with our fields before its
// closing brace, so that numbers keep their spelling; members that are left out or replaced are cut out of it.

import type { MemberChoice } from '../../../hexcodes/wire/bulk/convert-lines.js';
import { BLOCK_BYTES } from '../../../hexcodes/wire/job.js';
import { eachMember } from '../../../hexcodes/wire/params/json-grammar.js';
import type { Input } from '../../disk/input.js';
import type { Output } from '../../disk/output.js';
import { boundsOfLines, documentIn, lineBlocks } from '../lines.js';
import type {
  JsonDocument,
  RowFit,
  SinkColumns,
  TableColumn,
  TableRows,
  TableSink,
  TableSource,
} from '../table.js';
import { jsonWriterOf } from '../values/column-text.js';
import { hasMember } from './feature-shapes.js';
import { DocumentBatch, FieldInference, inferredValue, rowBatches, valuesOf } from './json-columns.js';

/** @param known the columns, where they were inferred from all rows; else they are those of the first batch */
export async function openNdjson(
  input: Input,
  fit: RowFit,
  known: readonly TableColumn[] | null,
): Promise<TableSource> {
  const batches = documentsOf(input);
  const first = (await batches.next()).value ?? [];
  const columns = known ?? columnsOf(first, fit);
  return {
    columns,
    async *batches() {
      for await (const [documents, row] of rowBatches(first, batches, columns.length)) {
        const rows = documents.map(({ value }) => value);
        const values = valuesOf(columns, rows, input.name, row, fit);
        yield { rowCount: documents.length, values, documents };
      }
    },
  };
}

function columnsOf(documents: readonly JsonDocument[], fit: RowFit): TableColumn[] {
  const inference = new FieldInference();
  for (const document of documents) inference.add(fit === 'types' ? inferredValue(document) : document.value);
  return inference.columns(fit === 'types');
}

/** Batches of rows, which end where the input rests. */
async function* documentsOf(input: Input): AsyncGenerator<JsonDocument[], undefined> {
  const batch = new DocumentBatch();
  let line = 0;
  for await (const block of lineBlocks(input, BLOCK_BYTES)) {
    for (const [start, end] of boundsOfLines(block)) {
      const document = documentIn(block.subarray(start, end), input.name, ++line);
      if (document !== null && batch.add(document)) yield batch.take();
    }
    if (block.length === 0 && batch.size > 0) yield batch.take();
  }
  const last = batch.take();
  if (last.length > 0) yield last;
}

export function ndjsonSink(output: Pick<Output, 'write'>, columns: SinkColumns): TableSink {
  const { kept, added, chosen } = columns;
  const all = [...kept, ...added];
  const names = all.map(({ name }) => `${JSON.stringify(name)}:`);
  const laterNames = names.map((name) => `,${name}`);
  const writers = all.map(jsonWriterOf);
  const replaced: MemberChoice = { isKept: false, names: added.map(({ name }) => name) };
  return {
    async write({ rowCount, values, documents }: TableRows) {
      // Pieces that are joined once: strings that grow by `+=` cost more than the writing.
      const pieces: string[] = [];
      const pushFields = (first: number, row: number): void => {
        for (let c = first; c < all.length; c++) {
          pieces.push(c === first ? names[c]! : laterNames[c]!, writers[c]!(values[c]?.[row]));
        }
        pieces.push('}\n');
      };
      for (let row = 0; row < rowCount; row++) {
        const document = documents?.[row];
        // The columns of a feature are no members of it.
        const isColumns = chosen !== undefined && document?.featureText !== undefined;
        if (document === undefined || isColumns) {
          pieces.push('{');
          pushFields(0, row);
          continue;
        }
        if (chosen === undefined && !added.some(({ name }) => hasMember(document, name))) {
          const open = document.text.slice(0, document.text.lastIndexOf('}')).trimEnd();
          pieces.push(open, open.endsWith('{') ? '' : ',');
        } else {
          pieces.push('{', ...membersOf(document.text, chosen ?? replaced).map((member) => `${member},`));
        }
        pushFields(kept.length, row);
      }
      await output.write(Buffer.from(pieces.join('')));
    },
    async close() {},
  };
}

/** The chosen members of a row, as they are written there. */
function membersOf(text: string, { isKept, names }: MemberChoice): string[] {
  const listed = new Map(names.map((name) => [name, '']));
  const others: string[] = [];
  eachMember(text, (name, _value, _kind, member) => {
    if (listed.has(name)) listed.set(name, member);
    else others.push(member);
  });
  return isKept ? [...listed.values()].filter((member) => member !== '') : others;
}
