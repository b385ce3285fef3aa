// Mutated requests against a server in a process of its own, 300 connections at a time. An exchange ends at its
// answer, when the connection closes, or after 200 ms of silence. Every tenth connection begins with a request that
// is right and must be answered so: what went wrong on other connections may not reach it. Then damaged messages and
// frames of streams.

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { Kernel } from '#hexcodes';
import { below, inPieces, mutated, pick, type Random } from './random.js';
import {
  BINARY,
  clientFrame,
  countIn,
  decodeFrame,
  encodeFrame,
  handshake,
  RawWebSocket,
  TEXT,
} from './raw-stream.js';
import type { ServerProcess } from './server-process.js';
import { Wire } from './wire.js';

// Most wait out the silence: damaged framing mostly leaves the server waiting for the rest.
const CONNECTIONS = 300;
/** Exchanges of one connection, if it lives that long. */
const PER_CONNECTION = 100;
const SILENCE_MS = 200;
const CORPUS: Readonly<Record<string, string>> = JSON.parse(
  readFileSync('test/fixtures/http-corpus.json', 'utf8'),
);

export class HttpFuzz {
  exchanges = 0;
  connections = 0;
  readonly statuses: Record<string, number> = {};
  readonly faults: string[] = [];

  constructor(
    readonly server: ServerProcess,
    readonly random: Random,
  ) {}

  /** Sends the requests that were once found to do harm, each on a connection of its own. */
  async corpus(): Promise<void> {
    for (const [name, request] of Object.entries(CORPUS)) {
      const peer = new Peer(this.server.port);
      this.#count(await peer.exchange([Buffer.from(request)]), Buffer.from(name));
      peer.end();
    }
    await this.#checkHonest(new Peer(this.server.port));
  }

  /** Sends mutated requests for as long as it is told to. */
  async run(goesOn: (exchanges: number) => boolean): Promise<void> {
    const worker = async (): Promise<void> => {
      while (goesOn(this.exchanges) && this.faults.length < 20 && !this.server.hasEnded) {
        await this.#oneConnection(goesOn);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
    if (this.server.hasEnded) this.faults.unshift(`the server did not survive: ${this.server.end}`);
  }

  async #oneConnection(goesOn: (exchanges: number) => boolean): Promise<void> {
    const { random } = this;
    const peer = new Peer(this.server.port);
    if (this.connections++ % 10 === 0) await this.#checkHonest(peer);
    for (let sent = 0; sent < PER_CONNECTION && !peer.isOver && goesOn(this.exchanges); sent++) {
      const bytes = mutated(requestFor(this.server.key, random), random, SPLICES);
      const pieces = random() < 0.8 ? [bytes] : inPieces(bytes, random, 4);
      // Some are abandoned half way.
      if (random() < 0.02) pieces.pop();
      this.exchanges++;
      this.#count(await peer.exchange(pieces), bytes);
    }
    peer.end();
  }

  #count(answer: string, request: Buffer): void {
    // Two answers to a request that was damaged into two may come as one, and the end of the second in the next
    // exchange.
    const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 'none';
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (status === '500') this.faults.push(`500 for ${JSON.stringify(request.toString('latin1'))}`);
  }

  async #checkHonest(peer: Peer): Promise<void> {
    const latDeg = 21 + below(1000, this.random) / 1e5;
    const request = `GET /v1/hexcodes/encode?lat=${latDeg}&lng=105.85 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${this.server.key}\r\n\r\n`;
    const startMs = performance.now();
    const answer = await peer.exchange([Buffer.from(request)], 10_000);
    if (!answer.startsWith('HTTP/1.1 200 ') || !answer.includes(`"lat":${latDeg},"lng":105.85,`)) {
      const afterMs = Math.round(performance.now() - startMs);
      this.faults.push(`a right request was answered ${JSON.stringify(answer)} after ${afterMs} ms`);
    }
  }
}

/** One connection, which waits for the answer of what it sends. */
class Peer {
  isOver = false;
  readonly #socket: Socket;
  #received = '';
  #onEvent: () => void = () => {};

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (bytes: Buffer) => {
      this.#received += bytes.toString('latin1');
      this.#onEvent();
    });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      this.isOver = true;
      this.#onEvent();
    });
  }

  /** The bytes that came back; empty where nothing did. */
  exchange(pieces: readonly Uint8Array[], silenceMs = SILENCE_MS): Promise<string> {
    this.#received = '';
    for (const piece of pieces) this.#socket.write(piece);
    const isHead = pieces[0]?.subarray(0, 5).toString() === 'HEAD ';
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#onEvent = () => {};
        resolve(this.#received);
      };
      const timer = setTimeout(() => {
        // An answer that lacks its end is not waited for: the next exchange has another connection.
        this.end();
        done();
      }, silenceMs);
      this.#onEvent = () => {
        timer.refresh();
        if (this.isOver || isWhole(this.#received, isHead)) done();
      };
      if (this.isOver) done();
    });
  }

  end(): void {
    this.isOver = true;
    this.#socket.destroy();
  }
}

function isWhole(received: string, isHead: boolean): boolean {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const head = received.slice(0, end);
  if (isHead) return true;
  if (/\r\ntransfer-encoding: chunked/i.test(head)) return received.endsWith('\r\n0\r\n\r\n');
  return received.length >= end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
}

function requestFor(key: string, random: Random): Buffer {
  const method = pick(['GET', 'GET', 'POST', 'POST', 'HEAD', 'OPTIONS', 'PUT'], random);
  const path = pick(
    [
      '/v1/hexcodes/encode?lat=21.0288&lng=105.8525&resolution=9',
      '/v1/hexcodes/decode?hexcodes=HN-6GHP4-83RFR',
      `/v1/hexcodes/encode?apikey=${key}`,
      '/v1/hexcodes/encode/batch',
      '/v1/hexcodes/decode/batch',
      '/v1/hexcodes/encode/bulk?resolution=9',
      '/v1/hexcodes/decode/bulk',
      '/v1/hexcodes/HN-6GHP4-83RFR',
      '/v1/hexcodes/HN-6GHP4-83RFX/suggestions',
      '/v1/hexcodes/stream',
      '/v1/meta',
      '/v1/admin-units/HN',
      '/v1/hexcodes/decode?hexcodes=%C4%90&admin_v2=true',
    ],
    random,
  );
  const [type, body] = pick(BODIES, random);
  const chunks = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
  const isChunked = random() < 0.3;
  const half = body.length >> 1;
  const payload =
    body === '' || !isChunked ? body : `${chunks(body.slice(0, half))}${chunks(body.slice(half))}0\r\n\r\n`;
  const framing =
    body === ''
      ? ''
      : `Content-Type: ${type}\r\n${isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`}\r\n`;
  const auth = random() < 0.9 ? `X-API-Key: ${key}\r\n` : '';
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n${auth}${framing}\r\n${payload}`,
  );
}

const BODIES: readonly (readonly [string, string])[] = [
  ['', ''],
  ['', ''],
  ['application/json', '{"lat":21.0288,"lng":105.8525,"resolution":13}'],
  ['application/json', '{"hexcodes":"HN-2J"}'],
  ['application/json', '{"points":[[21.0288,105.8525],{"lat":10,"lng":106,"id":"a"}],"resolution":9}'],
  ['application/json', '{"hexcodes":["HN-6GHP4-83RFR","nope"]}'],
  ['application/x-www-form-urlencoded', 'lat=21&lng=105'],
  ['text/csv', 'id,lat,lng\n1,21.0288,105.8525\n2,"48.8584",2.2945\n'],
  ['application/x-ndjson', '{"lat":21.0288,"lng":105.8525,"id":1}\n[10.7769,106.7009]\nx\n'],
  ['text/plain', 'lat=21&lng=105'],
];

const SPLICES = [
  ...[
    '%zz',
    '%',
    '%C0%AF',
    '\xff\xfe',
    '\r\n',
    '\n',
    '\0',
    '\r\n\r\n',
    '  ',
    '&&',
    '=',
    '?',
    '#',
    '/',
    '../',
  ],
  ...[
    'Content-Length: 5\r\n',
    'Content-Length: -1\r\n',
    'Transfer-Encoding: gzip, chunked\r\n',
    'Host: b\r\n',
  ],
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
  ...[
    'X-Request-Id: \r\n',
    `X-Big: ${'y'.repeat(5000)}\r\n`,
    'Expect: 100-continue\r\n',
    'Content-Encoding: gzip\r\n',
  ],
  ...['apikey=', 'lat=1e400&', '{"', '"}', '[[[[', '1e5', ';a=b', '0\r\n\r\n', 'ffffffff\r\n', ',', '"'],
];

// Damaged messages and damaged WebSocket frames on streams to a server in a process of its own. A damaged message is
// answered as the wire answers the same bytes in this process, in its order; damaged WebSocket frames may end the
// connection or leave it silent, and disturb no other.

const FRAME_CONNECTIONS = 32;
const MESSAGES = 100;
const FRAME_SILENCE_MS = 100;
const HANG_MS = 30_000;
const MAX_POINTS = 60;

export class FramesFuzz {
  messages = 0;
  answered = 0;
  broken = 0;
  readonly faults: string[] = [];
  readonly #wire: Wire;

  /** @param kernel of the same build and map as the server's */
  constructor(
    readonly server: ServerProcess,
    kernel: Kernel,
    readonly random: Random,
  ) {
    this.#wire = new Wire(kernel);
  }

  async run(goesOn: (messages: number) => boolean): Promise<void> {
    const worker = async (): Promise<void> => {
      while (goesOn(this.messages) && this.faults.length < 20 && !this.server.hasEnded) {
        const isBinary = this.random() < 0.5;
        if (this.random() < 0.9) await this.#damagedMessages(isBinary, goesOn);
        else await this.#damagedFrames(isBinary);
      }
    };
    await Promise.all(Array.from({ length: FRAME_CONNECTIONS }, worker));
    if (this.server.hasEnded) this.faults.unshift(`the server did not survive: ${this.server.end}`);
  }

  /** Messages of which each has one answer, at most eight unanswered. */
  async #damagedMessages(isBinary: boolean, goesOn: (messages: number) => boolean): Promise<void> {
    const { random } = this;
    const peer = await this.#open(isBinary);
    for (let sent = 0; sent < MESSAGES && goesOn(this.messages) && this.faults.length < 20; ) {
      const group = Array.from({ length: 1 + below(8, random) }, () => this.#message(isBinary));
      sent += group.length;
      this.messages += group.length;
      const opcode = isBinary ? BINARY : TEXT;
      const bytes = Buffer.concat(group.flatMap((message) => this.#asFrames(message, opcode)));
      for (const piece of inPieces(bytes, random, 4)) peer.socket.write(piece);
      for (const message of group) {
        const due = this.#due(message, isBinary);
        const answer = await within(peer.next());
        if (answer === undefined || !answer.payload.equals(due)) {
          const got = answer?.payload.toString('base64').slice(0, 400) ?? 'nothing';
          this.faults.push(`${message.toString('base64').slice(0, 4000)} was answered ${got}`);
          peer.end();
          return;
        }
        this.answered++;
      }
    }
    peer.end();
  }

  /** WebSocket frames with damaged headers, and whatever follows from that. */
  async #damagedFrames(isBinary: boolean): Promise<void> {
    const { random } = this;
    const peer = await this.#open(isBinary);
    const count = 1 + below(5, random);
    for (let i = 0; i < count; i++) {
      const frame = clientFrame(this.#message(isBinary), isBinary ? BINARY : TEXT);
      const head = mutated(frame.subarray(0, 10), random, ['\x88\x82', '\x89\xfe', '\xff', '\x01', '\0'], 6);
      for (const piece of inPieces(Buffer.concat([head, frame.subarray(10)]), random, 3))
        peer.socket.write(piece);
    }
    this.messages += count;
    this.broken += count;
    await Promise.race([peer.closed, new Promise((resolve) => setTimeout(resolve, FRAME_SILENCE_MS))]);
    peer.end();
  }

  #open(isBinary: boolean): Promise<RawWebSocket> {
    const protocol = isBinary ? 'hexcodes.v1.binary' : 'hexcodes.v1.json';
    return RawWebSocket.open(
      this.server.port,
      handshake(this.server.key, [`Sec-WebSocket-Protocol: ${protocol}`]),
    );
  }

  /** One message as one WebSocket frame or as several. */
  #asFrames(message: Buffer, opcode: number): Buffer[] {
    const pieces = this.random() < 0.8 ? [message] : inPieces(message, this.random, 4);
    return pieces.map((piece, i) => clientFrame(piece, i === 0 ? opcode : 0, i === pieces.length - 1));
  }

  #due(message: Buffer, isBinary: boolean): Buffer {
    return Buffer.from(isBinary ? this.#wire.frame(message) : this.#wire.jsonFrame(message));
  }

  #message(isBinary: boolean): Buffer {
    const { random } = this;
    if (!isBinary) {
      const damaged = mutated(Buffer.from(jsonMessage(random)), random, JSON_SPLICES, 6);
      // Text that is not UTF-8 ends a connection by the rules of WebSockets.
      return Buffer.from(damaged.toString('utf8'));
    }
    const damaged = mutated(binaryMessage(random), random, ['\xff', '\0\0', '\x01\x01\x0d\0'], 4);
    // Frames of many points go to the pool; a damaged count without its points is answered as malformed.
    return countIn(damaged) > 1e9 ? damaged.subarray(0, 16) : damaged;
  }
}

function binaryMessage(random: Random): Buffer {
  const count = below(MAX_POINTS, random);
  if (random() < 0.5) {
    const pairsDeg = Float64Array.from({ length: 2 * count }, (_, i) =>
      i % 2 === 0 ? 4 + random() * 22 : 99 + random() * 21,
    );
    return encodeFrame(below(2 ** 32, random), pairsDeg, below(16, random), below(2, random));
  }
  const records = Buffer.alloc(20 * count);
  for (let i = 0; i < count; i++)
    records.write(pick(['HN-6GHP4-83RFR', 'nope', 'hcm gxc6j 96qgc'], random), 20 * i);
  return decodeFrame(below(2 ** 32, random), records);
}

function jsonMessage(random: Random): string {
  const seq = below(2 ** 32, random);
  const count = below(MAX_POINTS, random);
  if (random() < 0.5) {
    const hexcodes = Array.from({ length: count }, () => pick(['HN-6GHP4-83RFR', 'nope', 'đn'], random));
    return JSON.stringify({ seq, op: 'decode', hexcodes });
  }
  const points = Array.from({ length: count }, (_, i) => {
    const [latDeg, lngDeg] = [4 + random() * 22, 99 + random() * 21];
    return random() < 0.5 ? [latDeg, lngDeg] : { lat: latDeg, lng: lngDeg, id: i };
  });
  return JSON.stringify({ seq, op: 'encode', resolution: below(17, random), points });
}

const JSON_SPLICES = [
  ...[
    '"',
    ',',
    ',,',
    '[',
    ']',
    '{',
    '}',
    ':',
    '\\',
    '\\u0000',
    '\\ud800',
    '\0',
    ' ',
    '\n',
    '1e400',
    '-0',
    'null',
  ],
  ...['"seq":1,', '"op":"encode",', '"points":[],', '"resolution":9,', 'true', `${'[1,2],'.repeat(100)}`],
];

/** The value of a promise; undefined where it fails or takes too long. */
function within<T>(promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), HANG_MS);
    promise.then(resolve, () => resolve(undefined)).finally(() => clearTimeout(timer));
  });
}
