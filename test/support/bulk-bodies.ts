// Bodies for /bulk, what the service must answer to them, and a raw peer that sends and reads at its own pace.
import { connect, type Socket } from 'node:net';
import type { Kernel } from '#hexcodes';
import { randomFrom } from './open-world.js';
import { type BulkFormat, type BulkRequest, type Operation, Wire } from './wire.js';

export const MEDIA: Record<BulkFormat, string> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  frames: 'application/vnd.hexcodes.frames',
};

/** Rows of a table with other columns around the position; one in fifty has none of ours. */
export function csvBody(seed: number, rows: number, newline = '\n'): Buffer {
  const random = randomFrom(seed);
  const lines = [`id,lat,note,lng${newline}`];
  for (let i = 0; i < rows; i++) {
    const lat = (4 + random() * 22).toFixed(6);
    const lng = random() < 0.02 ? 'abroad' : (99 + random() * 21).toFixed(6);
    lines.push(`${i},${lat},${i % 97 === 0 ? '"a ""b"", c"' : 'x'},${lng}${newline}`);
  }
  return Buffer.from(lines.join(''));
}

export function ndjsonBody(seed: number, rows: number): Buffer {
  const random = randomFrom(seed);
  const lines: string[] = [];
  for (let i = 0; i < rows; i++) {
    const lat = 4 + random() * 22;
    lines.push(`{"id":${i},"lat":${lat},"lng":${random() < 0.02 ? '"x"' : 99 + random() * 21}}\n`);
  }
  return Buffer.from(lines.join(''));
}

/** The wire's answer to the whole body, in this thread and without any flow. */
export function dueAnswer(
  kernel: Kernel,
  operation: Operation,
  input: BulkFormat,
  body: Uint8Array,
  more: Partial<BulkRequest> = {},
): Buffer {
  return new Wire(kernel).bulk({ operation, input, ...more }, body);
}

export interface RawRequest {
  readonly path: string;
  readonly key: string;
  readonly format: BulkFormat;
  readonly headers?: readonly string[];
}

/** @param sizeBytes undefined: the body comes in chunks, see `chunkOf` */
export function requestHead({ path, key, format, headers = [] }: RawRequest, sizeBytes?: number): string {
  return [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `X-API-Key: ${key}`,
    `Content-Type: ${MEDIA[format]}`,
    sizeBytes === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${sizeBytes}`,
    ...headers,
    '\r\n',
  ].join('\r\n');
}

/** Bytes of a body as one chunk; without any, the end of the body. */
export function chunkOf(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** The answer to one request on a socket that is then closed: status, head, and the chunks put together. */
export class RawBulkPeer {
  head = '';
  readonly chunks: Buffer[] = [];
  sizeBytes = 0;
  /** As the answer was cut for its way, not as it came. */
  readonly chunkSizes: number[] = [];
  /** The final chunk has come: the answer is whole. */
  isWhole = false;
  /** Resolves when the answer is whole or the connection has ended. */
  readonly done: Promise<void>;
  /** Is handed each part of the body instead of `chunks`. */
  onBody: ((bytes: Buffer) => void) | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #chunkBytes = 0;
  #settle!: () => void;

  private constructor(readonly socket: Socket) {
    socket.setNoDelay(true);
    this.done = new Promise((resolve) => {
      this.#settle = resolve;
    });
    socket.on('data', (bytes: Buffer) => {
      this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
      this.#parse();
    });
    socket.on('error', () => {});
    socket.on('close', () => this.#settle());
  }

  static connect(port: number): Promise<RawBulkPeer> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new RawBulkPeer(socket)));
      socket.once('error', reject);
    });
  }

  get status(): number {
    return Number(this.head.split(' ')[1] ?? 0);
  }

  get body(): Buffer {
    return Buffer.concat(this.chunks);
  }

  /** Writes and waits until the socket has taken it. */
  send(bytes: Uint8Array | string): Promise<void> {
    return new Promise((resolve) => {
      this.socket.write(bytes, () => resolve());
    });
  }

  #parse(): void {
    if (this.head === '') {
      const end = this.#rest.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.head = this.#rest.toString('latin1', 0, end + 4);
      this.#rest = this.#rest.subarray(end + 4);
      const size = /content-length: (\d+)/i.exec(this.head)?.[1];
      if (size !== undefined) this.#chunkBytes = Number(size);
    }
    if (!/transfer-encoding: chunked/i.test(this.head)) {
      this.#give(this.#rest.length);
      if (this.#chunkBytes === 0) this.#finish();
      return;
    }
    while (this.#rest.length > 0 && !this.isWhole) {
      if (this.#chunkBytes > 2) {
        this.#give(Math.min(this.#chunkBytes - 2, this.#rest.length));
      } else if (this.#chunkBytes > 0) {
        // The line end after a chunk.
        const skipped = Math.min(this.#chunkBytes, this.#rest.length);
        this.#rest = this.#rest.subarray(skipped);
        this.#chunkBytes -= skipped;
      } else {
        const end = this.#rest.indexOf('\r\n');
        if (end < 0) return;
        const size = Number.parseInt(this.#rest.toString('latin1', 0, end), 16);
        this.#rest = this.#rest.subarray(end + 2);
        if (size === 0) {
          this.#finish();
          return;
        }
        this.chunkSizes.push(size);
        this.#chunkBytes = size + 2;
      }
    }
  }

  #give(count: number): void {
    const bytes = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    this.#chunkBytes -= count;
    this.sizeBytes += count;
    if (this.onBody === undefined) this.chunks.push(bytes);
    else this.onBody(bytes);
  }

  #finish(): void {
    this.isWhole = true;
    this.#settle();
  }
}

/** Sends one whole request and reads its answer. */
export async function exchangeBulk(
  port: number,
  request: RawRequest,
  body: Uint8Array,
  cut?: number,
): Promise<RawBulkPeer> {
  const peer = await RawBulkPeer.connect(port);
  const bytes = Buffer.concat([Buffer.from(requestHead(request, body.length), 'latin1'), body]);
  if (cut === undefined) {
    peer.socket.write(bytes);
  } else {
    peer.socket.write(bytes.subarray(0, cut));
    await new Promise((resolve) => setTimeout(resolve, 3));
    peer.socket.write(bytes.subarray(cut));
  }
  await peer.done;
  peer.socket.destroy();
  return peer;
}
