// Reads Arrow IPC by flechette, one record batch at a time: flechette is given single messages, so that the whole file
// is never held. Files (`.arrow`, `.feather`) have a magic word and a footer around the stream.

import { type Batch, type Table, tableFromIPC } from '@uwdata/flechette';
import type { Input } from '../../disk/input.js';
import { CliFailure } from '../../exit-codes.js';
import { badInput, reasonOf } from '../../file-faults.js';
import { beyondCeiling, ceilingBytes, requireBelowCeiling } from '../../held/ceiling.js';
import { rowWindows } from '../../held/row-windows.js';
import type { TableSource } from '../table.js';
import { readBy, type Shape, shapedColumn } from '../values/nested.js';
import { shapeOf } from './arrow-types.js';
import { allowUnpacked, loadCodecs, TooMuchUnpacked } from './codecs.js';
import { schemaInFooter } from './footer-schema.js';
import { DICTIONARY, RECORDS, SCHEMA } from './message-kinds.js';
import { ByteQueue, type Message, messagesOf } from './messages.js';
import { checkLengths, checkRows } from './sound-batch.js';

const OPTIONS = { useBigInt: true, useBigIntTimestamp: true, useDecimalInt: true };
/** Bytes that a value takes at least while its batch is read, beside its text. */
const VALUE_BYTES = 8;
const SMALLER = 'Write smaller record batches.';

export async function openArrow(input: Input): Promise<TableSource> {
  await loadCodecs();
  const queue = new ByteQueue(input.chunks());
  const isFile = Buffer.from(input.head.subarray(0, 6)).toString('latin1') === 'ARROW1';
  if (isFile) await queue.take(8);
  const messages = messagesOf(queue, input.name, isFile);
  let schema: Uint8Array = new Uint8Array(0);
  const dictionaries = new Dictionaries(input.name);
  const tableOf = (records: Uint8Array[], row: number): Table => {
    allowUnpacked(ceilingBytes());
    try {
      return tableFromIPC([schema, ...dictionaries.messages(), ...records], OPTIONS);
    } catch (error) {
      if (error instanceof TooMuchUnpacked) {
        const bytes = ceilingBytes() + error.beyondBytes;
        throw beyondCeiling({ file: input.name, row }, bytes, 'an unpacked record batch', SMALLER);
      }
      throw badInput({ file: input.name, row }, `cannot be read as Arrow (${reasonOf(error)})`);
    }
  };
  const first = (await messages.next()).value as Message | undefined;
  const hasSchema = first?.kind === SCHEMA;
  const found = hasSchema ? first.bytes : isFile ? footerSchemaOf(input) : null;
  if (found === null) throw badInput({ file: input.name }, 'not Arrow IPC: it does not start with a schema');
  schema = found;
  async function* records(): AsyncGenerator<Message> {
    if (!hasSchema && first !== undefined) yield first;
    yield* messages;
  }
  const fields = tableOf([], 1).schema.fields.map((field) => shapedColumn(field.name, () => shapeOf(field)));
  const names = fields.map(({ column }) => column.name);
  return {
    columns: fields.map(({ column }) => column),
    async *batches() {
      let row = 1;
      for await (const message of records()) {
        if (message.kind === DICTIONARY) dictionaries.add(message);
        if (message.kind !== RECORDS) continue;
        const sizeBytes = message.bytes.length;
        const claimed = message.claims?.rows ?? 0;
        try {
          checkRows(claimed, sizeBytes);
        } catch (error) {
          throw badInput({ file: input.name, row }, `broken Arrow data: ${reasonOf(error)}`);
        }
        requireBelowCeiling(
          { file: input.name, row },
          claimed * fields.length * VALUE_BYTES,
          `a batch of ${claimed} rows and ${fields.length} columns`,
          SMALLER,
        );
        const table = tableOf([message.bytes], row);
        const rowCount = table.numRows;
        if (rowCount !== claimed && fields.length > 0)
          throw badInput(
            { file: input.name, row },
            `broken Arrow data: a batch of ${claimed} rows has ${rowCount} values`,
          );
        const readers = fields.map(({ column: { name }, shape }, c) => {
          if (shape === null) return () => null;
          try {
            const [batch, ...others] = table.getChildAt(c).data as Batch<unknown>[];
            if (batch === undefined || others.length > 0) throw new Error('a column without values');
            checkLengths(batch, rowCount, sizeBytes);
            return readerOf(shape, batch);
          } catch (error) {
            if (error instanceof CliFailure) throw error;
            throw badInput(
              { file: input.name, row, column: name },
              `cannot be read from here on (${reasonOf(error)})`,
            );
          }
        });
        yield* rowWindows(rowCount, readers, { file: input.name, firstRow: row, names });
        row += rowCount;
      }
    },
  };
}

/** The dictionaries that are in force, as messages: one that replaces another takes its place. */
class Dictionaries {
  readonly #file: string;
  readonly #byId = new Map<bigint, Uint8Array[]>();
  #bytes = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws CliFailure BAD_INPUT where all of them together pass the ceiling */
  add({ bytes, claims }: Message): void {
    const id = claims?.dictionary ?? 0n;
    const before = claims?.isDelta === true ? (this.#byId.get(id) ?? []) : [];
    for (const each of this.#byId.get(id) ?? []) this.#bytes -= each.length;
    const now = [...before, bytes];
    for (const each of now) this.#bytes += each.length;
    this.#byId.set(id, now);
    requireBelowCeiling(
      { file: this.#file },
      this.#bytes,
      'all dictionaries together',
      'Write the columns without dictionaries.',
    );
  }

  messages(): Uint8Array[] {
    return [...this.#byId.values()].flat();
  }
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

function readerOf(shape: Shape, batch: Batch<unknown>): (row: number) => unknown {
  const read = readBy(shape);
  return read === null ? (row) => batch.at(row) : (row) => read(batch.at(row));
}
