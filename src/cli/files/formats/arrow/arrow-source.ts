// Reads Arrow IPC by flechette, one record batch at a time: flechette is given single messages, so that the whole file is
// never held. Files (`.arrow`, `.feather`) have a magic word and a footer around the stream.

import { type Column, type Table, tableFromIPC } from '@uwdata/flechette';
import { CliFailure } from '../../../exit-codes.js';
import { badInput, reasonOf } from '../../../file-faults.js';
import type { Input } from '../../disk/input.js';
import type { TableSource } from '../table.js';
import { readBy, type Shape, shapedColumn } from '../values/nested.js';
import { shapeOf } from './arrow-types.js';
import { loadCodecs } from './codecs.js';
import { schemaInFooter } from './footer-schema.js';
import { ByteQueue, DICTIONARY, type Message, messagesOf, RECORDS, SCHEMA } from './messages.js';
import { checkLengths, checkRows } from './sound-batch.js';

const BATCH_ROWS = 65_536;
const OPTIONS = { useBigInt: true, useBigIntTimestamp: true, useDecimalInt: true };

export async function openArrow(input: Input): Promise<TableSource> {
  await loadCodecs();
  const queue = new ByteQueue(input.chunks());
  const isFile = Buffer.from(input.head.subarray(0, 6)).toString('latin1') === 'ARROW1';
  if (isFile) await queue.take(8);
  const messages = messagesOf(queue, input.name, isFile);
  const opening: Uint8Array[] = [];
  const tableOf = (records: Uint8Array[], row: number): Table => {
    try {
      return tableFromIPC([...opening, ...records], OPTIONS);
    } catch (error) {
      throw badInput({ file: input.name, row }, `cannot be read as Arrow (${reasonOf(error)})`);
    }
  };
  const first = (await messages.next()).value as Message | undefined;
  const hasSchema = first?.kind === SCHEMA;
  const schema = hasSchema ? first.bytes : isFile ? footerSchemaOf(input) : null;
  if (schema === null) throw badInput({ file: input.name }, 'not Arrow IPC: it does not start with a schema');
  opening.push(schema);
  async function* records(): AsyncGenerator<Message> {
    if (!hasSchema && first !== undefined) yield first;
    yield* messages;
  }
  const fields = tableOf([], 1).schema.fields.map((field) => shapedColumn(field.name, () => shapeOf(field)));
  return {
    columns: fields.map(({ column }) => column),
    async *batches() {
      let row = 1;
      for await (const message of records()) {
        if (message.kind === DICTIONARY) opening.push(message.bytes);
        if (message.kind !== RECORDS) continue;
        const table = tableOf([message.bytes], row);
        const rowCount = table.numRows;
        const sizeBytes = message.bytes.length;
        try {
          checkRows(rowCount, sizeBytes);
        } catch (error) {
          throw badInput({ file: input.name, row }, `broken Arrow data: ${reasonOf(error)}`);
        }
        const values = fields.map(({ column: { name }, shape }, c) => {
          if (shape === null) return new Array(rowCount).fill(null);
          try {
            const column = table.getChildAt(c);
            for (const batch of column.data) checkLengths(batch, rowCount, sizeBytes);
            return valuesOf(shape, column);
          } catch (error) {
            if (error instanceof CliFailure) throw error;
            throw badInput(
              { file: input.name, row, column: name },
              `cannot be read from here on (${reasonOf(error)})`,
            );
          }
        });
        for (let start = 0; start < rowCount; start += BATCH_ROWS) {
          const end = Math.min(start + BATCH_ROWS, rowCount);
          yield { rowCount: end - start, values: values.map((each) => each.slice(start, end)) };
        }
        row += rowCount;
      }
    },
  };
}

/** @throws CliFailure BAD_INPUT where the end of the file cannot be read first */
function footerSchemaOf({ path, isPacked, name, sizeBytes }: Input): Uint8Array | null {
  if (path !== null && sizeBytes !== null && !isPacked) return schemaInFooter(path);
  throw badInput(
    { file: name },
    'an Arrow file without a schema at its start, as apache-arrow for JavaScript writes it, is not read from a pipe',
    'Name it as a file, unpacked; or write a stream.',
  );
}

function valuesOf(shape: Shape, column: Column<unknown>): unknown[] {
  const values = Array.from(column.toArray() as ArrayLike<unknown>);
  const read = readBy(shape);
  return read === null ? values : values.map(read);
}
