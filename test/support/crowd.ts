// A crowd of peers without a key: each connection brings requests that are odd somewhere (a length, a method, a target,
// a header, the lines themselves), in pieces or whole, and ends in any way, or rests until the service ends it. Among
// them there may be sound requests with a key, whose answers are cut off at any moment.

import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { below, pick, type Random } from './random.js';
import { handshake } from './raw-stream.js';

const DIGITS = ['5', '3', '0', '17', '1000', '16384', '65537', '5000000'];
/** Ways to spell a number that one reader takes and another refuses. */
const NUMBER_SPELLINGS: readonly ((digits: string) => string)[] = [
  (digits) => digits,
  (digits) => `+${digits}`,
  (digits) => `-${digits}`,
  (digits) => `${digits}e3`,
  (digits) => `${digits}.5`,
  (digits) => `0x${digits}`,
  (digits) => `0${digits}`,
  (digits) => `${digits}\t`,
  (digits) => `${digits} ${digits}`,
  (digits) => `${digits},${digits}`,
  (digits) => `${digits}_0`,
  (digits) => `"${digits}"`,
  (digits) => `${digits}n`,
  (digits) => digits.repeat(9),
  (digits) => `${digits};a=b`,
  (digits) => digits.replace(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit))),
  () => '',
  () => 'Infinity',
  () => '99999999999999999999',
  () => '18446744073709551616',
  () => '9007199254740993',
  () => '4294967296',
];
const METHODS = [
  'GET',
  'POST',
  'HEAD',
  'PUT',
  'OPTIONS',
  'DELETE',
  'PATCH',
  'TRACE',
  'CONNECT',
  'get',
  'PoSt',
  'PRI',
  '',
];
const METHODS_MADE = [
  (method: string) => `${method}\0`,
  (method: string) => ` ${method}`,
  (method: string) => method.repeat(60),
];
const TARGETS = [
  '/',
  '/v1/meta',
  '/v1/hexcodes/encode',
  '/v1/hexcodes/encode?lat=21&lng=105.8',
  '/v1/hexcodes/encode/batch',
  '/v1/hexcodes/encode/bulk',
  '/v1/hexcodes/decode/bulk',
  '/v1/hexcodes/stream',
  '/v1/traccar',
  '/openapi.json',
  '/docs',
  '*',
  '',
  '//',
  'http://a/v1/meta',
  '/%',
  '/%00%ff',
  '/..%2f..',
  '/?apikey=',
  '/é',
];
const VERSIONS = [
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/2.0',
  'HTTP/1.1 ',
  'http/1.1',
  '',
];
const LINE_ENDS = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\n '];
const CONNECTIONS = ['close', 'keep-alive', 'Close', 'Upgrade', 'close, keep-alive', 'upgrade, close', ''];
const FRAMINGS = [
  'chunked',
  'Chunked',
  'gzip, chunked',
  'identity',
  'chunked, chunked',
  ' chunked',
  'xchunked',
  '',
];
const EXPECTATIONS = ['100-continue', '100-Continue', '100-continue, x', '200-ok', ''];
const BODIES = [
  '',
  '12345',
  '{"lat":21,"lng":105.8}',
  '5\r\n12345\r\n0\r\n\r\n',
  '5;a=b\r\n12345\r\n0\r\n\r\n',
  'ffffffffffffffff\r\n1',
  '-1\r\n',
  '0\r\n\r\n',
  '0\r\nTrailer: 1\r\n\r\n',
  'x'.repeat(70_000),
];

const spelledNumber = (random: Random): string => pick(NUMBER_SPELLINGS, random)(pick(DIGITS, random));
const anyCase = (name: string, random: Random): string =>
  random() < 0.8 ? name : random() < 0.5 ? name.toUpperCase() : name.toLowerCase();

function headerLines(random: Random): string[] {
  const lines: string[] = [];
  const line = (chance: number, name: string, value: () => string): void => {
    if (random() >= chance) return;
    const colon = random() < 0.95 ? ': ' : pick([':', ' : ', ':\t', ' ', ''], random);
    lines.push(anyCase(name, random) + colon + value());
    if (random() < 0.05) line(1, name, value);
  };
  line(0.97, 'Host', () => pick(['a', 'a', 'a', '', 'a b', 'a:99999'], random));
  line(0.6, 'Content-Length', () => spelledNumber(random));
  line(0.15, 'Transfer-Encoding', () => pick(FRAMINGS, random));
  line(0.15, 'Connection', () => pick(CONNECTIONS, random));
  line(0.1, 'Expect', () => pick(EXPECTATIONS, random));
  line(0.1, 'X-API-Key', () => pick(['', 'wrong', 'x'.repeat(5000)], random));
  line(0.1, 'Hexcodes-Answer', () => 'after-body');
  line(0.1, 'Content-Type', () =>
    pick(['application/json', 'text/csv', 'multipart/form-data; boundary=', ';'], random),
  );
  line(0.05, 'Upgrade', () => pick(['websocket', 'h2c', ''], random));
  line(0.05, 'Sec-WebSocket-Key', () => pick(['dGhlIHNhbXBsZSBub25jZQ==', 'x'], random));
  line(0.05, 'X-Long', () => 'x'.repeat(pick([100, 4000, 20_000], random)));
  line(0.03, pick(['', ' ', 'X\0', 'X Y', '\u00e9'], random), () =>
    pick(['', '\0', '\x7f', '\u00ff'], random),
  );
  if (random() < 0.02) for (let n = 0; n < 120; n++) lines.push(`X-${n}: 1`);
  return lines;
}

/** One request, as Latin-1 bytes, odd in one place or in many. */
function oddRequest(random: Random): Buffer {
  if (random() < 0.05) return Buffer.from(handshake(pick(['', 'wrong'], random)), 'latin1');
  const end = random() < 0.9 ? '\r\n' : pick(LINE_ENDS, random);
  const method = random() < 0.9 ? pick(METHODS, random) : pick(METHODS_MADE, random)('GET');
  const target = random() < 0.97 ? pick(TARGETS, random) : `/${'x'.repeat(pick([9000, 17_000], random))}`;
  const before = random() < 0.97 ? '' : pick(['\r\n', '\n', '\0', '\x16\x03\x01\x02\x00\x01'], random);
  const head = [`${method} ${target} ${pick(VERSIONS, random)}`, ...headerLines(random), '', ''].join(end);
  return Buffer.from(before + head + (random() < 0.6 ? pick(BODIES, random) : ''), 'latin1');
}

const POINTS = '{"points":[{"lat":21,"lng":105.8}]}';
const CSV = `lat,lng\n${'21,105.8\n'.repeat(4000)}`;

/** One sound request of any kind. */
function soundRequest(key: string, random: Random): Buffer {
  const head = `HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\n`;
  const after = random() < 0.3 ? 'Hexcodes-Answer: after-body\r\n' : '';
  const bulk = `POST /v1/hexcodes/encode/bulk ${head}${after}Content-Type: text/csv\r\n`;
  const requests = [
    `GET /v1/hexcodes/encode?lat=21&lng=105.8 ${head}\r\n`,
    `HEAD /v1/meta ${head}\r\n`,
    `POST /v1/hexcodes/encode/batch ${head}Content-Type: application/json\r\nContent-Length: ${POINTS.length}\r\n\r\n${POINTS}`,
    `${bulk}Content-Length: ${CSV.length}\r\n\r\n${CSV}`,
    `${bulk}Transfer-Encoding: chunked\r\n\r\n${CSV.length.toString(16)}\r\n${CSV}\r\n0\r\n\r\n`,
    handshake(key),
    `GET /v1/meta ${head}Connection: close\r\n\r\n`,
  ];
  return Buffer.from(pick(requests, random), 'latin1');
}

interface CrowdOptions {
  readonly port: number;
  readonly random: Random;
  /** A valid key, with which every fourth request is sound; '' for none. */
  readonly key?: string;
  /** Connections at a time, besides those that rest. */
  readonly atOnce: number;
  /** Addresses that the peers come from, of 127.0.0.0/8. */
  readonly from?: readonly string[];
  /** Requests that one connection sends at most. */
  readonly perConnection?: number;
  /** The longest that a peer rests before it ends its connection; some rest until the service does. */
  readonly restMs?: number;
}

/** Connections of a crowd, and what they sent so far. */
export class Crowd {
  requests = 0;
  connections = 0;
  readonly #options: Required<CrowdOptions>;
  readonly #resting = new Set<Socket>();

  constructor(options: CrowdOptions) {
    this.#options = { from: ['127.0.0.1'], key: '', perConnection: 4, restMs: 60, ...options };
  }

  /** Sends for as long as it is told to, with `atOnce` connections that are at work, and more that rest. */
  async run(goesOn: (requests: number) => boolean): Promise<void> {
    const peer = async (): Promise<void> => {
      while (goesOn(this.requests)) await this.#one();
    };
    await Promise.all(Array.from({ length: this.#options.atOnce }, peer));
  }

  /** Ends the connections that still rest. */
  end(): void {
    for (const socket of this.#resting) socket.destroy();
  }

  async #one(): Promise<void> {
    const { port, random, from, perConnection, restMs } = this.#options;
    this.connections++;
    const socket = connect({
      port,
      host: '127.0.0.1',
      localAddress: pick(from, random),
      noDelay: random() < 0.5,
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    this.#resting.add(socket);
    socket.on('error', () => {}).once('close', () => this.#resting.delete(socket));
    if (random() < 0.8) socket.resume();
    for (let left = below(perConnection + 1, random); left > 0 && !socket.destroyed; left--) {
      await this.#send(socket);
      await Promise.race([closed, sleep(below(20, random))]);
    }
    const ending = random();
    // The peer rests until the service ends it.
    if (ending < 0.1) return;
    await Promise.race([closed, sleep(below(restMs, random))]);
    if (ending < 0.4) socket.resetAndDestroy();
    else if (ending < 0.6) socket.end();
    else socket.destroy();
  }

  async #send(socket: Socket): Promise<void> {
    const { key, random } = this.#options;
    const one = (): Buffer =>
      key !== '' && random() < 0.25 ? soundRequest(key, random) : oddRequest(random);
    const pipelined = random() < 0.1 ? 1 + below(40, random) : 1;
    const bytes = Buffer.concat(Array.from({ length: pipelined }, one));
    this.requests += pipelined;
    const pieces = random() < 0.7 ? 1 : 2 + below(3, random);
    for (let piece = 0; piece < pieces; piece++) {
      const [from, to] = [piece, piece + 1].map((at) => Math.floor((at * bytes.length) / pieces));
      socket.write(bytes.subarray(from, to));
      if (pieces > 1) await sleep(below(8, random));
    }
  }
}

// Connections of peers that show no key, on real sockets: many of one address, that ask now and then, or never.

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

export class KeylessPeers {
  readonly sockets: Socket[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #isOver = false;

  /** @param from the address of the peers, of 127.0.0.0/8 */
  constructor(
    private readonly port: number,
    private readonly from = '127.0.0.1',
  ) {}

  /** Opens connections; resolves when all are connected. A closed one is not opened again, unless `isStubborn`. */
  async open(count: number, askEveryMs?: number, isStubborn = false): Promise<void> {
    const connecting = Array.from({ length: count }, () => this.#one(askEveryMs, isStubborn));
    await Promise.all(connecting);
  }

  /** Peers whose connections are open. */
  get openCount(): number {
    return this.sockets.filter((socket) => !socket.destroyed).length;
  }

  #one(askEveryMs: number | undefined, isStubborn: boolean): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect({ port: this.port, host: '127.0.0.1', localAddress: this.from });
      this.sockets.push(socket);
      socket.on('error', () => {});
      socket.resume();
      socket.once('connect', () => {
        resolve();
        if (askEveryMs === undefined) return;
        socket.write(REQUEST);
        const timer = setInterval(() => socket.write(REQUEST), askEveryMs);
        this.#timers.add(timer);
        socket.once('close', () => clearInterval(timer));
      });
      socket.once('close', () => {
        resolve();
        if (isStubborn && !this.#isOver)
          void sleep(50).then(() => (this.#isOver ? undefined : this.#one(askEveryMs, true)));
      });
    });
  }

  close(): void {
    this.#isOver = true;
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.sockets) socket.destroy();
  }
}
