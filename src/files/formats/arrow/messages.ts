// Cuts a stream of Arrow IPC into its messages, of which only kind and size are read:
//   u32 0xFFFFFFFF │ u32 size of the metadata │ metadata: a flatbuffer table │ body, its size in the metadata
// A metadata size of 0 ends the stream. Before Arrow 0.15 the first word was missing.

import { badInput, joinedFiles, reasonOf } from '../../exit-codes.js';
import { requireBelowCeiling } from '../../held/ceiling.js';

// Validates the metadata of an Arrow message before flechette reads it: a flatbuffer whose offsets and counts
// flechette trusts. Two damaged bytes made it collect two thousand million buffers that did not exist.

// Kinds of Arrow messages: `MessageHeader` of the format.
export const SCHEMA = 1;
export const DICTIONARY = 2;
export const RECORDS = 3;

const MAX_DEPTH = 64;
const MIN_TABLE_BYTES = 4;
/** Bytes of text that tables may share: several may point to one string. */
const SHARED_TEXT_BYTES = 1 << 20;
const INT = 2;
const DECIMAL = 7;
const TIMESTAMP = 10;
const UNION = 14;
const FIXED_BINARY = 15;
const MAX_INT_BITS = 64;

/** The counts of rows that a message declares. */
interface BatchClaims {
  /** Rows, or the values of a dictionary. */
  readonly rows: number;
  /** Id of the dictionary; null for a record batch. */
  readonly dictionary: bigint | null;
  /** Whether a dictionary extends the previous one. */
  readonly isDelta: boolean;
}

/**
 * Checks every offset and count of a message's metadata.
 * @param metadata without its size words
 * @returns null for a message without rows
 * @throws Error for an offset outside the metadata, or buffers outside the body
 */
export function checkMetadata(metadata: Uint8Array, bodyBytes: number): BatchClaims | null {
  const buffer = new Flatbuffer(metadata);
  const message = buffer.root();
  const kindAt = message(1);
  const headerAt = message(2);
  if (kindAt === 0 || headerAt === 0) return null;
  const header = buffer.follow(headerAt);
  switch (buffer.byte(kindAt)) {
    case SCHEMA:
      checkSchema(buffer, header);
      return null;
    case RECORDS:
      return { rows: checkRecords(buffer, header, bodyBytes), dictionary: null, isDelta: false };
    case DICTIONARY: {
      const table = buffer.table(header);
      const [idAt, dataAt, deltaAt] = [table(0), table(1), table(2)];
      if (dataAt === 0) throw new Error('a dictionary without values');
      const valuesAt = buffer.follow(dataAt);
      checkRecords(buffer, valuesAt, bodyBytes);
      return {
        rows: firstLength(buffer, valuesAt),
        dictionary: idAt === 0 ? 0n : buffer.long(idAt),
        isDelta: deltaAt !== 0 && buffer.byte(deltaAt) !== 0,
      };
    }
    default:
      return null;
  }
}

function checkSchema(buffer: Flatbuffer, at: number): void {
  const schema = buffer.table(at);
  for (const field of buffer.tables(schema(1))) checkField(buffer, field, 0);
  checkPairs(buffer, schema(2));
  buffer.vector(schema(3), 8);
}

function checkField(buffer: Flatbuffer, at: number, depth: number): void {
  if (depth > MAX_DEPTH) throw new Error(`columns are nested more than ${MAX_DEPTH} deep`);
  const field = buffer.table(at);
  buffer.string(field(0));
  const kindAt = field(2);
  const typeAt = field(3);
  if (typeAt !== 0) {
    const type = buffer.table(buffer.follow(typeAt));
    const kind = kindAt === 0 ? 0 : buffer.byte(kindAt);
    if (kind === UNION) buffer.vector(type(1), 4);
    if (kind === TIMESTAMP) buffer.string(type(1));
  }
  const dictionaryAt = field(4);
  if (dictionaryAt !== 0) {
    const index = buffer.table(buffer.follow(dictionaryAt))(1);
    if (index !== 0) buffer.table(buffer.follow(index));
  }
  for (const child of buffer.tables(field(5))) checkField(buffer, child, depth + 1);
  checkPairs(buffer, field(6));
}

function checkPairs(buffer: Flatbuffer, at: number): void {
  for (const each of buffer.tables(at)) {
    const pair = buffer.table(each);
    buffer.string(pair(0));
    buffer.string(pair(1));
  }
}

/**
 * Finds the columns of a checked schema whose type would make flechette reject all columns, and why they are not
 * read, by index. The type becomes bytes of the same width.
 */
export function unreadFields(schema: Uint8Array): ReadonlyMap<number, string> {
  const isShort = new DataView(schema.buffer, schema.byteOffset).getInt32(0, true) !== -1;
  const buffer = new Flatbuffer(schema.subarray(isShort ? 4 : 8));
  const found = new Map<number, string>();
  const visit = (at: number, column: number): void => {
    const field = buffer.table(at);
    for (const child of buffer.tables(field(5))) visit(child, column);
    const [kindAt, typeAt] = [field(2), field(3)];
    if (kindAt === 0 || typeAt === 0) return;
    const kind = buffer.byte(kindAt);
    const type = buffer.table(buffer.follow(typeAt));
    const intOf = (number: number, usual = 0): number =>
      type(number) === 0 ? usual : buffer.int(type(number));
    const isLong = kind === INT && intOf(0) > MAX_INT_BITS;
    if (!isLong && !(kind === DECIMAL && intOf(1) < 0)) return;
    const bits = isLong ? intOf(0) : intOf(2, 128);
    found.set(
      column,
      isLong ? `integers of ${bits} bits are not read` : `decimals of the scale ${intOf(1)} are not read`,
    );
    buffer.setInt(type(0), bits / 8);
    buffer.setByte(kindAt, FIXED_BINARY);
  };
  for (const [column, at] of [...buffer.tables(buffer.table(buffer.follow(buffer.root()(2)))(1))].entries())
    visit(at, column);
  return found;
}

/** @returns the number of rows */
function checkRecords(buffer: Flatbuffer, at: number, bodyBytes: number): number {
  const records = buffer.table(at);
  buffer.vector(records(1), 16);
  const regions = buffer.vector(records(2), 16);
  for (let i = 0; i < regions.count; i++) {
    const [offset, length] = [buffer.long(regions.at + 16 * i), buffer.long(regions.at + 16 * i + 8)];
    if (offset < 0n || length < 0n || offset + length > BigInt(bodyBytes))
      throw new Error(`a buffer of ${length} bytes at ${offset}, and the message has ${bodyBytes}`);
  }
  const compression = records(3);
  if (compression !== 0) buffer.table(buffer.follow(compression));
  const variadic = buffer.vector(records(4), 8);
  for (let i = 0; i < variadic.count; i++) {
    const count = buffer.long(variadic.at + 8 * i);
    if (count < 0n || count > BigInt(regions.count))
      throw new Error(`${count} buffers of text, and the message has ${regions.count}`);
  }
  const rowsAt = records(0);
  const rows = rowsAt === 0 ? 0 : Number(buffer.long(rowsAt));
  if (rows < 0 || !Number.isSafeInteger(rows)) throw new Error(`a batch of ${rows} rows`);
  return rows;
}

/** Number of values of the first column of checked records: flechette allocates as many for a dictionary. */
function firstLength(buffer: Flatbuffer, at: number): number {
  const nodes = buffer.vector(buffer.table(at)(1), 16);
  const length = nodes.count === 0 ? 0 : Number(buffer.long(nodes.at));
  if (length < 0 || !Number.isSafeInteger(length)) throw new Error(`a dictionary of ${length} values`);
  return length;
}

/**
 * Reads a flatbuffer; an offset of 0 is an absent field.
 * @throws RangeError for an offset outside its bytes
 */
export class Flatbuffer {
  readonly #view: DataView;
  #tables = 0;
  #textBytes = 0;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** @returns a function from field numbers to offsets in the root table */
  root(): (field: number) => number {
    return this.table(this.follow(0));
  }

  /** The target of the offset at a position. */
  follow(at: number): number {
    return at + this.#inside(at, 4).getUint32(at, true);
  }

  byte(at: number): number {
    return this.#inside(at, 1).getUint8(at);
  }

  short(at: number): number {
    return this.#inside(at, 2).getUint16(at, true);
  }

  int(at: number): number {
    return this.#inside(at, 4).getInt32(at, true);
  }

  setByte(at: number, value: number): void {
    this.#inside(at, 1).setUint8(at, value);
  }

  setInt(at: number, value: number): void {
    this.#inside(at, 4).setInt32(at, value, true);
  }

  long(at: number): bigint {
    return this.#inside(at, 8).getBigInt64(at, true);
  }

  /** @returns a function from field numbers to offsets */
  table(at: number): (field: number) => number {
    this.#tables++;
    if (this.#tables * MIN_TABLE_BYTES > this.#view.byteLength)
      throw new Error('metadata that repeats itself');
    const vtable = at - this.int(at);
    const [vtableBytes, tableBytes] = [this.short(vtable), this.short(vtable + 2)];
    this.#inside(vtable, vtableBytes);
    this.#inside(at, tableBytes);
    return (field) => {
      const slot = 4 + 2 * field;
      const offset = slot + 2 <= vtableBytes ? this.short(vtable + slot) : 0;
      if (offset >= tableBytes && offset !== 0) throw new Error('metadata with a field outside its table');
      return offset === 0 ? 0 : at + offset;
    };
  }

  vector(fieldAt: number, strideBytes: number): { at: number; count: number } {
    if (fieldAt === 0) return { at: 0, count: 0 };
    const start = this.follow(fieldAt);
    const count = this.#inside(start, 4).getUint32(start, true);
    this.#inside(start + 4, count * strideBytes);
    return { at: start + 4, count };
  }

  /** The offsets of the tables of a vector. */
  *tables(fieldAt: number): Generator<number> {
    const { at, count } = this.vector(fieldAt, 4);
    for (let i = 0; i < count; i++) yield this.follow(at + 4 * i);
  }

  string(fieldAt: number): void {
    this.#textBytes += this.vector(fieldAt, 1).count;
    if (this.#textBytes > this.#view.byteLength + SHARED_TEXT_BYTES)
      throw new Error('metadata that repeats its texts');
  }

  #inside(at: number, sizeBytes: number): DataView {
    if (at < 0 || at + sizeBytes > this.#view.byteLength)
      throw new RangeError(`metadata of ${this.#view.byteLength} bytes that points beyond its end`);
    return this.#view;
  }
}

const MAX_METADATA_BYTES = 64 * 1024 * 1024;
/** Bytes of a block in a footer: i64 where it begins │ i32 bytes of metadata │ 4 free │ i64 bytes of the body. */
export const BLOCK_BYTES = 24;
const MAX_TAIL_BYTES = 64 * 1024 * 1024;
const TAIL_PART_BYTES = 64 * 1024;
/** Copies of a message that are held at once. */
const COPIES = 2;

export interface Message {
  readonly kind: number;
  /** The counts of a message of rows; null for all others. */
  readonly claims: BatchClaims | null;
  readonly bytes: Uint8Array;
}

/** Returns the bytes of a stream in portions of any size. */
export class ByteQueue {
  #chunks: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next bytes; fewer only at the end. */
  async take(count: number): Promise<Uint8Array> {
    if (this.#held.length < count) {
      const parts = [this.#held];
      let bytes = this.#held.length;
      while (bytes < count) {
        const next = await this.#chunks.next();
        if (next.done === true) break;
        parts.push(next.value);
        bytes += next.value.length;
      }
      this.#held = Buffer.concat(parts);
    }
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(taken.length);
    return taken;
  }
}

/**
 * The messages up to the end mark, which is required: without it, or with anything but a footer after it, the data is
 * cut off. A part that a crash has filled with zeros looks like an end mark.
 * @param isFile whether a footer must follow, as in a file
 * @throws CliFailure BAD_INPUT
 */
export async function* messagesOf(queue: ByteQueue, name: string, isFile: boolean): AsyncGenerator<Message> {
  let recordMessages = 0;
  for (let number = 1; ; number++) {
    const cutOff = () => badInput({ file: name }, `the Arrow data is cut off in message ${number}`);
    let prefix = await queue.take(4);
    if (prefix.length < 4) throw cutOff();
    let metadataBytes = Buffer.from(prefix).readInt32LE();
    if (metadataBytes === -1) {
      const size = await queue.take(4);
      if (size.length < 4) throw cutOff();
      prefix = Buffer.concat([prefix, size]);
      metadataBytes = Buffer.from(size).readInt32LE();
    }
    if (metadataBytes === 0) {
      const tail = Buffer.from(isFile ? await tailOf(queue) : await queue.take(4));
      if (isFile ? tail.includes(NEXT_FILE) : await beginsStream(tail, queue)) throw joinedFiles(name);
      if (isFile ? recordsInFooter(tail) === recordMessages : tail.length === 0) return;
      throw cutOff();
    }
    if (metadataBytes < 16 || metadataBytes > MAX_METADATA_BYTES) {
      throw badInput({ file: name }, `broken Arrow data: message ${number} claims ${metadataBytes} bytes`);
    }
    const metadata = await queue.take(metadataBytes);
    if (metadata.length < metadataBytes) throw cutOff();
    const { kind, bodyBytes, claims } = soundHeader(metadata, name, number);
    // A stream may end without its mark.
    if (kind === SCHEMA && number > 1) throw joinedFiles(name);
    requireBelowCeiling(
      { file: name },
      COPIES * bodyBytes,
      `message ${number} of the Arrow data`,
      'Write smaller record batches.',
    );
    const body = await queue.take(bodyBytes);
    if (body.length < bodyBytes) throw cutOff();
    if (kind === RECORDS) recordMessages++;
    yield { kind, claims, bytes: Buffer.concat([prefix, metadata, body]) };
  }
}

/** The end of a file followed by another one, whose footer would be taken for that of both. */
const NEXT_FILE = 'ARROW1ARROW1\0\0';
const NEXT_MESSAGE = Buffer.alloc(4, 0xff);

/** Whether the first word and the bytes after it are the schema of a stream. */
async function beginsStream(first: Buffer, queue: ByteQueue): Promise<boolean> {
  const word = first.equals(NEXT_MESSAGE) ? Buffer.from(await queue.take(4)) : first;
  const metadataBytes = word.length === 4 ? word.readInt32LE() : 0;
  if (metadataBytes < 16 || metadataBytes > MAX_METADATA_BYTES) return false;
  try {
    return headerOf(await queue.take(metadataBytes)).kind === SCHEMA;
  } catch {
    return false;
  }
}

/** All remaining bytes. */
async function tailOf(queue: ByteQueue): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let bytes = 0; bytes < MAX_TAIL_BYTES; ) {
    const part = await queue.take(TAIL_PART_BYTES);
    if (part.length === 0) break;
    parts.push(part);
    bytes += part.length;
  }
  return Buffer.concat(parts);
}

/**
 * The number of record batches that the footer of a file lists: field 3 of its flatbuffer table; -1 without a footer.
 * @param tail ends in: footer │ i32 size of the footer │ `ARROW1`
 */
function recordsInFooter(tail: Uint8Array): number {
  const end = tail.length - 10;
  if (end < 0 || Buffer.from(tail.subarray(end + 4)).toString('latin1') !== 'ARROW1') return -1;
  const sizeBytes = Buffer.from(tail).readInt32LE(end);
  if (sizeBytes < 8 || sizeBytes > end) return -1;
  try {
    const footer = new Flatbuffer(tail.subarray(end - sizeBytes, end));
    return footer.vector(footer.root()(3), BLOCK_BYTES).count;
  } catch {
    return -1;
  }
}

/** @throws CliFailure BAD_INPUT for metadata that points beyond its end, or to more than the body has */
function soundHeader(
  metadata: Uint8Array,
  name: string,
  number: number,
): { kind: number; bodyBytes: number; claims: BatchClaims | null } {
  const broken = (fault: string) =>
    badInput({ file: name }, `broken Arrow data in message ${number}: ${fault}`);
  let header: ReturnType<typeof headerOf>;
  try {
    header = headerOf(metadata);
  } catch (error) {
    throw broken(error instanceof RangeError ? 'its metadata is cut off' : reasonOf(error));
  }
  if (header.bodyBytes < 0 || !Number.isSafeInteger(header.bodyBytes))
    throw broken(`it claims ${header.bodyBytes} bytes`);
  try {
    return { ...header, claims: checkMetadata(metadata, header.bodyBytes) };
  } catch (error) {
    throw broken(reasonOf(error));
  }
}

/** Kind and body size of a message: fields 1 and 3 of its flatbuffer table. */
function headerOf(metadata: Uint8Array): { kind: number; bodyBytes: number } {
  const buffer = new Flatbuffer(metadata);
  const message = buffer.root();
  const [kindAt, bodyAt] = [message(1), message(3)];
  return {
    kind: kindAt === 0 ? 0 : buffer.byte(kindAt),
    bodyBytes: bodyAt === 0 ? 0 : Number(buffer.long(bodyAt)),
  };
}

/** Bytes in memory as a stream. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
