// Reads Arrow IPC by flechette, one record batch at a time: flechette is given single messages, so that the whole file
// is never held. Files (`.arrow`, `.feather`) have a magic word and a footer around the stream.

import decompressLz4 from '@foxglove/wasm-lz4';
import {
  type Batch,
  batchType,
  binary,
  binaryView,
  CompressionType,
  type DataType,
  largeBinary,
  largeUtf8,
  setCompressionCodec,
  type Table,
  tableFromIPC,
  utf8,
  utf8View,
} from '@uwdata/flechette';
import type { Input } from '../../disk/input.js';
import type { PlainFile } from '../../disk/plain-file.js';
import { badInput, brokenAt, NO_COLUMNS, reasonOf } from '../../exit-codes.js';
import { beyondCeiling, ceilingBytes, requireBelowCeiling, rowWindows } from '../../held/ceiling.js';
import { type DeclaredGeometries, declaredGeometries, geoArrowIn, geometriesIn } from '../geoparquet.js';
import type { TableColumn, TableSource } from '../table.js';
import { readBy, type Shape, shapedColumn } from '../values/column-text.js';
import { unpackZstd } from '../values/zstd.js';
import { shapeOf } from './arrow-stream.js';
import {
  BLOCK_BYTES,
  ByteQueue,
  checkMetadata,
  DICTIONARY,
  Flatbuffer,
  type Message,
  messagesOf,
  once,
  RECORDS,
  SCHEMA,
  unreadFields,
} from './messages.js';
import { checkLengths, checkRows } from './sound-batch.js';

// Gives flechette the decompressors of Arrow's record batches: LZ4 frames, the default of pandas and pyarrow for
// Feather, and Zstandard, natively where Node has it (22.15 and later).

/** Bytes to which the current message may still unpack. */
let left = 0;

/** Sets the limit to which the next message, with its dictionaries, may unpack. */
function allowUnpacked(bytes: number): void {
  left = bytes;
}

/** Keeps a byte order mark at the start of a text, which flechette would drop: texts are decoded from its bytes. */
function keepMarks(): void {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (const [text, bytes] of [
    [utf8(), binary()],
    [largeUtf8(), largeBinary()],
    [utf8View(), binaryView()],
  ] as const) {
    const { value } = batchType(bytes).prototype as { value(index: number): Uint8Array };
    batchType(text).prototype.value = function (index: number): string {
      return decoder.decode(value.call(this, index));
    };
  }
}
keepMarks();

/** Must be awaited before the first record batch is read. */
async function loadCodecs(): Promise<void> {
  await decompressLz4.isLoaded;
  setCompressionCodec(CompressionType.LZ4_FRAME, reader('LZ4', decompressLz4));
  setCompressionCodec(
    CompressionType.ZSTD,
    reader('Zstandard', (bytes, sizeBytes) => unpackZstd(bytes, sizeBytes, ceilingBytes())),
  );
}

/** A message that unpacks to more than is allowed. */
class TooMuchUnpacked extends Error {
  constructor(readonly beyondBytes: number) {
    super(`a message that unpacks to at least ${beyondBytes} bytes too many`);
  }
}

function reader(name: string, decompress: (bytes: Uint8Array, sizeBytes: number) => Uint8Array) {
  return {
    decode(bytes: Uint8Array, sizeBytes: number): Uint8Array {
      if (!(sizeBytes >= 0)) throw new Error(`${name} data that claims ${sizeBytes} bytes`);
      left -= sizeBytes;
      if (left < 0) throw new TooMuchUnpacked(sizeBytes - left);
      let plain: Uint8Array;
      try {
        plain = decompress(bytes, sizeBytes);
      } catch (error) {
        throw new Error(`broken ${name} data`, { cause: error });
      }
      if (plain.length !== sizeBytes)
        throw new Error(`broken ${name} data: ${plain.length} bytes for ${sizeBytes}`);
      // Values of 8 bytes are read in place, so the copy is aligned to 8.
      return plain.byteOffset % 8 === 0 ? plain : plain.slice();
    },
    encode(): Uint8Array {
      throw new Error('record batches are written without compression');
    },
  };
}

/** After the footer: i32 its size │ `ARROW1`. */
const END_BYTES = 10;
/** The mark of the end: a size of 0 behind four bytes. */
const MARK_BYTES = 8;
const MAX_FOOTER_BYTES = 64 * 1024 * 1024;
const MIN_METADATA_BYTES = 16;
/** The flatbuffer table of the message, in front of a copy of the footer to whose schema it points. */
const TABLE_BYTES = 32;

/**
 * @returns null if the file has no footer with a schema
 * @throws Error for a schema that points beyond the footer
 */
function schemaInFooter(file: PlainFile): Uint8Array | null {
  const found = inFooter(file, (buffer, field, footer) => {
    const [versionAt, schemaAt] = [field(0), field(1)];
    const version = versionAt === 0 ? 0 : buffer.short(versionAt);
    return schemaAt === 0 ? null : ([footer, buffer.follow(schemaAt), version] as const);
  });
  return found && schemaMessage(...found);
}

/** Reads the footer of a file; null where there is none, or it points beyond its end. */
function inFooter<T>(
  file: PlainFile,
  read: (buffer: Flatbuffer, field: (number: number) => number, footer: Uint8Array) => T | null,
): T | null {
  try {
    const footer = footerOf(file);
    if (footer === null) return null;
    const buffer = new Flatbuffer(footer);
    return read(buffer, buffer.root(), footer);
  } catch {
    return null;
  }
}

function footerOf(file: PlainFile): Uint8Array | null {
  const endAt = file.length - END_BYTES;
  const end = Buffer.from(file.range(endAt, endAt + END_BYTES).buffer);
  const sizeBytes = end.readInt32LE();
  const start = endAt - sizeBytes;
  const isFooter = end.toString('latin1', 4) === 'ARROW1' && sizeBytes >= 8 && sizeBytes <= MAX_FOOTER_BYTES;
  return isFooter && start >= 8 ? file.range(start, endAt) : null;
}

/**
 * Whether a file begins with a schema that is not a message, as Polars writes it; then the footer gives the offsets
 * of the rows.
 */
function isBare(head: Uint8Array): boolean {
  if (head.length < 12) return false;
  const size = new DataView(head.buffer, head.byteOffset).getInt32(8, true);
  return size > 0 && size < MIN_METADATA_BYTES;
}

interface Block {
  readonly start: number;
  readonly sizeBytes: number;
}

interface Blocks {
  readonly dictionaries: readonly Block[];
  readonly rows: readonly Block[];
  /** The mark of the end, before the footer. */
  readonly end: Block;
}

/** Offsets of the rows and dictionaries of a file; null where its footer does not give them. */
function blocksIn(file: PlainFile): Blocks | null {
  return inFooter(file, (buffer, field, footer) => {
    const [dictionaries = [], rows = []] = [2, 3].map((number) => {
      const { at, count } = buffer.vector(field(number), BLOCK_BYTES);
      return Array.from({ length: count }, (_, i) => {
        const block = at + BLOCK_BYTES * i;
        const sizeBytes = buffer.int(block + 8) + Number(buffer.long(block + 16));
        return { start: Number(buffer.long(block)), sizeBytes };
      });
    });
    const start = file.length - END_BYTES - footer.length - MARK_BYTES;
    return { dictionaries, rows, end: { start, sizeBytes: MARK_BYTES } };
  });
}

/** Offset of the first block, or of the end mark in a file without rows; null where it is invalid. */
function firstOf(blocks: Blocks | null): number | null {
  // The blocks of a file lie in the order of their rows.
  const starts = [blocks?.dictionaries[0], blocks?.rows[0], blocks?.end].flatMap(
    (block) => block?.start ?? [],
  );
  const start = Math.min(...starts);
  return start >= 8 && start <= MAX_FOOTER_BYTES ? start : null;
}

/**
 * The dictionaries of a file that follow rows which need them, as Polars writes them.
 * @throws CliFailure BAD_INPUT
 */
async function* lateDictionaries(file: PlainFile, name: string): AsyncGenerator<Message> {
  const blocks = blocksIn(file);
  const first = blocks?.rows[0]?.start ?? Number.POSITIVE_INFINITY;
  if (blocks === null || !blocks.dictionaries.some(({ start }) => start > first)) return;
  for (const { start, sizeBytes } of blocks.dictionaries) {
    const end = start + sizeBytes;
    if (!(start >= 0 && sizeBytes >= 0 && end <= file.length))
      throw badInput({ file: name }, 'broken Arrow data: a dictionary lies beyond the end of the file');
    requireBelowCeiling({ file: name }, sizeBytes, 'a dictionary', 'Write the column without one.');
    const { value } = await messagesOf(new ByteQueue(once(file.range(start, end))), name, false).next();
    if (value !== undefined) yield value;
  }
}

/** @param schemaAt offset of the schema table in the footer */
function schemaMessage(footer: Uint8Array, schemaAt: number, version: number): Uint8Array {
  const padding = (8 - (footer.length % 8)) % 8;
  const bytes = Buffer.alloc(8 + TABLE_BYTES + footer.length + padding);
  bytes.writeInt32LE(-1, 0);
  bytes.writeInt32LE(bytes.length - 8, 4);
  const table = bytes.subarray(8);
  table.writeUInt32LE(16, 0);
  // The vtable: its size, that of the table, and where version, kind, schema and body size are (0: left out).
  for (const [i, value] of [12, 12, 4, 6, 8, 0].entries()) table.writeUInt16LE(value, 4 + 2 * i);
  table.writeInt32LE(12, 16);
  table.writeUInt16LE(version, 20);
  table.writeUInt8(SCHEMA, 22);
  table.writeUInt32LE(TABLE_BYTES + schemaAt - 24, 24);
  table.set(footer, TABLE_BYTES);
  checkMetadata(table, 0);
  return bytes;
}

const OPTIONS = { useBigInt: true, useBigIntTimestamp: true, useDecimalInt: true };
/** Least bytes that a value takes while its batch is read, besides its text. */
const VALUE_BYTES = 8;
/** Bytes of a dictionary entry, whose values are made before they are checked. */
const ENTRY_BYTES = 48;
const SMALLER = 'Write smaller record batches.';
/** Largest dictionaries that are read again for each batch. */
const FEW_BYTES = 64 * 1024;
const MAX_HELD_BYTES = 16 * 1024 * 1024;

interface Location {
  readonly file: string;
  /** The first row of a message. */
  readonly row: number;
}

/** A record batch whose lengths have been checked. */
export interface ArrowBatch {
  /** Number of its first row in the file, from 1. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** The values of each field; null for one whose type is not read. */
  readonly columns: readonly (Batch<unknown> | null)[];
}

export interface ArrowFile {
  readonly fields: readonly {
    readonly column: TableColumn;
    /** null for a type that is not read. */
    readonly shape: Shape | null;
    readonly type: DataType;
  }[];
  readonly geometries: DeclaredGeometries | undefined;
  batches(): AsyncGenerator<ArrowBatch>;
}

export async function openArrow(input: Input): Promise<TableSource> {
  const { fields, geometries, batches } = await readArrow(input);
  const names = fields.map(({ column }) => column.name);
  return {
    columns: fields.map(({ column }) => column),
    geometries,
    async *batches() {
      for await (const { firstRow, rowCount, columns } of batches()) {
        const readers = columns.map((batch, c) =>
          batch === null ? () => null : readerOf(fields[c]!.shape!, batch),
        );
        yield* rowWindows(rowCount, readers, { file: input.name, firstRow, names });
      }
    },
  };
}

/** The messages of a stream, or of a file from its schema on; from its first block on where the schema is none. */
async function openMessages(input: Input, isFile: boolean): Promise<AsyncGenerator<Message>> {
  const queue = new ByteQueue(input.chunks());
  if (isFile) await queue.take(8);
  if (isFile && isBare(input.head)) {
    const footerSchema = footerSchemaOf(input);
    const start = footerSchema === null ? null : firstOf(blocksIn(input.file!));
    if (start === null) throw badInput({ file: input.name }, 'broken Arrow data: its footer lists no rows');
    await queue.take(start - 8);
  }
  return messagesOf(queue, input.name, isFile);
}

/** @throws CliFailure BAD_INPUT, also from `batches()` */
export async function readArrow(input: Input): Promise<ArrowFile> {
  await loadCodecs();
  const isFile = Buffer.from(input.head.subarray(0, 6)).toString('latin1') === 'ARROW1';
  const messages = await openMessages(input, isFile);
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
  const unread = unreadFields(schema);
  async function* records(): AsyncGenerator<Message> {
    let areKnown = false;
    if (isFile && input.file !== null)
      for await (const dictionary of lateDictionaries(input.file, input.name)) {
        areKnown = true;
        yield dictionary;
      }
    const isNew = ({ kind }: Message): boolean => kind !== DICTIONARY || !areKnown;
    if (!hasSchema && first !== undefined && isNew(first)) yield first;
    for await (const message of messages) if (isNew(message)) yield message;
  }
  const read = tableOf([], 1).schema;
  const fields = fieldsOf(read, unread);
  if (fields.length === 0) throw badInput({ file: input.name }, NO_COLUMNS);
  return {
    fields,
    geometries: declaredGeometries(
      read.metadata?.get('geo'),
      read.fields.flatMap(({ name, metadata }) => geoArrowIn(name, metadata) ?? []),
      input.name,
    ),
    async *batches() {
      let row = 1;
      // Each table makes the values of all dictionaries, so it gets as many bytes of rows as they have.
      let held: Message[] = [];
      let [heldBytes, heldFrom] = [0, row];
      function* released(): Generator<ArrowBatch> {
        yield* batchesIn(held, fields, { file: input.name, row: heldFrom }, tableOf);
        held = [];
        [heldBytes, heldFrom] = [0, row];
      }
      for await (const message of records()) {
        if (message.kind !== DICTIONARY && message.kind !== RECORDS) continue;
        // A delta changes no entry that rows before it refer to.
        if (message.kind === DICTIONARY && message.claims?.isDelta !== true) yield* released();
        requireSound(message, fields.length, { file: input.name, row });
        if (message.kind === DICTIONARY) {
          dictionaries.add(message);
          continue;
        }
        held.push(message);
        heldBytes += message.bytes.length;
        row += message.claims?.rows ?? 0;
        if (heldBytes >= dictionaries.heldBytes) yield* released();
      }
      yield* released();
    },
  };
}

/**
 * The record batches of messages as the values of columns.
 * @throws CliFailure BAD_INPUT at the first invalid batch
 */
function* batchesIn(
  messages: readonly Message[],
  fields: ArrowFile['fields'],
  location: Location,
  tableOf: (records: Uint8Array[], row: number) => Table,
): Generator<ArrowBatch> {
  let { row } = location;
  const table = tableOfAll(messages, (records) => tableOf(records, row));
  for (const [n, message] of messages.entries()) {
    const [of, at] = table === null ? [tableOf([message.bytes], row), 0] : [table, n];
    const batch = batchIn(of, at, fields, message, { ...location, row });
    yield batch;
    row += batch.rowCount;
  }
}

/** The table of several messages; null where they are read one by one, so that a fault names its own message. */
function tableOfAll(messages: readonly Message[], tableOf: (records: Uint8Array[]) => Table): Table | null {
  if (messages.length < 2) return null;
  try {
    return tableOf(messages.map(({ bytes }) => bytes));
  } catch {
    return null;
  }
}

function batchIn(
  table: Table,
  n: number,
  fields: ArrowFile['fields'],
  { bytes, claims }: Message,
  location: Location,
): ArrowBatch {
  const rowCount = table.getChildAt(0).data[n]?.length ?? 0;
  const claimed = claims?.rows ?? 0;
  if (rowCount !== claimed)
    throw badInput(location, `broken Arrow data: a batch of ${claimed} rows has ${rowCount} values`);
  const columns = fields.map(({ column: { name }, shape }, c) => {
    if (shape === null) return null;
    try {
      const batch = (table.getChildAt(c).data as Batch<unknown>[])[n];
      if (batch === undefined) throw new Error('a column without values');
      checkLengths(batch, rowCount, bytes.length);
      return batch;
    } catch (error) {
      throw brokenAt({ ...location, column: name }, error);
    }
  });
  return { firstRow: location.row, rowCount, columns };
}

/** @param unread why columns are not read, by their numbers */
function fieldsOf(
  { fields, metadata }: Table['schema'],
  unread: ReadonlyMap<number, string>,
): ArrowFile['fields'] {
  const geometries = geometriesIn(metadata?.get('geo'));
  return fields.map((field, index) => {
    const { column, shape } = shapedColumn(field.name, () => {
      if (unread.has(index)) throw new Error(unread.get(index));
      return shapeOf(field);
    });
    const geo = column.kind === 'binary' ? geometries.get(column.name) : undefined;
    return { column: geo === undefined ? column : { ...column, geo }, shape, type: field.type };
  });
}

/** @throws CliFailure BAD_INPUT for more rows than a message can have, or than memory should */
function requireSound({ kind, bytes, claims }: Message, fields: number, location: Location): void {
  const rows = claims?.rows ?? 0;
  try {
    checkRows(rows, bytes.length);
  } catch (error) {
    throw badInput(location, `broken Arrow data: ${reasonOf(error)}`);
  }
  const [heldBytes, words] =
    kind === DICTIONARY
      ? [rows * ENTRY_BYTES, `a dictionary of ${rows} values`]
      : [rows * fields * VALUE_BYTES, `a batch of ${rows} rows and ${fields} columns`];
  requireBelowCeiling(location, heldBytes, words, SMALLER);
}

/** The dictionaries in force, as messages; a replacement takes the position of the replaced one. */
class Dictionaries {
  readonly #byId = new Map<bigint, Uint8Array[]>();
  #bytes = 0;

  constructor(private readonly file: string) {}

  /** @throws CliFailure BAD_INPUT where they exceed the ceiling together */
  add({ bytes, claims }: Message): void {
    const id = claims?.dictionary ?? 0n;
    const before = this.#byId.get(id) ?? [];
    if (claims?.isDelta !== true) for (const each of before.splice(0)) this.#bytes -= each.length;
    before.push(bytes);
    this.#bytes += bytes.length;
    this.#byId.set(id, before);
    requireBelowCeiling(
      { file: this.file },
      this.#bytes,
      'all dictionaries together',
      'Write the columns without dictionaries.',
    );
  }

  /** Bytes of rows for which they are read once; small dictionaries delay no row. */
  get heldBytes(): number {
    return this.#bytes < FEW_BYTES ? 0 : Math.min(this.#bytes, MAX_HELD_BYTES);
  }

  messages(): Uint8Array[] {
    return [...this.#byId.values()].flat();
  }
}

/** @throws CliFailure BAD_INPUT where the end of the file cannot be read first */
function footerSchemaOf({ file, name }: Input): Uint8Array | null {
  if (file !== null) return schemaInFooter(file);
  throw badInput(
    { file: name },
    'an Arrow file without a schema at its start, as Polars and apache-arrow for JavaScript write it, is not read from a pipe',
    'Name it as a file, unpacked; or write a stream.',
  );
}

/** The values of a column by their rows. */
export function readerOf(shape: Shape, batch: Batch<unknown>): (row: number) => unknown {
  const read = readBy(shape);
  return read === null ? (row) => batch.at(row) : (row) => read(batch.at(row));
}
