// Peers that once starved, fattened or stalled the service, one entry each, with the load that did it. The proof `fair`
// runs all of them beside honest clients, a test a few.

import { connect, type Socket } from 'node:net';
import { BINARY, clientFrame, handshake, TEXT } from './raw-stream.js';

// The connections of one abuser: each sends an opening and then the same bytes again and again, as fast as the socket
// takes them or at a rate, and connects again when it is cut. Connections that hold send their opening and wait.

const RECONNECT_MS = 10;
/** How often a connection with a rate sends. */
const TICK_MS = 50;

interface Abuse {
  readonly connections: number;
  readonly opening?: Uint8Array | string;
  /** Sent once after the opening. */
  readonly held?: Uint8Array;
  /** Absent where the connection only holds what it has opened. */
  readonly repeated?: Uint8Array;
  readonly reads: boolean;
  /** `repeated` is sent again when its answer has come: a number of its bytes, or the last chunk of a chunked one. */
  readonly inTurn?: number | 'last chunk';
  /** Between an answer and the next `repeated`. */
  readonly pauseMs?: number;
  /** Rate of each connection; absent: as fast as the socket takes it. */
  readonly bytesPerSec?: number;
  /** Bytes after which each connection ends its sending and holds. */
  readonly maxBytes?: number;
}

export class Sender {
  sentBytes = 0;
  receivedBytes = 0;
  /** Connections that the server ended. */
  cuts = 0;
  #isStopped = false;
  readonly #sockets = new Set<Socket>();

  constructor(
    private readonly port: number,
    private readonly abuse: Abuse,
  ) {
    for (let i = 0; i < abuse.connections; i++) this.#connect();
  }

  stop(): void {
    this.#isStopped = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #connect(): void {
    if (this.#isStopped) return;
    const { opening = '', held, reads, repeated, inTurn, pauseMs = 0 } = this.abuse;
    const isWebSocket = Buffer.from(opening as string).includes('Upgrade: websocket');
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true });
    let isOpen = false;
    let answeredBytes = 0;
    this.#sockets.add(socket);
    let hasBegun = false;
    const begin = (): void => {
      hasBegun = true;
      if (held !== undefined) this.#write(socket, held);
      if (repeated === undefined) return;
      if (inTurn !== undefined) this.#write(socket, repeated);
      else if (this.abuse.bytesPerSec === undefined) this.#flood(socket, repeated);
      else this.#pace(socket, repeated, this.abuse.bytesPerSec);
    };
    socket.on('connect', () => {
      isOpen = true;
      if (opening.length > 0) this.#write(socket, opening);
      if (!isWebSocket) begin();
    });
    socket.on('data', (bytes) => {
      this.receivedBytes += bytes.length;
      if (!hasBegun) {
        // A stream begins with the server's ready frame.
        begin();
        return;
      }
      if (inTurn === undefined || repeated === undefined) return;
      answeredBytes += bytes.length;
      const isAnswered =
        inTurn === 'last chunk' ? bytes.toString('latin1').endsWith('0\r\n\r\n') : answeredBytes >= inTurn;
      if (!isAnswered) return;
      answeredBytes = 0;
      setTimeout(() => socket.destroyed || this.#write(socket, repeated), pauseMs);
    });
    if (!reads) socket.pause();
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.#isStopped) return;
      if (isOpen) this.cuts++;
      setTimeout(() => this.#connect(), RECONNECT_MS);
    });
  }

  #write(socket: Socket, bytes: Uint8Array | string): boolean {
    this.sentBytes += bytes.length;
    return socket.write(bytes);
  }

  #flood(socket: Socket, repeated: Uint8Array): void {
    let leftBytes = this.abuse.maxBytes ?? Number.POSITIVE_INFINITY;
    const more = (): void => {
      // One write a turn, so that this process reads its own sockets meanwhile.
      if (socket.destroyed || leftBytes <= 0) return;
      leftBytes -= repeated.length;
      if (this.#write(socket, repeated)) setImmediate(more);
      else socket.once('drain', more);
    };
    more();
  }

  #pace(socket: Socket, repeated: Uint8Array, bytesPerSec: number): void {
    const startMs = performance.now();
    let paced = 0;
    const timer = setInterval(() => {
      if (socket.destroyed) {
        clearInterval(timer);
        return;
      }
      const allowed = ((performance.now() - startMs) / 1000) * bytesPerSec;
      while (paced < allowed && socket.writableLength < repeated.length) {
        paced += repeated.length;
        this.#write(socket, repeated);
      }
    }, TICK_MS);
  }
}

const JSON_PROTOCOL = ['Sec-WebSocket-Protocol: hexcodes.v1.json'];
const PING = 9;
const MIB = 2 ** 20;

const times = (bytes: Uint8Array | string, count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => Buffer.from(bytes as Uint8Array)));

function post(
  key: string,
  path: string,
  type: string,
  body: string | Uint8Array,
  sizeBytes?: number,
): Buffer {
  const bytes = Buffer.from(body as Uint8Array);
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: ${type}\r\nContent-Length: ${sizeBytes ?? bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

function bulkHead(key: string, type: string, accept: string): string {
  return `POST /v1/hexcodes/encode/bulk HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: ${type}\r\nAccept: ${accept}\r\nTransfer-Encoding: chunked\r\n\r\n`;
}

function chunk(bytes: Uint8Array | string): Buffer {
  const body = Buffer.from(bytes as Uint8Array);
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]);
}

const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';
const FRAMES = 'application/vnd.hexcodes.frames';
const SINGLES = '/v1/hexcodes/encode';
const BATCHES = '/v1/hexcodes/encode/batch';
const BULK = '/v1/hexcodes/encode/bulk';

/** A request frame of the binary stream: encode to text, points that are not finite. */
function nanFrame(points: number): Buffer {
  const frame = Buffer.alloc(16 + 16 * points, 0xff);
  frame.set([1, 1, 9, 0, 0, 0, 0, 0]);
  frame.writeUInt32LE(points, 8);
  frame.writeUInt32LE(0, 12);
  return frame;
}

const jsonFrame = (points: string): Buffer =>
  clientFrame(`{"seq":1,"op":"encode","points":[${points}]}`, TEXT);

/** Four connections that each send a body, in all chunks in one write, about twice a second. */
function bodies(key: string, type: string, accept: string, body: string | Uint8Array): Abuse {
  const repeated = Buffer.concat([
    Buffer.from(bulkHead(key, type, accept)),
    chunk(body),
    Buffer.from('0\r\n\r\n'),
  ]);
  return { connections: 4, repeated, reads: true, inTurn: 'last chunk', pauseMs: 500 };
}

/** A body of some 65 KB of the same row. */
const rows = (row: string, head = ''): string =>
  head + row.repeat(Math.floor(65_000 / Buffer.byteLength(row)));

/** A JSON body of some size whose one object has the same member again and again. */
function doubledMembers(sizeBytes: number, open: string): string {
  return `${open}${'"":0,'.repeat(Math.floor(sizeBytes / 5))}"points":[]}`;
}

/** Messages of streams that never end: continuation frames without a byte, as fast as they are taken. */
function emptyFrames(key: string, connections: number): Abuse {
  const held = clientFrame('x', BINARY, false);
  return {
    connections,
    opening: handshake(key),
    held,
    repeated: times(clientFrame('', 0, false), 20_000),
    reads: true,
  };
}

/** The abusers of a server, whose key `key` is not that of the honest clients. */
export function abusersOf(key: string): Readonly<Record<string, Abuse>> {
  const line = '21.0288,105.8525\n';
  const unkeyed = 'GET /v1/meta?padding=0123456789012 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
  const unit = `GET /v1/admin-units/DNG HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n\r\n`;
  const csvBody = `${bulkHead(key, CSV, CSV)}${chunk('lat,lng\n').toString()}`;
  const csvBlock = chunk(line.repeat(3800));
  const distinct = Array.from({ length: 300_000 }, (_, i) => `"m${i}":0,`).join('');
  return {
    'C1 requests': { connections: 1, repeated: times(unkeyed, 1000), reads: true },
    'C1 frames': {
      connections: 1,
      opening: handshake(key),
      repeated: times(clientFrame(nanFrame(1)), 1000),
      reads: true,
    },
    'C1 pings': {
      connections: 1,
      opening: handshake(key),
      repeated: times(clientFrame('ping', PING), 1000),
      reads: true,
    },
    'C1 chunks': {
      connections: 1,
      opening: csvBody,
      repeated: Buffer.concat([...line.repeat(1000)].map(chunk)),
      reads: true,
    },
    'C2 no key': { connections: 4, repeated: times(unkeyed, 1000), reads: false },
    'C2 large answers': { connections: 1, repeated: times(unit, 1000), reads: false },
    'C2 300 peers': { connections: 300, repeated: times(unit, 100), reads: false, maxBytes: 100_000 },
    'C4 body': {
      connections: 1,
      repeated: post(key, BATCHES, 'application/json', doubledMembers(160_000, '{')),
      reads: true,
      inTurn: 1,
    },
    'C4 frame': {
      connections: 1,
      opening: handshake(key, JSON_PROTOCOL),
      repeated: clientFrame(doubledMembers(130_000, '{"seq":1,"op":"encode",'), TEXT),
      reads: true,
      inTurn: 1,
    },
    'H1 read': { connections: 1, opening: csvBody, repeated: csvBlock, reads: true },
    'H1 unread': { connections: 1, opening: csvBody, repeated: csvBlock, reads: false },
    'H3 csv é': bodies(key, CSV, NDJSON, rows('é\n', 'lat,lng\n')),
    'H3 csv ,': bodies(key, CSV, NDJSON, rows(',\n', 'lat,lng\n')),
    'H3 csv ragged': bodies(key, CSV, NDJSON, rows('1,2,3\n', 'lat,lng\n')),
    'H3 ndjson [': bodies(key, NDJSON, NDJSON, rows('[\n')),
    'H3 ndjson {}': bodies(key, NDJSON, NDJSON, rows('{}\n')),
    'H3 frames NaN': bodies(key, FRAMES, NDJSON, nanFrame(4000)),
    'H3 stream 0': {
      connections: 4,
      opening: handshake(key, JSON_PROTOCOL),
      repeated: jsonFrame(`${'0,'.repeat(65_000)}0`),
      reads: true,
      bytesPerSec: 121 * 1024,
    },
    'H3 batch members': {
      connections: 1,
      repeated: post(key, BATCHES, 'application/json', `{${distinct}"points":[]}`),
      reads: true,
      inTurn: 1,
    },
    'H3 batch [': {
      connections: 1,
      repeated: post(key, BATCHES, 'application/json', '['.repeat(4 * MIB - 1)),
      reads: true,
      inTurn: 1,
    },
    'H3 csv header': bodies(key, CSV, NDJSON, `${'a,'.repeat(125_000)}lat,lng\n1\n`),
    'A6 empty frames, 2 peers': emptyFrames(key, 2),
    'A6 empty frames, 20 peers': emptyFrames(key, 20),
    'H5 unfinished frames': {
      connections: 150,
      opening: handshake(key),
      held: clientFrame(Buffer.alloc(5_000_000)).subarray(0, -1),
      reads: true,
    },
    'H5 fragments': {
      connections: 150,
      opening: handshake(key),
      held: Buffer.concat([
        clientFrame(Buffer.alloc(2 * MIB), BINARY, false),
        clientFrame(Buffer.alloc(2 * MIB), 0, false),
      ]),
      reads: true,
    },
    'H5 unfinished batches': {
      connections: 200,
      opening: post(key, BATCHES, 'application/json', ' '.repeat(4 * MIB - 1), 4 * MIB),
      reads: true,
    },
    'H5 bulk unread': { connections: 40, opening: post(key, BULK, NDJSON, '1\n'.repeat(MIB)), reads: false },
    'H5 single bodies': {
      connections: 200,
      opening: post(key, SINGLES, 'application/json', ' '.repeat(16_000), 16_384),
      reads: true,
    },
    'M6 stream': {
      connections: 70,
      opening: handshake(key),
      repeated: clientFrame(nanFrame(60_000)),
      reads: true,
      inTurn: 16 + 20 * 60_000,
    },
  };
}
