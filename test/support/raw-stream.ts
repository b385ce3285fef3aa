// A WebSocket peer of raw bytes: what it sends may be wrong, cut anywhere or never followed by reading. Masks with
// zeros, which is legal and leaves the payload as it is. Then the frames of the bulk stream.

import { connect, type Socket } from 'node:net';

interface RawMessage {
  readonly opcode: number;
  readonly payload: Buffer;
}

export const TEXT = 1;
export const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

export function handshake(
  key: string | undefined,
  lines: readonly string[] = ['Sec-WebSocket-Protocol: hexcodes.v1.binary'],
  version = '13',
): string {
  return [
    'GET /v1/hexcodes/stream HTTP/1.1',
    'Host: localhost',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Sec-WebSocket-Version: ${version}`,
    ...(key === undefined ? [] : [`X-API-Key: ${key}`]),
    ...lines,
    '\r\n',
  ].join('\r\n');
}

/** One masked frame of a client. */
export function clientFrame(payload: Uint8Array | string, opcode = BINARY, isFinal = true): Buffer {
  const body = Buffer.from(payload as Uint8Array);
  const size = body.length;
  const head =
    size < 126
      ? Buffer.from([0, 0x80 | size])
      : size < 65_536
        ? Buffer.from([0, 0xfe, size >> 8, size & 255])
        : Buffer.concat([Buffer.from([0, 0xff]), Buffer.alloc(8)]);
  if (size >= 65_536) head.writeBigUInt64BE(BigInt(size), 2);
  head[0] = (isFinal ? 0x80 : 0) | opcode;
  return Buffer.concat([head, Buffer.alloc(4), body]);
}

export class RawWebSocket {
  /** Head of the HTTP answer; the body too where there was no upgrade. */
  head = '';
  /** The close code received; 1006 where the connection ended without one. */
  readonly closed: Promise<number>;
  readonly messages: RawMessage[] = [];
  /** Called for each ping; pings are not among the messages. */
  onPing: () => void = () => {};
  #received: Buffer = Buffer.alloc(0);
  #closeCode = 1006;
  #ended = false;
  #wake: (() => void)[] = [];

  private constructor(readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => {
      this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
      this.#parse();
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#ended = true;
        this.#notify();
        resolve(this.#closeCode);
      });
    });
  }

  /** Connects and sends what is given; does not wait for the answer. */
  static connect(port: number, opening: string): Promise<RawWebSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => {
        const peer = new RawWebSocket(socket);
        peer.socket.write(opening, 'latin1');
        resolve(peer);
      });
      socket.once('error', reject);
    });
  }

  /** Connects, and resolves with the ready frame read. */
  static async open(port: number, opening: string): Promise<RawWebSocket> {
    const peer = await RawWebSocket.connect(port, opening);
    await peer.next();
    return peer;
  }

  send(payload: Uint8Array | string, opcode = BINARY): void {
    this.socket.write(clientFrame(payload, opcode));
  }

  /** The next message; rejects when the connection ends first, or the upgrade is refused. */
  async next(): Promise<RawMessage> {
    while (this.messages.length === 0) {
      const isRefused = this.head !== '' && !this.head.startsWith('HTTP/1.1 101');
      // The service would keep the refused connection open for a further request.
      if (isRefused) this.end();
      if (this.#ended || isRefused) throw new Error(`ended with ${this.#closeCode}: ${this.head}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
    return this.messages.shift()!;
  }

  pong(): void {
    this.send('', PONG);
  }

  end(): void {
    this.socket.destroy();
  }

  #notify(): void {
    for (const resolve of this.#wake.splice(0)) resolve();
  }

  #parse(): void {
    if (!this.head.startsWith('HTTP/1.1 101')) {
      const end = this.#received.indexOf('\r\n\r\n');
      if (end < 0 || this.head !== '') return;
      const size = Number(/content-length: (\d+)/i.exec(this.#received.toString('latin1', 0, end))?.[1] ?? 0);
      const headBytes = end + 4 + (this.#received.toString('latin1', 0, 12).endsWith('101') ? 0 : size);
      if (this.#received.length < headBytes) return;
      this.head = this.#received.toString('latin1', 0, headBytes);
      this.#received = this.#received.subarray(headBytes);
      this.#notify();
      if (!this.head.startsWith('HTTP/1.1 101')) return;
    }
    for (;;) {
      const bytes = this.#received;
      if (bytes.length < 2) return;
      let size = bytes[1]! & 127;
      let start = 2;
      if (size === 126) {
        if (bytes.length < 4) return;
        size = bytes.readUInt16BE(2);
        start = 4;
      } else if (size === 127) {
        if (bytes.length < 10) return;
        size = Number(bytes.readBigUInt64BE(2));
        start = 10;
      }
      if (bytes.length < start + size) return;
      const opcode = bytes[0]! & 15;
      const payload = bytes.subarray(start, start + size);
      this.#received = bytes.subarray(start + size);
      if (opcode === CLOSE) this.#closeCode = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
      else if (opcode === PING) this.onPing();
      else this.messages.push({ opcode, payload });
      this.#notify();
    }
  }
}

/**
 * Whether the transport's binary refuses a request that is cut here, with a 505 of its own: after the space after the
 * method, and between the space after the target and the line feed. A defect of it that nothing above it can mend.
 */
export function isCutOfTheTransport(request: Buffer, cut: number): boolean {
  const afterMethod = request.indexOf(' ') + 1;
  const afterTarget = request.indexOf(' HTTP/1.1') + 1;
  return cut === afterMethod || (cut >= afterTarget && cut < afterTarget + 'HTTP/1.1\r\n'.length);
}

// Frames of the bulk stream, written apart from the client's and the service's own: for tests and the bench.

/** @param pairsDeg f64 latDeg, f64 lngDeg of each point */
export function encodeFrame(seq: number, pairsDeg: Float64Array, resolution = 13, output = 0): Buffer {
  return requestFrame(1, seq, pairsDeg.length / 2, new Uint8Array(pairsDeg.buffer), resolution, output);
}

/** @param records 20 bytes each, as an encode answer has them */
export function decodeFrame(seq: number, records: Uint8Array): Buffer {
  return requestFrame(2, seq, records.length / 20, records, 0, 0);
}

function requestFrame(
  operation: number,
  seq: number,
  count: number,
  body: Uint8Array,
  resolution: number,
  output: number,
): Buffer {
  const head = Buffer.alloc(16);
  head.set([1, operation, resolution, output]);
  head.writeUInt32LE(seq, 4);
  head.writeUInt32LE(count, 8);
  return Buffer.concat([head, body]);
}

/** The count that a frame says; 0 where it has no head. */
export function countIn(frame: Uint8Array): number {
  return frame.length < 16 ? 0 : Buffer.from(frame.buffer, frame.byteOffset).readUInt32LE(8);
}

/** The answer to a frame that is refused as a whole. */
export function refusalOf(frame: Uint8Array, status: number): Uint8Array<ArrayBuffer> {
  const answer = new Uint8Array(16);
  answer.set(frame.subarray(0, 8));
  answer.set([1, frame[1]!, status]);
  return answer;
}
