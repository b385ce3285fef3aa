// Bulk bodies that are damaged, cut or chunked oddly, against a server in a process of its own. Each answer is compared
// with what the wire makes of the same bytes in this process; where the body cannot be read, it may be cut, but it is
// never whole and different.
import { connect } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Kernel } from '#hexcodes';
import { dueAnswer, MEDIA } from './bulk-bodies.js';
import { below, inPieces, mutated, pick, type Random } from './random.js';
import { decodeFrame, encodeFrame } from './raw-stream.js';
import type { ServerProcess } from './server-process.js';
import type { BulkFormat, Operation } from './wire.js';

const CONNECTIONS = 32;
const HANG_MS = 30_000;

interface Body {
  readonly operation: Operation;
  readonly format: BulkFormat;
  readonly bytes: Buffer;
}

export class BulkFuzz {
  bodies = 0;
  whole = 0;
  refused = 0;
  cut = 0;
  readonly faults: string[] = [];

  /** @param kernel of the same build and map as the server's */
  constructor(
    readonly server: ServerProcess,
    readonly kernel: Kernel,
    readonly random: Random,
  ) {}

  async run(goesOn: (bodies: number) => boolean): Promise<void> {
    const worker = async (): Promise<void> => {
      while (goesOn(this.bodies) && this.faults.length < 20 && !this.server.hasEnded) {
        this.bodies++;
        await this.#damaged();
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
    if (this.server.hasEnded) this.faults.unshift(`the server did not survive: ${this.server.end}`);
  }

  /** A body with damaged bytes: the same answer as the wire gives in this process, or none that is whole. */
  async #damaged(): Promise<void> {
    const { random } = this;
    const original = bodyOf(random);
    const body = { ...original, bytes: mutated(original.bytes, random, SPLICES, 6) };
    let due: Buffer | undefined;
    try {
      due = dueAnswer(this.kernel, body.operation, body.format, body.bytes);
    } catch {
      // The body cannot be read to its end.
    }
    const isGzipped = random() < 0.2;
    const isDamagedGzip = isGzipped && random() < 0.3;
    const zipped = isGzipped ? gzipSync(body.bytes, { level: pick([0, 1, 6, 9], random) }) : body.bytes;
    const sent = isDamagedGzip ? mutated(zipped, random, SPLICES) : zipped;
    if (isDamagedGzip) due = undefined;
    const answer = await this.#send(body, sent, isGzipped ? 'Content-Encoding: gzip\r\n' : '');
    const isSame = due !== undefined && answer.bytes.equals(due);
    if (answer.isHung) this.#fault('no end within 30 s', body, sent);
    else if (answer.status === 500) this.#fault('500', body, sent);
    else if (answer.status !== 200) {
      this.refused++;
      if (due !== undefined && !isDamagedGzip) this.#fault(`refused with ${answer.status}`, body, sent);
    } else if (!answer.isWhole) {
      this.cut++;
      if (due !== undefined) this.#fault('cut off', body, sent);
    } else {
      this.whole++;
      if (due !== undefined && !isSame) this.#fault('another answer', body, sent);
      if (isDamagedGzip && !gunzipsTo(sent, body, this.kernel, answer.bytes)) {
        this.#fault('damaged gzip looks whole', body, sent);
      }
      if (due === undefined && !isGzipped) this.#fault('whole, though it cannot be read', body, sent);
    }
  }

  #fault(what: string, { operation, format }: Body, sent: Buffer): void {
    this.faults.push(`${what}: ${operation} ${format} ${sent.toString('base64').slice(0, 4000)}`);
  }

  /** Sends a body in chunks or with its length, and in segments of any size. */
  #send({ operation, format }: Body, sent: Buffer, encoding: string): Promise<Answer> {
    const { random } = this;
    const isChunked = random() < 0.5;
    const head = `POST /v1/hexcodes/${operation}/bulk HTTP/1.1\r\nHost: a\r\nX-API-Key: ${this.server.key}\r\nContent-Type: ${MEDIA[format]}\r\n${encoding}${isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${sent.length}`}\r\n\r\n`;
    const chunks = isChunked
      ? inPieces(sent, random, 8)
          .filter((piece) => piece.length > 0)
          .flatMap((piece) => [Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
      : [sent];
    const payload = Buffer.concat([...chunks, Buffer.from(isChunked ? '0\r\n' : '')]);
    // In one piece: a write after the one that meets the closed connection loses the answer (transport/README U36).
    const end = isChunked ? [Buffer.from('\r\n')] : [];
    return exchange(this.server.port, [Buffer.from(head), ...inPieces(payload, random, 5), ...end]);
  }
}

interface Answer {
  readonly status: number;
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  readonly isHung: boolean;
}

/** Sends segments, one a turn, and reads until the answer is whole or the connection ends. */
function exchange(port: number, segments: readonly Buffer[]): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const parts: Buffer[] = [];
    const done = (isHung: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ ...parsed(Buffer.concat(parts)), isHung });
    };
    const timer = setTimeout(done, HANG_MS, true);
    let next = 0;
    const write = (): void => {
      if (next >= segments.length || socket.destroyed) return;
      socket.write(segments[next++]!);
      setImmediate(write);
    };
    socket.on('connect', write);
    socket.on('data', (bytes) => {
      parts.push(bytes);
      if (parsed(Buffer.concat(parts)).isWhole) done(false);
    });
    socket.on('error', () => {});
    socket.on('close', () => done(false));
  });
}

function parsed(received: Buffer): Omit<Answer, 'isHung'> {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return { status: 0, bytes: received, isWhole: false };
  const head = received.toString('latin1', 0, end);
  const status = Number(head.split(' ')[1]);
  const sizeText = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  const body = received.subarray(end + 4);
  if (sizeText !== undefined) return { status, bytes: body, isWhole: body.length >= Number(sizeText) };
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf('\r\n', at);
    const sizeBytes = lineEnd < 0 ? -1 : Number.parseInt(body.toString('latin1', at, lineEnd), 16);
    const from = lineEnd + 2;
    const isThere = sizeBytes >= 0 && body.length >= from + sizeBytes + 2;
    if (isThere) pieces.push(body.subarray(from, from + sizeBytes));
    if (!isThere || sizeBytes === 0) {
      return { status, bytes: Buffer.concat(pieces), isWhole: isThere };
    }
    at = from + sizeBytes + 2;
  }
}

/** Whether a damaged gzip stream still holds what was answered: some of its bytes mean nothing. */
function gunzipsTo(sent: Buffer, { operation, format }: Body, kernel: Kernel, answered: Buffer): boolean {
  try {
    return dueAnswer(kernel, operation, format, gunzipSync(sent)).equals(answered);
  } catch {
    return false;
  }
}

const CODES = ['HN-6GHP4-83RFR', 'HCM-GXC6J-96QGC', 'hn 6ghp4 83rfr', 'nope', '"HN-2J"', 'DNG-ẾÀ', ''];

function bodyOf(random: Random): Body {
  const operation = pick(['encode', 'decode'] as const, random);
  const format = pick(['csv', 'ndjson', 'frames'] as const, random);
  const count = random() < 0.95 ? below(40, random) : below(3000, random);
  const bytes =
    format === 'frames' ? framesOf(operation, count, random) : rowsOf(operation, format, count, random);
  return { operation, format, bytes };
}

function rowsOf(operation: Operation, format: 'csv' | 'ndjson', count: number, random: Random): Buffer {
  const lineEnd = pick(['\n', '\r\n'], random);
  const row = (): string => {
    const latDeg = (4 + random() * 22).toFixed(below(12, random));
    const lngDeg = (99 + random() * 21).toFixed(below(12, random));
    const code = pick(CODES, random);
    if (format === 'csv') return operation === 'encode' ? `a,${latDeg},"b ""c""",${lngDeg}` : `1,${code}`;
    if (operation === 'decode') return JSON.stringify(code.replaceAll('"', ''));
    return random() < 0.5 ? `[${latDeg},${lngDeg}]` : `{"lat":${latDeg},"lng":${lngDeg},"id":${count}}`;
  };
  const head = format === 'ndjson' ? [] : [operation === 'encode' ? 'id,lat,note,lng' : 'id,hexcodes'];
  return Buffer.from([...head, ...Array.from({ length: count }, row)].map((line) => line + lineEnd).join(''));
}

function framesOf(operation: Operation, count: number, random: Random): Buffer {
  const frames = Array.from({ length: 1 + below(4, random) }, (_, seq) => {
    if (operation === 'encode') {
      const pairsDeg = Float64Array.from({ length: 2 * count }, (_v, i) =>
        i % 2 === 0 ? 4 + random() * 22 : 99 + random() * 21,
      );
      return encodeFrame(seq, pairsDeg, below(16, random), below(2, random));
    }
    const records = Buffer.alloc(20 * count);
    for (let i = 0; i < count; i++) records.write(pick(CODES, random), 20 * i, 19, 'latin1');
    return decodeFrame(seq, records);
  });
  return Buffer.concat(frames);
}

const SPLICES = [
  ...[
    '"',
    '""',
    '\n',
    '\r\n',
    '\r',
    ',',
    '\0',
    '\xff',
    '\xef\xbb\xbf',
    '\n\n',
    '[',
    ']',
    '{',
    '}',
    ':',
    '\\u0000',
  ],
  ...[
    '1e400',
    '-0',
    '1e-400',
    'NaN',
    '0x10',
    '.5',
    '5.',
    '+1',
    ' ',
    '\t',
    `${'9'.repeat(400)}`,
    `"${'x'.repeat(3000)}`,
  ],
  ...['lat', 'lng,', 'resolution', '"lat":1,', '"id":"\\ud800"', 'true', 'null', '16', '255'],
];
