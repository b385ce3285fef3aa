// Opens one input, a file or stdin, as chunks of bytes. Content that begins with the magic number of gzip is
// decompressed. Bytes read from the disk are counted, for the progress line.

import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CliFailure, EXIT } from '../../exit-codes.js';
import { badInput, reasonOf } from '../../file-faults.js';
import { isGzip } from '../format.js';

const CHUNK_BYTES = 256 * 1024;
/** Enough to tell formats apart. */
const HEAD_BYTES = 4096;
const STDIN_NAME = '(stdin)';

export interface Input {
  /** For messages: the path as given, or `(stdin)`. */
  readonly name: string;
  /** The path, or null for stdin. */
  readonly path: string | null;
  /** Size on disk; null where it is unknown. */
  readonly sizeBytes: number | null;
  readonly isGzip: boolean;
  /** First bytes of the content, decompressed; up to HEAD_BYTES. */
  readonly head: Uint8Array;
  /** Bytes read from the disk or the pipe so far, before decompression. */
  readBytes(): number;
  /** The content from its first byte, decompressed. Can be read once. */
  chunks(): AsyncIterable<Uint8Array>;
  close(): void;
}

export interface FileStat {
  /** null for a pipe or a device. */
  readonly sizeBytes: number | null;
  /** Modification time in milliseconds; null for a pipe or a device. */
  readonly modifiedMs: number | null;
}

const UNKNOWN: FileStat = { sizeBytes: null, modifiedMs: null };

/** Size and time of a file; `-` is stdin. @throws CliFailure BAD_INPUT if it cannot be read */
export function statOf(path: string): FileStat {
  if (path === '-') return UNKNOWN;
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    return stat.isFile() ? { sizeBytes: stat.size, modifiedMs: stat.mtimeMs } : UNKNOWN;
  } catch (error) {
    throw new CliFailure(EXIT.BAD_INPUT, `cannot read ${path}: ${reasonOf(error)}`);
  }
}

/**
 * Opens a file, or stdin for `-`.
 * @throws CliFailure BAD_INPUT that names the file if it cannot be read; also from `chunks()`
 */
export async function openInput(path: string): Promise<Input> {
  const isStdin = path === '-';
  const name = isStdin ? STDIN_NAME : path;
  const { sizeBytes } = statOf(path);
  const raw: Readable = isStdin ? process.stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const counted = new Counted(raw, name);
  const first = await counted.peek();
  const gzip = isGzip(first);
  const content = gzip ? gunzipped(counted, name) : counted;
  const iterator = content[Symbol.asyncIterator]();
  const opening: Uint8Array[] = [];
  let openingBytes = 0;
  while (openingBytes < HEAD_BYTES) {
    const next = await iterator.next();
    if (next.done === true) break;
    opening.push(next.value);
    openingBytes += next.value.length;
  }
  return {
    name,
    path: isStdin ? null : path,
    sizeBytes,
    isGzip: gzip,
    head: Buffer.concat(opening).subarray(0, HEAD_BYTES),
    readBytes: () => counted.bytes,
    async *chunks() {
      for (const chunk of opening.splice(0)) yield chunk;
      for (;;) {
        const next = await iterator.next();
        if (next.done === true) return;
        yield next.value;
      }
    },
    close: () => raw.destroy(),
  };
}

/** Counts the bytes of a stream, and shows the first of them before they are read. */
class Counted implements AsyncIterable<Uint8Array> {
  bytes = 0;
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #name: string;
  #peeked: Uint8Array | null = null;

  constructor(raw: Readable, name: string) {
    this.#iterator = raw[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    this.#name = name;
  }

  /** The first bytes, at least two unless the input is shorter. */
  async peek(): Promise<Uint8Array> {
    let first: Uint8Array = new Uint8Array(0);
    while (first.length < 2) {
      const next = await this.#next();
      if (next === null) break;
      first = first.length === 0 ? next : Buffer.concat([first, next]);
    }
    this.#peeked = first;
    return first;
  }

  async #next(): Promise<Uint8Array | null> {
    try {
      const next = await this.#iterator.next();
      if (next.done === true) return null;
      this.bytes += next.value.length;
      return next.value;
    } catch (error) {
      throw new CliFailure(EXIT.BAD_INPUT, `cannot read ${this.#name}: ${reasonOf(error)}`);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const peeked = this.#peeked;
    this.#peeked = null;
    if (peeked !== null && peeked.length > 0) yield peeked;
    for (;;) {
      const next = await this.#next();
      if (next === null) return;
      yield next;
    }
  }
}

async function* gunzipped(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  let failure: unknown;
  const feeding = (async () => {
    try {
      for await (const chunk of source) {
        if (!gunzip.write(chunk)) await new Promise<void>((resolve) => gunzip.once('drain', resolve));
      }
      gunzip.end();
    } catch (error) {
      failure = error;
      gunzip.destroy();
    }
  })();
  feeding.catch(() => undefined);
  let contentBytes = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Uint8Array>) {
      contentBytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (failure instanceof CliFailure) throw failure;
    const code = (error as NodeJS.ErrnoException).code;
    const what =
      code === 'Z_BUF_ERROR' ? 'the gzip data is cut off' : `broken gzip data (${reasonOf(error)})`;
    throw badInput({ file: name }, `${what} after ${contentBytes} bytes of content`);
  }
  if (failure !== undefined) throw failure;
}
