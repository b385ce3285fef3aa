// Mutated requests against a server in a process of its own, 300 connections at a time. An exchange ends at its answer,
// when the connection closes, or after 200 ms of silence. Every tenth connection begins with a request that is right
// and must be answered so: what went wrong on other connections may not reach it.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { below, inPieces, mutated, pick, type Random } from './random.js';
import type { ServerProcess } from './server-process.js';

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
