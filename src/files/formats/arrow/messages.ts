// Cuts a stream of Arrow IPC into its messages, of which only kind and size are read:
//   u32 0xFFFFFFFF │ u32 size of the metadata │ metadata: a flatbuffer table │ body, its size in the metadata
// A metadata size of 0 ends the stream. Before Arrow 0.15 the first word was missing.

import { badInput, joinedFiles, reasonOf } from '../../exit-codes.js';
import { requireBelowCeiling } from '../../held/ceiling.js';
import { type BatchClaims, checkMetadata, RECORDS, SCHEMA } from './sound-metadata.js';

const MAX_METADATA_BYTES = 64 * 1024 * 1024;
const MAX_TAIL_BYTES = 64 * 1024 * 1024;
const TAIL_PART_BYTES = 64 * 1024;
/** Copies of a message that are held at a time. */
const COPIES = 2;

export interface Message {
  readonly kind: number;
  /** Claims of a message of rows; null for all others. */
  readonly claims: BatchClaims | null;
  readonly bytes: Uint8Array;
}

/** Gives the bytes of a stream in portions of any size. */
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
 * The messages up to the end mark, which must be there: without it, or with anything but a footer after it, the data is
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

/** The end of a file and the beginning of another one, whose footer would be taken for that of both. */
const NEXT_FILE = 'ARROW1ARROW1\0\0';
const NEXT_MESSAGE = Buffer.alloc(4, 0xff);

/** Whether a first word, and what follows it, are the schema of a stream. */
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

/** All bytes that are left. */
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
    const footer = tableOf(tail.subarray(end - sizeBytes, end));
    const at = footer.fieldAt(3);
    return at === 0 ? 0 : footer.view.getUint32(at + footer.view.getUint32(at, true), true);
  } catch {
    return -1;
  }
}

/** @throws CliFailure BAD_INPUT for metadata that points beyond its end, or claims what the body does not have */
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
  const { view, fieldAt } = tableOf(metadata);
  const kindAt = fieldAt(1);
  const bodyAt = fieldAt(3);
  return {
    kind: kindAt === 0 ? 0 : view.getUint8(kindAt),
    bodyBytes: bodyAt === 0 ? 0 : Number(view.getBigInt64(bodyAt, true)),
  };
}

/** The root table of a flatbuffer; `fieldAt` gives the offset of a field, 0 where it is left out. */
export function tableOf(bytes: Uint8Array): { view: DataView; fieldAt: (field: number) => number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const table = view.getUint32(0, true);
  const vtable = table - view.getInt32(table, true);
  const sizeBytes = view.getUint16(vtable, true);
  const fieldAt = (field: number): number => {
    const slot = 4 + 2 * field;
    const offset = slot < sizeBytes ? view.getUint16(vtable + slot, true) : 0;
    return offset === 0 ? 0 : table + offset;
  };
  return { view, fieldAt };
}

/** Bytes in memory as a stream. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
