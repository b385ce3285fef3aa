// A keep-alive connection that sends HTTP requests, pipelined where more than one may be unanswered.

import { randomBytes } from 'node:crypto';
import { FRAME_OVER_LIMIT, FRAME_OVERLOADED } from '../../hexcodes/wire/limits.js';
import { Connection, type Exchange, SocketPeer } from './socket-peer.js';

// Parses HTTP/1.1 answers from the bytes of a connection, with Content-Length or in chunks. Bodies are kept only on
// request: the generator must be faster than the server that it measures.
const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

type State = 'head' | 'body' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer';

/** Statuses of an overloaded server and of a key over its limit. */
const REFUSALS = [429, 503];

export class HttpPeer extends SocketPeer {
  #state: State = 'head';
  #held: Buffer | null = null;
  #left = 0;
  #status = 0;
  #parts: Buffer[] | null = null;

  static async open(base: URL, exchanges: readonly Exchange[], maxUnanswered: number): Promise<HttpPeer> {
    return new HttpPeer(await Connection.open(base), exchanges, maxUnanswered);
  }

  protected override push(bytes: Buffer): void {
    const data = this.#held === null ? bytes : Buffer.concat([this.#held, bytes]);
    this.#held = null;
    let at = 0;
    while (at < data.length) {
      const next = this.#step(data, at);
      if (next === -1) {
        this.#held = Buffer.from(data.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** @returns the offset of the next step; -1 where this one needs more bytes */
  #step(data: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#head(data, at);
      case 'body':
      case 'chunk':
        return this.#take(data, at);
      case 'chunk-size': {
        const end = data.indexOf(LINE_END, at);
        if (end === -1) return -1;
        this.#left = Number.parseInt(data.toString('latin1', at, end), 16);
        if (Number.isNaN(this.#left)) throw new Error('a chunk without a size');
        this.#state = this.#left === 0 ? 'trailer' : 'chunk';
        return end + 2;
      }
      case 'chunk-end':
        if (data.length < at + 2) return -1;
        this.#state = 'chunk-size';
        return at + 2;
      case 'trailer':
        if (data.length < at + 2) return -1;
        this.#finish();
        return at + 2;
    }
  }

  #head(data: Buffer, at: number): number {
    const end = data.indexOf(HEAD_END, at);
    if (end === -1) return -1;
    const head = data.toString('latin1', at, end + 2);
    this.#status = Number(head.slice(9, 12));
    if (!head.startsWith('HTTP/1.1 ') || !(this.#status >= 100))
      throw new Error(`no HTTP answer: ${head.slice(0, 60)}`);
    this.#parts = this.#status !== 200 || this.oldest?.isSampled === true ? [] : null;
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error('an answer without a length');
      this.#state = 'chunk-size';
    } else {
      this.#left = Number(length);
      this.#state = 'body';
      if (this.#left === 0) this.#finish();
    }
    return end + 4;
  }

  #take(data: Buffer, at: number): number {
    const end = Math.min(data.length, at + this.#left);
    this.#parts?.push(Buffer.from(data.subarray(at, end)));
    this.#left -= end - at;
    if (this.#left === 0) {
      if (this.#state === 'chunk') this.#state = 'chunk-end';
      else this.#finish();
    }
    return end;
  }

  #finish(): void {
    this.#state = 'head';
    const body = this.#parts === null ? null : Buffer.concat(this.#parts);
    this.#parts = null;
    if (this.#status === 200) this.answered('ok', body);
    else if (REFUSALS.includes(this.#status)) this.answered('refused', null);
    else this.fault(`the server answers ${this.#status}: ${body?.toString('utf8', 0, 300)}`);
  }
}

// A connection of the stream in its binary subprotocol (docs/stream.md), which stays within the window that the
// server names.

const NO_BYTES: Buffer = Buffer.alloc(0);
const TEXT = 1;
const CLOSE = 8;
/** Offset of the frame status in a binary answer. */
const STATUS_AT = 2;

interface Ready {
  readonly window: number;
  readonly window_bytes: number;
}

export class StreamPeer extends SocketPeer {
  #held: Buffer = NO_BYTES;

  /** Resolves when the server is ready for frames. */
  static async open(
    base: URL,
    key: string,
    exchanges: readonly Exchange[],
    maxUnanswered: number,
  ): Promise<StreamPeer> {
    const connection = await Connection.open(base);
    const { window, window_bytes } = await shakeHands(connection, base, key);
    const largest = Math.max(...exchanges.map(({ request }) => request.length));
    return new StreamPeer(
      connection,
      exchanges,
      Math.max(1, Math.min(maxUnanswered, window, Math.floor(window_bytes / largest))),
    );
  }

  protected override push(bytes: Buffer): void {
    let data = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    for (;;) {
      const message = messageOf(data);
      if (message === undefined) break;
      data = data.subarray(message.endAt);
      this.#take(message.opcode, message.payload);
    }
    this.#held = data.length === 0 ? NO_BYTES : Buffer.from(data);
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === CLOSE) {
      const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
      this.fault(`the server closed the stream with ${code} ${payload.toString('utf8', 2)}`);
      return;
    }
    const status = payload[STATUS_AT];
    if (status === 0) this.answered('ok', this.oldest?.isSampled === true ? payload : null);
    else if (status === FRAME_OVER_LIMIT || status === FRAME_OVERLOADED) this.answered('refused', null);
    else this.fault(`a frame was answered with status ${status}`);
  }
}

interface Message {
  readonly opcode: number;
  readonly payload: Buffer;
  readonly endAt: number;
}

/** The first message in the bytes of a server; undefined while it is incomplete. */
function messageOf(data: Buffer): Message | undefined {
  if (data.length < 2) return undefined;
  let [size, start] = [data[1]! & 127, 2];
  if (size === 126) {
    if (data.length < 4) return undefined;
    [size, start] = [data.readUInt16BE(2), 4];
  } else if (size === 127) {
    if (data.length < 10) return undefined;
    [size, start] = [Number(data.readBigUInt64BE(2)), 10];
  }
  const endAt = start + size;
  return data.length < endAt
    ? undefined
    : { opcode: data[0]! & 15, payload: data.subarray(start, endAt), endAt };
}

/** A client's message in one frame, masked with zeros, which leave the bytes as they are. */
export function clientMessage(payload: Uint8Array): Buffer {
  const size = payload.length;
  const head = Buffer.alloc(size < 126 ? 6 : size < 65_536 ? 8 : 14);
  head[0] = 0x82;
  head[1] = 0x80 | (size < 126 ? size : size < 65_536 ? 126 : 127);
  if (size >= 65_536) head.writeBigUInt64BE(BigInt(size), 2);
  else if (size >= 126) head.writeUInt16BE(size, 2);
  return Buffer.concat([head, payload]);
}

function shakeHands(connection: Connection, base: URL, key: string): Promise<Ready> {
  const { socket } = connection;
  socket.write(
    [
      'GET /v1/hexcodes/stream HTTP/1.1',
      `Host: ${base.host}`,
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Protocol: hexcodes.v1.binary',
      `X-API-Key: ${key}`,
      '\r\n',
    ].join('\r\n'),
  );
  return new Promise((resolve, reject) => {
    let data = NO_BYTES;
    const end = (ready: Ready | Error): void => {
      connection.onBytes = () => {};
      socket.off('close', closed);
      if (ready instanceof Error) {
        socket.destroy();
        reject(ready);
      } else resolve(ready);
    };
    const closed = () => end(new Error('the server closed the connection before the stream was open'));
    const read = (bytes: Buffer): void => {
      data = Buffer.concat([data, bytes]);
      const headEnd = data.indexOf('\r\n\r\n');
      if (headEnd === -1) return;
      const head = data.toString('latin1', 0, headEnd);
      if (!head.startsWith('HTTP/1.1 101')) {
        end(new Error(`the stream is refused: ${head.split('\r\n')[0]}`));
        return;
      }
      const message = messageOf(data.subarray(headEnd + 4));
      if (message?.opcode === TEXT) end(JSON.parse(message.payload.toString()) as Ready);
    };
    connection.onBytes = read;
    socket.on('close', closed);
    socket.on('error', (error) => end(error));
  });
}
